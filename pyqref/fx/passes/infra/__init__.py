"""Passes as classes: :mod:`.pass_base` is one, :mod:`.pass_manager` runs several."""

from __future__ import annotations

from . import pass_base as pass_base
from . import pass_manager as pass_manager

__all__ = ["pass_base", "pass_manager"]
