"""Optimisers: how parameters follow their gradients. Begin with :mod:`.optimizer`."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
