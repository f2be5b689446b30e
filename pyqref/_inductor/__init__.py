"""Settings of a compiler that is not there, in ``config``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from . import config as config

__all__ = ["config"]

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__)
