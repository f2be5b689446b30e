"""Recurrent layers, step by step: with dynamic inputs the hidden state is quantized at each."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ..._typing import Packed
from ...nn import modules as nn
from ...nn.quantized import dynamic as nnqd
from ..maker import Maker
from ..problems import Unsupported
from ..table import Layer, lowering
from ..wire import Wire
from .dynamic import quantized_input, reduces_range
from .weighted import weight_of

__all__: list[str] = []


class Projection(NamedTuple):
    """A weight and a bias as constants, for all steps the same.

    ``parts`` are the integers, their zero point and their scale, or a weight of half precision.
    """

    parts: tuple[str, ...]
    bias: str
    reduce_range: bool


def projection(make: Maker, packed: Packed, name: str) -> Projection:
    """Add the constants of a packed weight."""
    weight, bias = packed.unpack()
    offset = "" if bias is None else make.constant(f"bias_{name}", bias.detach().numpy())
    if not weight.is_quantized:
        turned = np.ascontiguousarray(weight.numpy().T)
        return Projection((make.constant(f"weight_{name}", turned),), offset, False)
    found = weight_of(weight)
    parts = (
        make.constant(f"weight_{name}", np.ascontiguousarray(found.integers.T)),
        make.constant(f"weight_{name}_zero_point", found.zero_point),
        make.constant(f"weight_{name}_scale", found.scale),
    )
    return Projection(parts, offset, reduces_range(make, packed))


def projected(make: Maker, real: str, of: Projection) -> str:
    """A product by a weight, with the bias (``eq-linear-dynamic``)."""
    if len(of.parts) == 1:
        result = make.node("MatMul", [real, of.parts[0]])
    else:
        weight, zero_point, weight_scale = of.parts
        integers, scale, input_zero_point = quantized_input(make, real, of.reduce_range)
        total = make.node("MatMulInteger", [integers, weight, input_zero_point, zero_point])
        unit = make.node("Mul", [scale, weight_scale])
        result = make.node("Mul", [make.node("Cast", [total], to=1), unit])
    return str(make.node("Add", [result, of.bias]) if of.bias else result)


def lstm_step(make: Maker, x: str, hidden: str, states: list[str]) -> list[str]:
    """Equation ``eq-lstm-step``."""
    total = make.node("Add", [x, hidden])
    i, f, g, o = make.node("Split", [total], outputs=4, axis=-1, num_outputs=4)
    i, f, o = (make.node("Sigmoid", [each]) for each in (i, f, o))
    kept = make.node("Mul", [f, states[1]])
    cell = make.node("Add", [kept, make.node("Mul", [i, make.node("Tanh", [g])])])
    return [make.node("Mul", [o, make.node("Tanh", [cell])]), cell]


def gru_step(make: Maker, x: str, hidden: str, states: list[str]) -> list[str]:
    """Equation ``eq-gru-step``."""
    r, u, n = make.node("Split", [x], outputs=3, axis=-1, num_outputs=3)
    h_r, h_u, h_n = make.node("Split", [hidden], outputs=3, axis=-1, num_outputs=3)
    r = make.node("Sigmoid", [make.node("Add", [r, h_r])])
    u = make.node("Sigmoid", [make.node("Add", [u, h_u])])
    n = make.node("Tanh", [make.node("Add", [n, make.node("Mul", [r, h_n])])])
    rest = make.node("Mul", [make.node("Sub", [states[0], n]), u])
    return [make.node("Add", [rest, n])]


STEPS = {"LSTM": lstm_step, "GRU": gru_step}


@lowering(nn.LSTM, nn.GRU, nnqd.LSTM, nnqd.GRU)
def recurrent(
    make: Maker, layer: Layer, x: Wire, hx: Wire | Sequence[Wire] | None = None
) -> tuple[str, str | tuple[str, ...]]:
    """All layers and directions, every step by operators of its own."""
    if not isinstance(x, Wire) or len(x.shape) != 3:
        raise Unsupported("only sequences of one length are exported")
    if 0 in x.dynamic and not layer.batch_first:
        raise Unsupported("the number of steps follows the batch: use batch_first=True")
    count = x.shape[1 if layer.batch_first else 0]
    names = 2 if layer.mode == "LSTM" else 1
    given = () if hx is None else (hx if isinstance(hx, tuple | list) else (hx,))
    sequence = x.name
    if layer.batch_first:
        sequence = make.node("Transpose", [sequence], perm=[1, 0, 2])
    directions = 2 if layer.bidirectional else 1
    ends: list[list[str]] = [[] for _ in range(names)]
    for n in range(layer.num_layers):
        both = []
        for direction in range(directions):
            at = n * directions + direction
            suffix = f"l{n}_reverse" if direction else f"l{n}"
            states = [_initial(make, layer, each, at) for each in given] or [
                make.constant(f"zero_{suffix}", np.zeros((1, layer.hidden_size), np.float32))
            ] * names
            of_input = projection(make, *_weight(layer, at, "ih", suffix))
            of_hidden = projection(make, *_weight(layer, at, "hh", suffix))
            inputs = projected(make, sequence, of_input)
            outputs: dict[int, str] = {}
            for step in reversed(range(count)) if direction else range(count):
                index = make.scalar("step", step, np.int64)
                now = make.node("Gather", [inputs, index], axis=0)
                hidden = projected(make, states[0], of_hidden)
                states = STEPS[layer.mode](make, now, hidden, states)
                outputs[step] = states[0]
            for end, state in zip(ends, states, strict=True):
                end.append(state)
            both.append(_stacked(make, [outputs[step] for step in range(count)]))
        sequence = both[0] if len(both) == 1 else make.node("Concat", both, axis=-1)
    if layer.batch_first:
        sequence = make.node("Transpose", [sequence], perm=[1, 0, 2])
    finals = tuple(_stacked(make, each) for each in ends)
    return sequence, finals if names == 2 else finals[0]


def _weight(layer: Any, at: int, part: str, suffix: str) -> tuple[Any, str]:
    """A packed weight, or a real one as what is unpacked, and its name."""
    if isinstance(layer, nn.LSTM | nn.GRU):
        if getattr(layer, "proj_size", 0):
            raise Unsupported("proj_size is not exported")
        weight = getattr(layer, f"weight_{part}_{suffix}").detach()
        bias = getattr(layer, f"bias_{part}_{suffix}") if layer.bias else None
        return SimpleNamespace(unpack=lambda: (weight, bias)), f"{part}_{suffix}"
    param = layer._all_weight_values[at].param
    return (param.of_input if part == "ih" else param.of_hidden), f"{part}_{suffix}"


def _initial(make: Maker, layer: Any, given: Any, at: int) -> str:
    """The state of one layer and direction before the first step."""
    index = make.scalar("layer", at, np.int64)
    return str(make.node("Gather", [make.real(given), index], axis=0))


def _stacked(make: Maker, names: list[str]) -> str:
    """Tensors along a new first axis."""
    axes = make.shape(0)
    parts = [make.node("Unsqueeze", [each, axes]) for each in names]
    return str(make.node("Concat", parts, axis=0))


@lowering(nnqd.LSTMCell, nnqd.GRUCell)
def cell(
    make: Maker, layer: Layer, x: Wire, hx: Wire | Sequence[Wire] | None = None
) -> str | tuple[str, ...]:
    """One step."""
    kind = type(layer).__name__.removesuffix("Cell")
    names = 2 if kind == "LSTM" else 1
    zero = np.zeros((1, layer.hidden_size), np.float32)
    if hx is None:
        states = [make.constant("zero", zero)] * names
    else:
        states = [make.real(each) for each in (hx if isinstance(hx, tuple | list) else (hx,))]
    of_input = projection(make, layer._packed_weight_ih, "ih")
    of_hidden = projection(make, layer._packed_weight_hh, "hh")
    inputs = projected(make, x.name, of_input)
    after = STEPS[kind](make, inputs, projected(make, states[0], of_hidden), states)
    return tuple(after) if names == 2 else after[0]
