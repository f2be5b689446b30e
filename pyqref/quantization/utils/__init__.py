"""Small questions about qconfigs, observers and modules, at their path in ``torch``."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
