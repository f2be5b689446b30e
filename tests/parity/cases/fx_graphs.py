"""Graphs of models: every node's name, opcode, target and arguments, and the code written."""

from __future__ import annotations

import copy
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from parity.fx_text import describe, equal, module_of, normal, plain, raised
from parity.harness import parity_case

MODELS: dict[str, Callable[[Any], tuple[Any, tuple[Any, ...]]]] = {}


def _model(make: Callable[[Any], tuple[Any, tuple[Any, ...]]]) -> Callable[[Any], Any]:
    """Register a builder: from a namespace to a model and its inputs."""
    MODELS[make.__name__.strip("_")] = make

    def case(torch: Any) -> dict[str, Any]:
        model, inputs = make(torch)
        return describe(torch, model, inputs)

    case.__name__ = make.__name__
    case.__module__ = __name__
    case.__doc__ = make.__doc__
    return parity_case()(case)


@_model
def mlp(torch: Any) -> Any:
    """Sequential in Sequential."""
    nn = torch.nn
    block = nn.Sequential(nn.Linear(8, 8), nn.Sigmoid())
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), block), (normal(torch, 2, 4),)


@_model
def residual(torch: Any) -> Any:
    """Convolution, batch norm, and an addition."""
    nn = torch.nn

    def forward(self: Any, x: Any) -> Any:
        y = self.relu(self.bn(self.conv1(x)))
        y = self.conv2(y)
        y += x
        return torch.flatten(self.pool(torch.relu(y)), 1)

    members = {"conv1": nn.Conv2d(3, 3, 3, padding=1), "bn": nn.BatchNorm2d(3)}
    members |= {"conv2": nn.Conv2d(3, 3, 1), "relu": nn.ReLU(), "pool": nn.AdaptiveAvgPool2d(1)}
    return module_of(torch, forward, **members), (normal(torch, 1, 3, 5, 5),)


@_model
def functional(torch: Any) -> Any:
    """Functions of nn.functional, with their defaults."""
    F = torch.nn.functional

    def forward(self: Any, x: Any) -> Any:
        x = F.relu(F.conv2d(x, self.weight, self.bias, padding=1))
        x = F.max_pool2d(x, 2, padding=0)
        x = F.avg_pool2d(x, 2)
        x = F.dropout(F.hardtanh(x), p=0.2, training=self.training)
        x = F.interpolate(x, scale_factor=2)
        x = F.pad(F.leaky_relu(x, 0.1), (1, 1))
        return F.log_softmax(F.hardswish(F.sigmoid(x)), dim=1)

    weight = torch.nn.Parameter(normal(torch, 4, 3, 3, 3))
    bias = torch.nn.Parameter(normal(torch, 4))
    return module_of(torch, forward, weight=weight, bias=bias), (normal(torch, 1, 3, 8, 8),)


@_model
def operators(torch: Any) -> Any:
    """Operators, their reflections, and functions of operator and math."""

    def forward(self: Any, x: Any) -> Any:
        y = (1 - x) * 2 / (x + 3) ** 2 - -x
        y = 2.5 + y // 1 + abs(x % 2) + 2**x
        y = operator.add(y, math.pi) @ x.T
        return (y > 0) & (y <= 5) | ~(y == 3), y.shape[0] * math.sqrt(4.0)

    return module_of(torch, forward), (normal(torch, 3, 3),)


@_model
def structures(torch: Any) -> Any:
    """Defaults, several outputs in dicts, lists and tuples."""

    def forward(self: Any, x: Any, input: Any = None, scale: float = 2.0) -> Any:
        a, b = x.chunk(2, 1)
        c, *_ = (x.sum(1), None)
        return {"pair": (a, b), "list": [c * scale, {"shape": x.size(0)}], "none": input}

    return module_of(torch, forward), (normal(torch, 2, 4),)


@_model
def parameters(torch: Any) -> Any:
    """Take parameters of the model and of submodules, buffers, tensors on both sides."""

    def forward(self: Any, x: Any) -> Any:
        x = torch.nn.functional.linear(x, self.layer.weight, self.layer.bias)
        x = x * self.scale + self.offset
        x = self.offset - x
        return torch.cat([x, self.scale + self.scale, self.plain * x], dim=0)

    model = module_of(torch, forward, layer=torch.nn.Linear(4, 4))
    model.scale = torch.nn.Parameter(normal(torch, 2, 4))
    model.register_buffer("offset", normal(torch, 2, 4, seed=1))
    model.plain = normal(torch, 2, 4, seed=2)
    return model, (normal(torch, 2, 4, seed=3),)


@_model
def shared(torch: Any) -> Any:
    """One module under two names, called three times."""
    layer = torch.nn.Linear(4, 4)

    def forward(self: Any, x: Any) -> Any:
        return self.second(self.first(x)) + self.block(x)

    block = torch.nn.Sequential(layer, torch.nn.ReLU())
    return module_of(torch, forward, first=layer, second=layer, block=block), (normal(torch, 2, 4),)


@_model
def nested(torch: Any) -> Any:
    """A traced model within a model, beside a list and a dict of modules."""
    nn = torch.nn
    inner, _ = functional_block(torch)

    def forward(self: Any, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return self.heads["main"](self.inner(x))

    layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
    heads = nn.ModuleDict({"main": nn.Linear(4, 2)})
    members = {"inner": torch.fx.symbolic_trace(inner), "layers": layers, "heads": heads}
    return module_of(torch, forward, **members), (normal(torch, 2, 4),)


def functional_block(torch: Any) -> Any:
    """A small model to be put into another."""

    def forward(self: Any, x: Any) -> Any:
        return torch.tanh(self.norm(x)) + x.mean()

    return module_of(torch, forward, norm=torch.nn.LayerNorm(4)), ()


@_model
def attention(torch: Any) -> Any:
    """Views, sizes used as numbers, slices, masks, softmax."""

    def forward(self: Any, x: Any) -> Any:
        n, t, d = x.size(0), x.shape[1], x.size(-1)
        q, k, v = self.qkv(x).split(d, dim=-1)
        q = q.view(n, t, 2, d // 2).transpose(1, 2)
        k = k.view(n, t, 2, d // 2).permute(0, 2, 3, 1)
        score = (torch.matmul(q, k) / math.sqrt(2)).masked_fill(self.mask, -1e9)
        v = v.reshape(n, t, 2, -1).transpose(1, 2)
        y = torch.softmax(score, dim=-1) @ v
        return self.out(y.transpose(1, 2).contiguous().view(n, t, d))

    model = module_of(torch, forward, qkv=torch.nn.Linear(4, 12), out=torch.nn.Linear(4, 4))
    model.register_buffer("mask", torch.ones(3, 3).triu(1).bool())
    return model, (normal(torch, 2, 3, 4),)


@_model
def recurrent(torch: Any) -> Any:
    """An LSTM and an embedding; results taken apart by unpacking and by index."""

    def forward(self: Any, tokens: Any) -> Any:
        x, (h, _) = self.lstm(self.embedding(tokens))
        return self.out(x[:, -1]), h[0], x[..., None].size()

    members = {"embedding": torch.nn.Embedding(10, 4), "out": torch.nn.Linear(5, 2)}
    model = module_of(torch, forward, lstm=torch.nn.LSTM(4, 5, batch_first=True), **members)
    return model, (torch.tensor([[1, 2, 3], [4, 5, 6]]),)


@_model
def joins(torch: Any) -> Any:
    """Nested arguments: cat, stack, split, where, clamp, and names that Python has already."""

    def forward(self: Any, x: Any, y: Any) -> Any:
        a, b = torch.split(x, 2, dim=1)
        z = torch.cat((a, b, torch.stack([x, y]).sum(0)), 1)
        z = torch.where(z > 0, z, torch.zeros_like(z))
        z = torch.clamp(z, min=0.1, max=z.max())
        z = torch.max(z, torch.abs(z)).pow(2)
        return z.to(torch.float64).type(torch.float32), torch.sum(z, dim=(0, 1), keepdim=True)

    return module_of(torch, forward), (normal(torch, 2, 4), normal(torch, 2, 4, seed=1))


@_model
def in_place(torch: Any) -> Any:
    """Methods and functions that change their argument."""

    def forward(self: Any, x: Any) -> Any:
        y = x.clone()
        y.add_(1).mul_(2)
        torch.nn.functional.relu_(y)
        return torch.nn.functional.relu(y, inplace=True).unsqueeze(0).squeeze(0)

    return module_of(torch, forward), (normal(torch, 2, 4),)


@_model
def stars(torch: Any) -> Any:
    """``*args``, whose elements are taken by index."""

    def forward(self: Any, x: Any, *rest: Any) -> Any:
        return x * rest[0] + rest[1]

    return module_of(torch, forward), (normal(torch, 2, 4), 2.0, normal(torch, 2, 4, seed=1))


@parity_case()
def rewriting(torch: Any) -> dict[str, Any]:
    """Patterns with one and with two results; the new nodes' names and places."""

    def one(a: Any, b: Any) -> Any:
        return torch.relu(a + 1) + torch.relu(b + 1) * torch.relu(a * 2)

    def two(x: Any) -> Any:
        y = torch.sin(x)
        return y, torch.cos(y)

    def user(x: Any) -> Any:
        a, b = two(x)
        return a + b * 2

    def replacement(x: Any) -> Any:
        return torch.nn.functional.relu(x) * 2

    for function in (one, user):
        function.__annotations__ = {}
    first, second = map(torch.fx.symbolic_trace, (one, user))
    matches = torch.fx.replace_pattern(first, lambda x: torch.relu(x + 1), replacement)
    torch.fx.replace_pattern(second, two, lambda x: (x.neg(), x - 1))
    return {
        "matches": str([(match.anchor, match.nodes_map) for match in matches]),
        "first": plain(str(first.graph)),
        "second": plain(str(second.graph)),
    }


@parity_case()
def transforming(torch: Any) -> dict[str, Any]:
    """Dead code, erased and inserted nodes, a transformer, an interpreter."""

    class Swap(torch.fx.Transformer):
        def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
            if target is torch.relu:
                return torch.neg(torch.sigmoid(*args)) + 1
            return super().call_function(target, args, kwargs)

    def function(x: Any) -> Any:
        torch.tanh(x)
        return torch.relu(x.abs()) * 3

    function.__annotations__ = {}
    module = torch.fx.symbolic_trace(function)
    swapped = Swap(module).transform()
    module.graph.eliminate_dead_code()
    relu = module.graph.find_nodes(op="call_function", target=torch.relu)[0]
    with module.graph.inserting_after(relu):
        new = module.graph.call_method("clamp", (relu, 0.5))
    relu.replace_all_uses_with(new, delete_user_cb=lambda user: user is not new)
    module.graph.lint()
    module.recompile()
    x = normal(torch, 3)
    return {
        "swapped": plain(str(swapped.graph)),
        "changed": plain(str(module.graph)),
        "same": equal(torch.fx.Interpreter(module).run(x), module(x)),
    }


@parity_case()
def surgery(torch: Any) -> dict[str, Any]:
    """Submodules added, deleted, swept away; a deep copy; what lint refuses."""
    nn = torch.nn

    def forward(self: Any, x: Any) -> Any:
        return self.block(x) + self.weight

    block = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
    model = module_of(torch, forward, block=block, unused=nn.Linear(4, 4))
    model.weight = torch.nn.Parameter(normal(torch, 4))
    traced = torch.fx.symbolic_trace(model)
    copied = copy.deepcopy(traced)
    x = normal(torch, 2, 4)
    same = equal(copied(x), traced(x)) and copied.weight is not traced.weight
    found = {"kept": " ".join(n for n, _ in traced.named_modules()), "copied": same}
    found["added"] = traced.add_submodule("block.2.more.deep", nn.ReLU())
    found["twice"] = traced.add_submodule("weight.more", nn.ReLU())
    found["deleted"] = traced.delete_submodule("block.1")
    found["missing"] = traced.delete_submodule("block.7")
    tanh = traced.graph.find_nodes(op="call_module", target="block.2.1")[0]
    tanh.replace_all_uses_with(tanh.args[0])
    traced.graph.erase_node(tanh)
    traced.delete_all_unused_submodules()
    found["swept"] = " ".join(name for name, _ in traced.named_modules())
    for name, spoil in SPOILT.items():
        graph = torch.fx.symbolic_trace(model).graph
        spoil(graph)
        found[f"lint {name}"] = raised(graph.lint)
    used = next(iter(copied.graph.nodes))
    found["used"] = raised(lambda: copied.graph.erase_node(used))
    return found


def _misplace(graph: Any) -> None:
    first, *_, last, _ = graph.nodes
    last.append(first)


def _foreign(graph: Any) -> None:
    *_, last, _ = graph.nodes
    last.args = (last.args[0], next(iter(type(graph)().placeholder("y").graph.nodes)))


def _missing(graph: Any) -> None:
    graph.find_nodes(op="call_module")[0].target = "block.9"


SPOILT = {"order": _misplace, "foreign": _foreign, "target": _missing}


@parity_case()
def interpreting(torch: Any) -> dict[str, Any]:
    """Every opcode comes to its method of the interpreter, in order, with its values."""
    calls: list[str] = []

    class Listen(torch.fx.Interpreter):
        def run_node(self, n: Any) -> Any:
            calls.append(f"{n.op} {n.name}")
            return super().run_node(n)

        def call_method(self, target: Any, args: Any, kwargs: Any) -> Any:
            calls.append(f"method {target} {len(args)}")
            return super().call_method(target, args, kwargs)

        def call_module(self, target: Any, args: Any, kwargs: Any) -> Any:
            return super().call_module(target, args, kwargs) * 2

    def forward(self: Any, x: Any, y: Any = 2.0) -> Any:
        return (self.layer(x) + self.weight).clamp(min=y), torch.relu(x)

    model = module_of(torch, forward, layer=torch.nn.Linear(4, 4))
    model.weight = torch.nn.Parameter(normal(torch, 4))
    with torch.no_grad():
        model.layer.weight.copy_(normal(torch, 4, 4, seed=3))
        model.layer.bias.zero_()
    traced = torch.fx.symbolic_trace(model)
    x = torch.from_numpy(np.float32([[1, 0, 0, 2]]))
    result = Listen(traced).run(x)
    relu = traced.graph.find_nodes(op="call_function", target=torch.relu)[0]
    given = torch.fx.Interpreter(traced).run(x, 0.5, initial_env={relu: x * 3})
    return {
        "calls": "\n".join(calls),
        "same": equal(torch.fx.Interpreter(traced).run(x), traced(x)),
        "relu": result[1],
        "given": given[1],
        "too few": raised(lambda: torch.fx.Interpreter(traced).run()),
    }
