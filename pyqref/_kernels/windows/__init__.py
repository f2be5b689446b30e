"""Windows of float images as rows of a matrix: as in :mod:`pyqref.numerics.windows`."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
