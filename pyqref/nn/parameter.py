"""``Parameter`` under its ``torch`` path ``nn.parameter``."""

from __future__ import annotations

from ..tensor.parameter import Parameter as Parameter

__all__ = ["Parameter"]
