"""Settings of the back ends, at their ``torch`` paths."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
