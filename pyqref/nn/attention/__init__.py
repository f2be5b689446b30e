"""Kinds of attention that ``torch`` compiles: named here, for signatures."""

from __future__ import annotations

from . import flex_attention as flex_attention

__all__ = ["flex_attention"]
