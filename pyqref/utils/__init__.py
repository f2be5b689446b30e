"""Helpers that are not about networks: feeding data (:mod:`pyqref.utils.data`)."""

from . import data as data

__all__ = ["data"]
