"""Importable, for libraries that describe operations on top of it; it has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import on_first_use

__all__: list[str] = []

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__)
