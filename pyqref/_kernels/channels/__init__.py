"""Float images channel by channel, and rows that are added up or normalized.

As in :mod:`pyqref.numerics.channels` and :mod:`pyqref.numerics.float_normalization`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
