"""Learning rates that change from epoch to epoch. Begin with :mod:`.scheduler`."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
