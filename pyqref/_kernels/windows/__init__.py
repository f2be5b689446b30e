"""Convolutions of floats and the largest of windows, as in :mod:`pyqref.numerics`."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
