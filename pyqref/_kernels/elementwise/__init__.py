"""Sums, products, bounds and tables of bytes, element by element.

The same arguments and results as in :mod:`pyqref.numerics.elementwise`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
