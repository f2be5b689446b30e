"""Graph mode: modules taken apart by classes of their own, and standalone ones."""

from __future__ import annotations

import copy
import importlib
import warnings
from typing import Any

from parity.eager_models import FLOAT_SUMS, exact_values, fill, random_values
from parity.fx_graphs import describe, graph_mode, images, model, numbers, rows, workflow
from parity.harness import parity_case

FLOATS = {"*output*": FLOAT_SUMS, "*scales": FLOAT_SUMS}


def configs(torch: Any) -> Any:
    """The module of the custom configs."""
    return importlib.import_module(f"{torch.__name__}.ao.quantization.fx.custom_config")


def taken_apart(torch: Any, float_class: Any, observed: Any, quantized: Any) -> dict[str, Any]:
    """Custom configs for one class."""
    custom = configs(torch)
    return {
        "prepare_custom_config": custom.PrepareCustomConfig().set_float_to_observed_mapping(
            float_class, observed
        ),
        "convert_custom_config": custom.ConvertCustomConfig().set_observed_to_quantized_mapping(
            observed, quantized
        ),
    }


def _lstm(torch: Any, forward: Any, qat: bool = False, layers: int = 1) -> dict[str, Any]:
    """Torch wants the state given: ``lstm(x, (h, c))``."""
    nn = torch.nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.lstm = nn.Linear(8, 8), nn.LSTM(8, 4, layers)
            self.last = nn.Linear(4, 3)

        def forward(self, x: Any, h: Any, c: Any) -> Any:
            return forward(self, self.lstm(self.first(x), (h, c)))

    classes = (nn.LSTM, torch.ao.nn.quantizable.LSTM, torch.ao.nn.quantized.LSTM)
    custom = taken_apart(torch, *classes)
    state = images(torch, 8, layers, 2, 4), images(torch, 9, layers, 2, 4)
    example = (images(torch, 7, 5, 2, 8), *state)
    return workflow(torch, Network(), example, values=random_values, qat=qat, **custom)


def _unpacked(m: Any, result: Any) -> Any:
    y, _ = result
    return m.last(y)


def _indexed(m: Any, result: Any) -> Any:
    return m.last(result[0])


def _with_state(m: Any, result: Any) -> Any:
    y, (h, c) = result
    return m.last(y), m.last(h), c


@parity_case(bounds=FLOATS)
def lstm(torch: Any) -> dict[str, Any]:
    """The output by unpacking and by index, the states too; two layers."""
    return {
        "unpacked": _lstm(torch, _unpacked),
        "indexed": _lstm(torch, _indexed),
        "state": _lstm(torch, _with_state),
        "layers": _lstm(torch, _indexed, layers=2),
    }


@parity_case(bounds=FLOATS)
def lstm_training(torch: Any) -> dict[str, Any]:
    """Prepare an LSTM with fake quantization, without a step of training."""
    return _lstm(torch, _indexed, qat=True)


@parity_case(bounds=FLOATS)
def attention(torch: Any) -> dict[str, Any]:
    """Attention from quantized layers. Torch observes a tensor, so the weights are left out."""
    nn = torch.nn
    quantizable = torch.ao.nn.quantizable.MultiheadAttention
    quantized = torch.ao.nn.quantized.MultiheadAttention

    class Observed(quantizable):
        def forward(self, query: Any, key: Any, value: Any) -> Any:
            return super().forward(query, key, value)[0]

    class Quantized(quantized):
        def forward(self, query: Any, key: Any, value: Any) -> Any:
            return super().forward(query, key, value)[0]

    def forward(m: Any, x: Any) -> Any:
        k = m.k(x)
        return m.last(m.attention(m.q(x), k, k))

    net = model(
        torch, forward, q=nn.Linear(8, 8), k=nn.Linear(8, 8), attention=nn.MultiheadAttention(8, 2),
        last=nn.Linear(8, 3),
    )  # fmt: skip
    custom = taken_apart(torch, nn.MultiheadAttention, Observed, Quantized)
    x = images(torch, 7, 5, 2, 8)
    return workflow(torch, net, (x,), values=random_values, **custom)


def _standalone(torch: Any, own: Any, by_class: bool, qat: bool = False) -> dict[str, Any]:
    nn, F = torch.nn, torch.nn.functional

    class Inner(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)
            self.more = nn.Linear(6, 6)

        def forward(self, x: Any) -> Any:
            y = self.linear(x)
            # For training, torch fuses nothing within a standalone module.
            return self.more(F.leaky_relu(y) if qat else F.relu(y))

    def forward(m: Any, x: Any) -> Any:
        y = m.inner(m.first(x))
        # What follows floats from a standalone module, torch leaves a reference layer.
        return m.last(y) if "output_quantized_idxs" in own else y

    net = model(torch, forward, first=nn.Linear(6, 6), inner=Inner(), last=nn.Linear(6, 6))
    custom = configs(torch).PrepareCustomConfig()
    inner = configs(torch).PrepareCustomConfig.from_dict(own)
    if by_class:
        custom.set_standalone_module_class(Inner, None, (rows(torch),), inner, None)
    else:
        custom.set_standalone_module_name("inner", None, (rows(torch),), inner, None)
    return workflow(torch, net, (rows(torch),), prepare_custom_config=custom, qat=qat)


@parity_case(bounds=FLOATS)
def standalone_by_name(torch: Any) -> dict[str, Any]:
    """Quantized tensors in, out, and on both sides."""
    both = {"input_quantized_idxs": [0], "output_quantized_idxs": [0]}
    return {
        "both": _standalone(torch, both, False),
        "in": _standalone(torch, {"input_quantized_idxs": [0]}, False),
        "training": _standalone(torch, both, False, qat=True),
    }


@parity_case(bounds=FLOATS)
def standalone_by_class(torch: Any) -> dict[str, Any]:
    """Find standalone modules by their class."""
    both = {"input_quantized_idxs": [0], "output_quantized_idxs": [0]}
    return {
        "both": _standalone(torch, both, True),
        "in": _standalone(torch, {"input_quantized_idxs": [0]}, True),
    }


@parity_case(bounds=FLOATS)
def standalone_float(torch: Any) -> dict[str, Any]:
    """Floats at its interface, as by default."""
    return _standalone(torch, {}, True)


@parity_case(bounds=FLOATS)
def float_functional(torch: Any) -> dict[str, Any]:
    """Every operation of FloatFunctional between quantized layers."""
    nn = torch.nn

    def forward(m: Any, x: Any) -> Any:
        a, b = m.a(x), m.b(x)
        y = m.add.add(a, b)
        y = m.mul.mul(y, m.scalar.mul_scalar(a, 0.5))
        y = m.cat.cat([m.relu.add_relu(y, b), m.plus.add_scalar(b, 1.5)], 1)
        return m.last(y)

    names = ("add", "mul", "scalar", "cat", "relu", "plus")
    functional = {name: torch.ao.nn.quantized.FloatFunctional() for name in names}
    net = model(
        torch, forward, a=nn.Linear(8, 8), b=nn.Linear(8, 8), last=nn.Linear(16, 3), **functional
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that adding a number moves a grid before the joining
        return workflow(torch, net, (rows(torch, 1, 8, 8),))


@parity_case()
def float_functional_traced(torch: Any) -> dict[str, Any]:
    """``symbolic_trace`` goes through FloatFunctional; FXFloatFunctional gives functions only."""
    nn = torch.nn
    quantized = torch.ao.nn.quantized

    def forward(m: Any, x: Any) -> Any:
        y = m.f.add_relu(m.f.mul(x, x), m.f.add_scalar(x, 2))
        return m.f.cat([m.f.add(y, x), m.f.mul_scalar(y, 3)], 1)

    found = {}
    for kind in (quantized.FloatFunctional, quantized.FXFloatFunctional):
        traced = torch.fx.symbolic_trace(model(torch, forward, f=kind(), last=nn.Linear(2, 2)))
        found[kind.__name__] = "\n".join(
            f"{n.op} {getattr(n.target, '__name__', n.target)} {n.args}" for n in traced.graph.nodes
        )
        found[f"{kind.__name__} result"] = traced(rows(torch))
    return found


@parity_case(bounds=FLOATS)
def standalone_by_itself(torch: Any) -> dict[str, Any]:
    """Prepared and converted without a model around it; quantized tensors in and out."""
    nn, fx = torch.nn, graph_mode(torch)
    net = fill(torch, nn.Sequential(nn.Linear(6, 6), nn.ReLU(), nn.Linear(6, 3)), exact_values)
    mapping = torch.ao.quantization.get_default_qconfig_mapping("x86")
    own = {"input_quantized_idxs": [0], "output_quantized_idxs": [0]}
    prepared = fx._prepare_standalone_module_fx(net.eval(), mapping, False, (rows(torch),), own)
    prepared(rows(torch))
    found = {"prepared": describe(prepared)}
    x = torch.quantize_per_tensor(rows(torch), 0.03125, 64, torch.quint8)
    for is_reference in (True, False):
        model = fx._convert_standalone_module_fx(copy.deepcopy(prepared), is_reference)
        name = "reference" if is_reference else "converted"
        found[name] = describe(model)
        found[f"{name} output"] = model(x)
        found[f"{name} numbers"] = numbers(model)
    return found
