"""Programs as graphs: record a model, look at it, change it, write it out as Python again.

Read :mod:`.node` and :mod:`.graph` (what a program is), :mod:`.code` (back to Python),
:mod:`.proxy`, :mod:`.interception` and :mod:`.tracer` (how a model is recorded),
:mod:`.graph_module`; then what walks graphs: :mod:`.interpreter`, :mod:`.transformer`,
:mod:`.subgraph_rewriter`, :mod:`.drawing`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from .arguments import PH as PH
from .arguments import check_specialized as check_specialized
from .drawing import GraphDrawing as GraphDrawing
from .drawing import draw as draw
from .errors import SourceLine as SourceLine
from .errors import TraceError as TraceError
from .graph import Graph as Graph
from .graph_module import GraphModule as GraphModule
from .interpreter import Interpreter as Interpreter
from .node import Node as Node
from .node import map_aggregate as map_aggregate
from .node import map_arg as map_arg
from .proxy import Proxy as Proxy
from .recorder import GraphAppendingTracer as GraphAppendingTracer
from .side_effects import has_side_effect as has_side_effect
from .subgraph_rewriter import replace_pattern as replace_pattern
from .tracer import Tracer as Tracer
from .tracing import symbolic_trace as symbolic_trace
from .transformer import Transformer as Transformer
from .wrapping import wrap as wrap

if TYPE_CHECKING:
    from . import passes as passes

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {}, modules=("passes",))

__all__ = [
    "PH",
    "Graph",
    "GraphAppendingTracer",
    "GraphDrawing",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "SourceLine",
    "TraceError",
    "Tracer",
    "Transformer",
    "check_specialized",
    "draw",
    "has_side_effect",
    "map_aggregate",
    "map_arg",
    "passes",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]
