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

# Imported when first used:
from . import passes as passes
