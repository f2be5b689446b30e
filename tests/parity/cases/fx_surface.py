"""More graphs and their code, and the rest of ``fx``: tracers, wrap, rewriting, tables, copies."""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable
from typing import Any

from parity.fx_text import describe, equal, module_of, normal, plain, raised
from parity.harness import parity_case

Forward = Callable[[Any, Any, Any], Any]


def _graph(parts: Callable[[Any], dict[str, Any]], *shape: int) -> Callable[[Forward], Any]:
    """A case of a model with these parts, whose forward takes the namespace and one input."""

    def register(forward: Forward) -> Any:
        def case(torch: Any) -> dict[str, Any]:
            def call(self: Any, x: Any) -> Any:
                return forward(torch, self, x)

            return describe(
                torch, module_of(torch, call, **parts(torch.nn)), (normal(torch, *shape),)
            )

        case.__name__, case.__module__ = forward.__name__, __name__
        return parity_case()(case)

    return register


@_graph(lambda nn: {"up": nn.Linear(4, 8), "down": nn.Linear(8, 4)}, 2, 4)
def gated(torch: Any, m: Any, x: Any) -> Any:
    """Two branches of a chunk, one a gate."""
    value, gate = m.up(x).chunk(2, dim=-1)
    return m.down(torch.cat([value * torch.sigmoid(gate), torch.tanh(value)], dim=-1))


@_graph(lambda nn: {"a": nn.Conv2d(3, 4, 1), "b": nn.Conv2d(3, 4, 3, padding=1)}, 1, 3, 6, 6)
def inception(torch: Any, m: Any, x: Any) -> Any:
    """Branches joined by channel."""
    F = torch.nn.functional
    branches = [m.a(x), m.b(x), F.avg_pool2d(x, 3, stride=1, padding=1)]
    return F.adaptive_avg_pool2d(torch.cat(branches, 1), (2, 3)).flatten(start_dim=1)


@_graph(
    lambda nn: {"first": nn.Conv2d(3, 4, 3, 2), "up": nn.ConvTranspose2d(4, 3, 2, 2)}, 1, 3, 9, 9
)
def unet(torch: Any, m: Any, x: Any) -> Any:
    """Down and up, with a skip that is cut to size."""
    y = torch.nn.functional.interpolate(m.up(m.first(x)), size=(9, 9), mode="nearest")
    return y + x[:, :, : y.size(2), : y.shape[3]]


@_graph(lambda nn: {"norm": nn.GroupNorm(2, 4), "act": nn.SiLU(), "drop": nn.Dropout(0.1)}, 2, 4, 3)
def normed(torch: Any, m: Any, x: Any) -> Any:
    """Norms as module and function, with their defaults."""
    F = torch.nn.functional
    y = F.layer_norm(m.drop(m.act(m.norm(x))), (3,))
    return F.softmax(F.gelu(y), -1) + F.normalize(x, dim=1)


@_graph(lambda nn: {}, 3, 4)
def indexing(torch: Any, m: Any, x: Any) -> Any:
    """Slices, steps, None, ellipsis, negative and tensor indices."""
    y = x[..., ::2] + x[:, None, 1:3].squeeze(1) + x[-1][1:3]
    return y[[0, 2]], y[torch.tensor([1, 0])], x[x > 0].shape, x.t()[0, -1]


@_graph(lambda nn: {}, 3, 4)
def reductions(torch: Any, m: Any, x: Any) -> Any:
    """Sums, means, maxima with one and two results, norms."""
    top, where = x.max(dim=1)
    values, _ = torch.topk(x, 2, dim=1)
    rest = torch.mean(x, dim=0, keepdim=True) + x.sum().sqrt().abs() + torch.var(x)
    return top, where.argmax(), values, rest, x.std(dim=0), torch.cumsum(x, 1)


@_graph(lambda nn: {}, 3, 4)
def casts(torch: Any, m: Any, x: Any) -> Any:
    """Types and their attributes, new tensors of the same kind."""
    y = x.double().float() + x.new_zeros(4) + torch.ones_like(x, dtype=x.dtype)
    return y.to(x.dtype), x.long().bool(), x.dim(), y.ndim, y.numel()


@_graph(lambda nn: {}, 2, 4)
def comparisons(torch: Any, m: Any, x: Any) -> Any:
    """Comparisons either way round, logic, choice."""
    inside = (x < 1) & (0 < x) | (x >= 2) ^ (x != x)
    return torch.where(inside, x, -x), torch.eq(x, 0).any(), torch.logical_not(inside)


@_graph(lambda nn: {}, 2, 4)
def in_place_operators(torch: Any, m: Any, x: Any) -> Any:
    """The operators that assign, on a value of the graph's own."""
    y = x + 0
    y += 1
    y -= x
    y *= 2
    y /= 3
    y **= 2
    return operator.iadd(y, x), operator.neg(y), pow(y, 2)


@_graph(lambda nn: {"layer": nn.Linear(4, 4)}, 2, 4)
def called_with_names(torch: Any, m: Any, x: Any) -> Any:
    """Arguments by name, also of modules; a list, a tuple and a dict within."""
    y = torch.add(input=m.layer(input=x), other=x, alpha=2)
    return {"both": [torch.stack(tensors=(x, y), dim=0), (y.sum(dim=1, keepdim=True),)]}


@_graph(lambda nn: {"blocks": nn.ModuleList(nn.Linear(4, 4) for _ in range(3))}, 2, 4)
def dense(torch: Any, m: Any, x: Any) -> Any:
    """Every layer sees the sum of all before it."""
    seen = [x]
    for block in m.blocks:
        seen.append(torch.relu(block(sum(seen))))
    return seen[-1]


@_graph(lambda nn: {"cell": nn.LSTMCell(4, 4), "gru": nn.GRU(4, 3)}, 3, 2, 4)
def unrolled(torch: Any, m: Any, x: Any) -> Any:
    """A cell applied to each step, and a layer's results."""
    state = None
    for step in (x[0], x[1], x[2]):
        state = m.cell(step, state)
    return m.gru(x)[1], state[0]


@_graph(lambda nn: {"table": nn.Embedding(4, 3), "bag": nn.EmbeddingBag(4, 3)}, 2, 4)
def lookups(torch: Any, m: Any, x: Any) -> Any:
    """Embeddings of integers that the graph computes."""
    tokens = (x.abs() * 2).long().clamp(0, 3)
    return m.table(tokens).mean(1) + m.bag(tokens)


@parity_case()
def functionals(torch: Any) -> dict[str, Any]:
    """``FloatFunctional`` and ``QFunctional`` are entered by ``symbolic_trace``, or stay whole."""
    x, found = torch.quantize_per_tensor(normal(torch, 2, 4), 0.1, 4, torch.quint8), {}
    for name in ("FloatFunctional", "QFunctional", "FXFloatFunctional"):

        def forward(self: Any, x: Any) -> Any:
            return self.f.add_scalar(self.f.cat([self.f.mul(self.f.add(x, x), x)], dim=1), 2.0)

        model = module_of(torch, forward, f=getattr(torch.ao.nn.quantized, name)())
        try:
            traced = torch.fx.symbolic_trace(model)
        except Exception as error:
            found[name] = type(error).__name__
            continue
        found[name] = [_called(node) for node in traced.graph.nodes]
        if name == "QFunctional":
            found["equal"] = bool(torch.equal(traced(x), model(x)))
    return {name: str(value) for name, value in found.items()}


def _called(node: Any) -> str:
    target = node.target if isinstance(node.target, str) else str(node.target).split(".")[-1]
    return f"{node.name} {node.op} {getattr(node.target, '__name__', target)} {node.args}"


WRAPPED = """
import {library} as torch

torch.fx.wrap("by_name")

def by_name(x):
    return x / 2 if x.sum() > 0 else x

@torch.fx.wrap
def decorated(x, scale=2):
    return x * scale if x.sum() > 0 else x

def outer(x):
    return decorated(by_name(by_name(x) + 1), scale=len("four"))
"""


@parity_case()
def wrapping(torch: Any) -> dict[str, Any]:
    """Wrap by name and as decorator, at the top of a module: wrapped functions stay whole."""
    names: dict[str, Any] = {"__name__": "wrapped"}
    exec(WRAPPED.format(library=torch.__name__), names)
    traced = torch.fx.symbolic_trace(names["outer"])
    x = normal(torch, 4)
    return {
        "graph": plain(str(traced.graph)),
        "same": equal(traced(x), names["outer"](x)),
        "inside": raised(lambda: torch.fx.wrap("halve")),
    }


@parity_case()
def leaves(torch: Any) -> dict[str, Any]:
    """``is_leaf_module`` decides what stays whole, by class and by path; paths and arguments."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Sequential(nn.Linear(4, 4), nn.ReLU())

        def forward(self, x: Any) -> Any:
            return self.layer(x) + 1

    asked: list[str] = []

    class Own(torch.fx.Tracer):
        def is_leaf_module(self, m: Any, path: str) -> bool:
            asked.append(f"{path} {type(m).__name__}")
            return path == "0.layer" or isinstance(m, nn.Tanh)

    model = nn.Sequential(Block(), Block(), nn.Tanh()).eval()
    found = {}
    for name, tracer in {"default": torch.fx.Tracer(), "own": Own()}.items():
        graph = tracer.trace(model)
        found[name] = plain(str(graph))
        found[f"{name} path"] = tracer.path_of_module(model[1].layer)
    return {**found, "asked": str(asked)}


@parity_case()
def rewriting_overlaps(torch: Any) -> dict[str, Any]:
    """Matches that overlap, that follow one another, whose inner value is used elsewhere; none."""

    def relus(x: Any) -> Any:
        return torch.relu(torch.relu(torch.relu(torch.relu(torch.relu(x)))))

    def escapes(x: Any) -> Any:
        y = torch.neg(x)
        return torch.abs(y) + y

    def shared(x: Any, y: Any) -> Any:
        z = torch.add(x, y)
        return torch.add(torch.add(z, x), torch.add(z, y))

    tests: dict[str, tuple[Any, Any, Any]] = {
        "overlap": (relus, lambda x: torch.relu(torch.relu(x)), lambda x: torch.tanh(x)),
        "each": (relus, lambda x: torch.relu(x), lambda x: torch.abs(torch.neg(x))),
        "escapes": (escapes, lambda x: torch.abs(torch.neg(x)), lambda x: torch.tanh(x)),
        "shared": (shared, lambda a, b: torch.add(a, b), lambda a, b: torch.mul(b, a)),
        "chained": (shared, lambda a, b: torch.add(torch.add(a, b), b), lambda a, b: a - b),
        "none": (relus, lambda x: torch.sin(x), lambda x: torch.cos(x)),
    }
    found = {}
    for name, (function, pattern, replacement) in tests.items():
        function.__annotations__ = {}
        traced = torch.fx.symbolic_trace(function)
        matches = torch.fx.replace_pattern(traced, pattern, replacement)
        traced.graph.lint()
        found[name] = plain(str(traced.graph)) + str([str(each.anchor) for each in matches])
    return found


@parity_case()
def rewriting_with_filters(torch: Any) -> dict[str, Any]:
    """Filters see each match, its whole graph and the pattern's; constants may be ignored."""
    rewriter = torch.fx.subgraph_rewriter

    def function(x: Any) -> Any:
        return torch.add(torch.add(torch.add(x, 1), 2), 3)

    def odd(match: Any, graph: Any, pattern: Any) -> bool:
        return bool(match.returning_nodes[0].args[1] % 2)

    found = {}
    for name, filters, ignore in (("odd", [odd], True), ("all", None, True), ("strict", [], False)):
        function.__annotations__ = {}
        traced = torch.fx.symbolic_trace(function)
        made = rewriter.replace_pattern_with_filters(
            traced,
            lambda x: torch.add(x, 1),
            lambda x: torch.neg(x),
            match_filters=filters,
            ignore_literals=ignore,
        )
        found[name] = plain(str(traced.graph)) + str([str(each.replacements) for each in made])
    return found


@parity_case()
def tables_and_copies(torch: Any) -> dict[str, Any]:
    """Links of nodes, edits of arguments, deep copies, deletion."""
    nn = torch.nn

    def forward(self: Any, x: Any) -> Any:
        return torch.add(self.block(x), self.weight, alpha=2).clamp(min=0).relu()

    model = module_of(torch, forward, block=nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
    model.weight = nn.Parameter(normal(torch, 4))
    traced = torch.fx.symbolic_trace(model)
    x = normal(torch, 2, 4)
    found = {"lines": str([plain(str(node.format_node())) for node in traced.graph.nodes])}
    add = traced.graph.find_nodes(op="call_function", target=torch.add)[0]
    found["links"] = f"{add.prev} {add.next} {add.all_input_nodes} {dict(add.users)} {add.kwargs}"
    copied = copy.deepcopy(traced)
    found["copy"] = f"{plain(str(copied.graph))} {equal(copied(x), traced(x))}"
    clamp = add.next
    clamp.update_kwarg("min", 0.5)
    clamp.insert_arg(1, 0.25)
    clamp.update_arg(1, 0.125)
    clamp.kwargs = {}
    clamp.replace_input_with(add, add.args[0])
    traced.graph.eliminate_dead_code()
    traced.recompile()
    found["edited"] = plain(str(traced.graph))
    found["deleted"] = str(
        [traced.delete_submodule(each) for each in ("block.1", "block.1", "x.y")]
    )
    found["left"] = str([name for name, _ in traced.named_modules()])
    return found
