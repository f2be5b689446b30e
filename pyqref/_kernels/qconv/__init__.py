"""Quantized convolution in one, two and three dimensions, channels last inside.

The same results as :mod:`pyqref.numerics.convolution`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
