"""Time that each operation takes: :class:`profile` measures, tables and traces show."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
