"""Graphs of models: every node's name, opcode, target and arguments, and the code written."""

from __future__ import annotations

import copy
import math
import operator
import re
from collections.abc import Callable
from typing import Any

import numpy as np
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


def plain(text: str) -> str:
    """A graph or its code without the places where the libraries keep their functions."""
    text = re.sub(r"target=[\w.]*\.(\w+)\](?=\(args)", r"target=\1]", text)
    text = re.sub(r"\b(?:torch|pyqref)\.(?:\w+\.)*(\w+)", r"\1", text)
    text = re.sub(r"\b(?:math_|math\.)(\w+)", r"\1", text)
    text = text.replace("_operator_abs", "operator.abs")
    # torch writes some indices as x[(slice(1, None, None), Ellipsis)], pyqref all as x[1:, ...]
    text = re.sub(r"\[\((.*?)\)\](?=;|$)", r"[\1]", text, flags=re.MULTILINE)
    return re.sub(r"(?<== )(\w+\[.*?\])(?=;|$)", _index, text, flags=re.MULTILINE)


def _index(found: re.Match[str]) -> str:
    inner = re.sub(r"slice\((.*?), (.*?), None\)", r"\1:\2", found[1])
    inner = re.sub(r"slice\((.*?), (.*?), (\d+)\)", r"\1:\2:\3", inner)
    return inner.replace("None:", ":").replace(":None", ":").replace("Ellipsis", "...")


def describe(torch: Any, model: Any, inputs: tuple[Any, ...]) -> dict[str, Any]:
    """Graph, code, names of the state, and whether the traced model gives the same result."""
    traced = torch.fx.symbolic_trace(model)
    traced.graph.lint()
    code = "\n".join(line for line in traced.code.splitlines() if "wrap(" not in line)
    return {
        "graph": plain(str(traced.graph)),
        "code": plain(code).strip(),
        "state": " ".join(traced.state_dict()),
        "same": _equal(model(*inputs), traced(*inputs)),
    }


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_equal(a[key], b[key]) for key in a)
    if isinstance(a, tuple | list):
        return len(a) == len(b) and all(map(_equal, a, b))
    if not hasattr(a, "detach"):
        return bool(a == b)
    return bool(np.array_equal(a.detach().numpy(), b.detach().numpy()))


def _input(torch: Any, *shape: int, seed: int = 0) -> Any:
    numbers = np.random.default_rng(seed).standard_normal(shape)
    return torch.from_numpy(numbers.astype(np.float32))


def _module(torch: Any, forward: Callable[..., Any], **members: Any) -> Any:
    """A module of a class of its own, with these members."""
    forward.__annotations__ = {}
    model = type("Model", (torch.nn.Module,), {"forward": forward})()
    for name, value in members.items():
        setattr(model, name, value)
    return model.eval()


@_model
def mlp(torch: Any) -> Any:
    """Sequential in Sequential."""
    nn = torch.nn
    block = nn.Sequential(nn.Linear(8, 8), nn.Sigmoid())
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), block), (_input(torch, 2, 4),)


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
    return _module(torch, forward, **members), (_input(torch, 1, 3, 5, 5),)


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

    weight = torch.nn.Parameter(_input(torch, 4, 3, 3, 3))
    bias = torch.nn.Parameter(_input(torch, 4))
    return _module(torch, forward, weight=weight, bias=bias), (_input(torch, 1, 3, 8, 8),)


@_model
def operators(torch: Any) -> Any:
    """Operators, their reflections, and functions of operator and math."""

    def forward(self: Any, x: Any) -> Any:
        y = (1 - x) * 2 / (x + 3) ** 2 - -x
        y = 2.5 + y // 1 + abs(x % 2) + 2**x
        y = operator.add(y, math.pi) @ x.T
        return (y > 0) & (y <= 5) | ~(y == 3), y.shape[0] * math.sqrt(4.0)

    return _module(torch, forward), (_input(torch, 3, 3),)


@_model
def structures(torch: Any) -> Any:
    """Defaults, several outputs in dicts, lists and tuples."""

    def forward(self: Any, x: Any, input: Any = None, scale: float = 2.0) -> Any:
        a, b = x.chunk(2, 1)
        c, *_ = (x.sum(1), None)
        return {"pair": (a, b), "list": [c * scale, {"shape": x.size(0)}], "none": input}

    return _module(torch, forward), (_input(torch, 2, 4),)


@_model
def parameters(torch: Any) -> Any:
    """Parameters of one's own and of submodules, buffers, tensors on both sides."""

    def forward(self: Any, x: Any) -> Any:
        x = torch.nn.functional.linear(x, self.layer.weight, self.layer.bias)
        x = x * self.scale + self.offset
        x = self.offset - x
        return torch.cat([x, self.scale + self.scale, self.plain * x], dim=0)

    model = _module(torch, forward, layer=torch.nn.Linear(4, 4))
    model.scale = torch.nn.Parameter(_input(torch, 2, 4))
    model.register_buffer("offset", _input(torch, 2, 4, seed=1))
    model.plain = _input(torch, 2, 4, seed=2)
    return model, (_input(torch, 2, 4, seed=3),)


@_model
def shared(torch: Any) -> Any:
    """One module under two names, called three times."""
    layer = torch.nn.Linear(4, 4)

    def forward(self: Any, x: Any) -> Any:
        return self.second(self.first(x)) + self.block(x)

    block = torch.nn.Sequential(layer, torch.nn.ReLU())
    return _module(torch, forward, first=layer, second=layer, block=block), (_input(torch, 2, 4),)


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
    return _module(torch, forward, **members), (_input(torch, 2, 4),)


def functional_block(torch: Any) -> Any:
    """A small model to be put into another."""

    def forward(self: Any, x: Any) -> Any:
        return torch.tanh(self.norm(x)) + x.mean()

    return _module(torch, forward, norm=torch.nn.LayerNorm(4)), ()


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

    model = _module(torch, forward, qkv=torch.nn.Linear(4, 12), out=torch.nn.Linear(4, 4))
    model.register_buffer("mask", torch.ones(3, 3).triu(1).bool())
    return model, (_input(torch, 2, 3, 4),)


@_model
def recurrent(torch: Any) -> Any:
    """An LSTM and an embedding; results taken apart by unpacking and by index."""

    def forward(self: Any, tokens: Any) -> Any:
        x, (h, _) = self.lstm(self.embedding(tokens))
        return self.out(x[:, -1]), h[0], x[..., None].size()

    members = {"embedding": torch.nn.Embedding(10, 4), "out": torch.nn.Linear(5, 2)}
    model = _module(torch, forward, lstm=torch.nn.LSTM(4, 5, batch_first=True), **members)
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

    return _module(torch, forward), (_input(torch, 2, 4), _input(torch, 2, 4, seed=1))


@_model
def in_place(torch: Any) -> Any:
    """Methods and functions that change their argument."""

    def forward(self: Any, x: Any) -> Any:
        y = x.clone()
        y.add_(1).mul_(2)
        torch.nn.functional.relu_(y)
        return torch.nn.functional.relu(y, inplace=True).unsqueeze(0).squeeze(0)

    return _module(torch, forward), (_input(torch, 2, 4),)


@_model
def stars(torch: Any) -> Any:
    """``*args``, whose elements are taken by index."""

    def forward(self: Any, x: Any, *rest: Any) -> Any:
        return x * rest[0] + rest[1]

    return _module(torch, forward), (_input(torch, 2, 4), 2.0, _input(torch, 2, 4, seed=1))


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
    x = _input(torch, 3)
    return {
        "swapped": plain(str(swapped.graph)),
        "changed": plain(str(module.graph)),
        "same": _equal(torch.fx.Interpreter(module).run(x), module(x)),
    }


@parity_case()
def surgery(torch: Any) -> dict[str, Any]:
    """Submodules added, deleted, swept away; a deep copy; what lint refuses."""
    nn = torch.nn

    def forward(self: Any, x: Any) -> Any:
        return self.block(x) + self.weight

    block = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Sequential(nn.Linear(4, 4), nn.Tanh()))
    model = _module(torch, forward, block=block, unused=nn.Linear(4, 4))
    model.weight = torch.nn.Parameter(_input(torch, 4))
    traced = torch.fx.symbolic_trace(model)
    copied = copy.deepcopy(traced)
    x = _input(torch, 2, 4)
    same = _equal(copied(x), traced(x)) and copied.weight is not traced.weight
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
        found[f"lint {name}"] = _raises(graph.lint)
    used = next(iter(copied.graph.nodes))
    found["used"] = _raises(lambda: copied.graph.erase_node(used))
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


def _raises(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as error:
        return type(error).__name__
    return "nothing"


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

    model = _module(torch, forward, layer=torch.nn.Linear(4, 4))
    model.weight = torch.nn.Parameter(_input(torch, 4))
    with torch.no_grad():
        model.layer.weight.copy_(_input(torch, 4, 4, seed=3))
        model.layer.bias.zero_()
    traced = torch.fx.symbolic_trace(model)
    x = torch.from_numpy(np.float32([[1, 0, 0, 2]]))
    result = Listen(traced).run(x)
    relu = traced.graph.find_nodes(op="call_function", target=torch.relu)[0]
    given = torch.fx.Interpreter(traced).run(x, 0.5, initial_env={relu: x * 3})
    return {
        "calls": "\n".join(calls),
        "same": _equal(torch.fx.Interpreter(traced).run(x), traced(x)),
        "relu": result[1],
        "given": given[1],
        "too few": _raises(lambda: torch.fx.Interpreter(traced).run()),
    }
