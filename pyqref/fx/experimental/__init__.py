"""Passes of ``torch.fx.experimental``: those that need no compiler.

Read :mod:`.optimization`.
"""

from __future__ import annotations

from . import optimization as optimization

__all__ = ["optimization"]
