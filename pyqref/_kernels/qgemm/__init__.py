"""Quantized matrix product: weights packed once, requantization fused into the store.

The same results as :mod:`pyqref.numerics.linear`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
