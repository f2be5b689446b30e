"""Shapes, pictures and parts of whole graphs, and passes one after another.

Read :mod:`.shape_prop`, :mod:`.graph_drawer`, :mod:`.split_module` and :mod:`.infra`.
"""

from __future__ import annotations

from . import graph_drawer as graph_drawer
from . import infra as infra
from . import shape_prop as shape_prop
from . import split_module as split_module

__all__ = ["graph_drawer", "infra", "shape_prop", "split_module"]
