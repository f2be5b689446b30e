"""Helpers that are not about networks: feeding data (:mod:`pyqref.utils.data`)."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
