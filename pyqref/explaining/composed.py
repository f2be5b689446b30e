"""Layers of several weights: LSTM, GRU, their cells, and attention, with some weights replaced.

A layer with a weight of half precision, which has one, is taken in the same way.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .. import nn
from .._typing import AnyModule
from ..nn.modules import Module
from ..nn.modules.rnn_base import RNNBase
from ..nn.modules.rnn_cell import RNNCellBase
from ..nn.quantized.dynamic.modules.rnn import RNNBase as DynamicRNN
from ..nn.quantized.dynamic.modules.rnn_cell import RNNCellBase as DynamicCell
from ..ops.quantized.linear_dynamic import PackedLinearFloat16
from ..tensor import Tensor
from .values import as_float, is_quantized

__all__ = ["Composed", "clipped_to", "composed_of", "set_weights"]

HALF = 65504.0
"""The largest number of half precision."""


class _Part(NamedTuple):
    """One weight of a layer.

    ``weight`` and ``bias`` are parameters of the float layer, or rows of them; ``packed`` is what
    the quantized layer has in their place.
    """

    weight: Tensor
    bias: Tensor | None
    packed: Any


class Composed:
    """A float layer that stands for a quantized one of several weights.

    Parameters
    ----------
    quantized
        The quantized layer.
    original
        The float layer at the same path.
    clipped
        Cuts a weight to the range of a quantized one.
    """

    def __init__(
        self, quantized: Module, original: Module, clipped: Callable[[Any, Any], Any]
    ) -> None:
        self.quantized, self.original, self.clipped = quantized, original, clipped
        self._made: dict[str, Module] = {}

    def form(self, stage: str) -> Module:
        """The float layer after a step of its weights; behind these, as after the last of them."""
        if stage == "float":
            return self.original
        if stage not in ("weight clipping", "weight rounding"):
            stage = "bias"
        if stage not in self._made:
            self._made[stage] = self._with_weights(stage)
        return self._made[stage]

    def _with_weights(self, stage: str) -> Module:
        layer = copy.deepcopy(self.original)
        for part in _parts(self.quantized, layer):
            weight, bias = part.packed.unpack()
            if stage == "weight clipping":
                weight = self.clipped(part.weight.detach(), weight)
            part.weight.data.copy_(as_float(weight))
            if stage == "bias" and bias is not None and part.bias is not None:
                part.bias.data.copy_(as_float(bias))
        return layer


def composed_of(
    quantized: object, original: Module | None, clipped: Callable[[Any, Any], Any]
) -> Composed | None:
    """The float layer of a quantized one of several weights; None of any other layer."""
    if original is None or not isinstance(quantized, Module):
        return None
    try:
        parts = list(_parts(quantized, original))
    except (AttributeError, KeyError):
        return None
    if not parts or any(
        tuple(part.weight.shape) != tuple(part.packed.unpack()[0].shape) for part in parts
    ):
        return None
    return Composed(quantized, original, clipped)


def _parts(quantized: Any, layer: Any) -> Iterator[_Part]:
    """The weights of a layer, by what the quantized layer is."""
    packed = getattr(getattr(quantized, "_packed_params", None), "_packed_params", None)
    if isinstance(packed, PackedLinearFloat16) and isinstance(layer, nn.Linear):
        yield _Part(layer.weight, layer.bias, packed)
    elif isinstance(quantized, DynamicRNN) and isinstance(layer, RNNBase):
        directions = 2 if quantized.bidirectional else 1
        for place, values in enumerate(quantized._all_weight_values):
            end = f"l{place // directions}{'_reverse' if place % directions else ''}"
            for kind, packed in (("ih", values.param.of_input), ("hh", values.param.of_hidden)):
                yield _named(layer, f"{kind}_{end}", packed)
    elif isinstance(quantized, DynamicCell) and isinstance(layer, RNNCellBase):
        yield _named(layer, "ih", quantized._packed_weight_ih)
        yield _named(layer, "hh", quantized._packed_weight_hh)
    elif isinstance(quantized, nn.quantized.LSTM) and isinstance(layer, nn.LSTM):
        for place, both in enumerate(quantized.layers):
            for name, end in (("layer_fw", ""), ("layer_bw", "_reverse")):
                if (one := getattr(both, name, None)) is not None:
                    yield _named(layer, f"ih_l{place}{end}", one.cell.igates._packed_weight())
                    yield _named(layer, f"hh_l{place}{end}", one.cell.hgates._packed_weight())
    elif isinstance(quantized, nn.quantized.MultiheadAttention) and isinstance(
        layer, nn.MultiheadAttention
    ):
        size = layer.embed_dim
        for place, name in enumerate("QKV"):
            rows = slice(place * size, (place + 1) * size)
            whole, bias = layer.in_proj_weight, layer.in_proj_bias
            weight = getattr(layer, f"{name.lower()}_proj_weight") if whole is None else whole[rows]
            packed = getattr(quantized, f"linear_{name}")._packed_weight()
            yield _Part(weight, None if bias is None else bias[rows], packed)
        out = layer.out_proj
        yield _Part(out.weight, out.bias, quantized.out_proj._packed_weight())


def set_weights(layer: AnyModule, weights: dict[str, Any], biases: dict[str, Any]) -> None:
    """Give a dynamic layer of several weights others, named as ``_weight_bias`` names them."""
    if isinstance(layer, DynamicRNN):
        layer.set_weight_bias({**weights, **biases})
    else:
        layer.set_weight_bias({"weight": weights, "bias": biases})


def _named(layer: Module, end: str, packed: Any) -> _Part:
    return _Part(getattr(layer, f"weight_{end}"), getattr(layer, f"bias_{end}", None), packed)


def clipped_to(weight: Tensor, quantized: object, to_grid: Callable[[Any, Any], Any]) -> Tensor:
    """A float weight cut to the range of a quantized one, or to that of half precision."""
    if is_quantized(quantized):
        return to_grid(weight, quantized)
    return weight.clamp(-HALF, HALF)
