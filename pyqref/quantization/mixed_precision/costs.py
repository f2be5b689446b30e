"""Weights and products of a layer, and costs of a choice of bits."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import prod
from typing import Any, Literal, get_args

from pyqref import nn
from pyqref.fx import Node
from pyqref.nn import intrinsic as nni
from pyqref.nn.modules import Module
from pyqref.numerics.bit_widths import bit_operations, mean_weight_bits, weight_bytes

from .unit import Unit
from .widths import FLOAT, Width

__all__ = ["Costs", "Measure", "macs_of", "weights_of"]

#: What a budget is measured in.
Measure = Literal["bits", "bytes", "bit_operations"]

_RECURRENT = (nn.LSTM, nn.GRU, nn.LSTMCell, nn.GRUCell, nn.RNNCell)


def _layer(module: Any) -> Any:
    """The layer with the weight, which a fused module holds first."""
    if isinstance(module, nni._FusedModule):
        return next(each for each in module if hasattr(each, "weight"))
    return module


def weights_of(module: Module | None, node: Node, shapes: Mapping[str, Any]) -> int:
    """Number of quantized weights of a module, or of a function that is given them."""
    if module is None:
        given = [each for each in node.all_input_nodes if each.op == "get_attr"]
        return prod(shapes[given[0].name]) if given else 0
    layer = _layer(module)
    if isinstance(layer, nn.PReLU):
        return 0
    named = layer.named_parameters(recurse=False)
    return sum(each.numel() for name, each in named if name.startswith("weight"))


def macs_of(what: str, module: Module | None, inputs: list[Any], output: tuple[int, ...]) -> int:
    """Products of one call.

    Parameters
    ----------
    what
        Name of the class, function or method.
    module
        The module, or None.
    inputs
        Shapes of the inputs, for a function with those of its weights.
    output
        Shape of the output.
    """
    layer = None if module is None else _layer(module)
    if isinstance(layer, _RECURRENT):
        weights = (each for name, each in layer.named_parameters() if name.startswith("weight"))
        return sum(each.numel() for each in weights) * prod(inputs[0][:-1])
    if what in ("matmul", "bmm"):
        return int(prod(output) * inputs[0][-1])
    weight = getattr(layer, "weight", None)
    if layer is None and len(inputs) > 1:
        weight_shape: tuple[int, ...] = inputs[1]
    elif weight is not None:
        weight_shape = tuple(weight.shape)
    else:
        return 0
    name = type(layer).__name__ if layer is not None else what
    if "Transpose" in name or "transpose" in name:
        return prod(inputs[0]) * prod(weight_shape[1:])
    if name.lower().startswith(("linear", "conv")):
        return prod(output) * prod(weight_shape[1:])
    return 0


class Costs:
    """Costs of a choice of bits for each unit of a model.

    Parameters
    ----------
    units
        By name.
    samples
        In the batch for which products were counted.
    """

    def __init__(self, units: Mapping[str, Unit], samples: int) -> None:
        self.units = units
        self.samples = samples
        self.weighted = [each for each in units.values() if each.weights]
        self.multiplying = [each for each in units.values() if each.macs]

    def of(self, measure: Measure, chosen: Mapping[str, Width]) -> Fraction:
        """The cost of a choice; units that are missing stay float."""
        assert measure in get_args(Measure)
        counts = [each.weights for each in self.weighted]
        widths = [chosen.get(each.name, FLOAT).weight for each in self.weighted]
        if measure == "bits":
            return mean_weight_bits(counts, widths) if counts else Fraction(0)
        if measure == "bytes":
            return Fraction(weight_bytes(counts, widths))
        macs = [each.macs for each in self.multiplying]
        first, second = [], []
        for unit in self.multiplying:
            width = chosen.get(unit.name, FLOAT)
            second.append(self.reads(unit, 0, chosen))
            first.append(width.weight if unit.weights else self.reads(unit, 1, chosen))
        return Fraction(bit_operations(macs, first, second), self.samples)

    def reads(self, unit: Unit, index: int, chosen: Mapping[str, Width]) -> int:
        """Bits of an input of a unit: those with which the unit before gives it."""
        own = chosen.get(unit.name, FLOAT)
        if own == FLOAT or unit.kind == "weight only":
            return 32
        if unit.kind == "dynamic":
            return 8
        source = unit.inputs[index] if index < len(unit.inputs) else None
        return self.gives(source, chosen) or own.activation

    def gives(self, name: str | None, chosen: Mapping[str, Width]) -> int | None:
        """Bits of the integers that a unit gives; None if it gives floats."""
        unit = self.units.get(name or "")
        if unit is None:
            return None
        if unit.follows:
            return self.source(unit, chosen)
        width = chosen.get(unit.name, FLOAT)
        if unit.fixed and self.source(unit, chosen) is None:
            return None
        return None if width == FLOAT or unit.kind != "static" else width.activation

    def source(self, unit: Unit, chosen: Mapping[str, Width]) -> int | None:
        """Bits of the integers that a unit reads first; None if it reads floats."""
        return self.gives(unit.inputs[0] if unit.inputs else None, chosen)

    def effective(self, chosen: Mapping[str, Width]) -> dict[str, Width]:
        """A choice as it can be made: a unit with a fixed grid is float behind floats."""
        names = (name for name in self.units if name in chosen)
        return {
            name: FLOAT
            if self.units[name].fixed and self.source(self.units[name], chosen) is None
            else chosen[name]
            for name in names
        }
