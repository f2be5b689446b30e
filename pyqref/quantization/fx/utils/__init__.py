"""Small helpers for passes over a quantized graph, at their path in ``torch``."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
