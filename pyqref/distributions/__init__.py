"""The constraints of ``torch.distributions``, by which code checks its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from . import constraints as constraints

__all__ = ["constraints"]

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__)
