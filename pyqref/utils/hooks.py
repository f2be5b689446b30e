"""``RemovableHandle`` under its ``torch`` path."""

from __future__ import annotations

from ..nn.modules.handle import RemovableHandle as RemovableHandle

__all__ = ["RemovableHandle"]
