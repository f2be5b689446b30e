"""Helpers that are not about networks: feeding data (:mod:`pyqref.utils.data`)."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from . import data as data
from . import hooks as hooks

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(
        __name__, {}, modules=("checkpoint", "mobile_optimizer", "model_zoo")
    )

__all__ = ["data", "hooks"]
