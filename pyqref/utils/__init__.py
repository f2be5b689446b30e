"""Helpers that are not about networks: feeding data (:mod:`pyqref.utils.data`)."""

from . import data as data
from . import hooks as hooks

__all__ = ["data", "hooks"]
