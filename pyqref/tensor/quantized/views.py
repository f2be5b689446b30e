"""Other shapes of the same integers: views of quantized tensors.

Per tensor, any view will do. Per channel, the channels must remain one axis of the
view; one channel alone is a per tensor quantized tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, TypeGuard

import numpy as np

from ...dtypes import per_channel_affine_float_qparams
from ...tape import Operation
from ...tape import shape as shapes
from ...tape.indexing import Index, IndexSelect, Slice, TakeAlong
from ..dispatch import quantized_implementation, view_of_quantized
from .operations import run_operation
from .quantizer import PerChannelQuantizer, PerTensorQuantizer, Quantizer

__all__: list[str] = []


def _lost(operation: str, quantizer: PerChannelQuantizer) -> RuntimeError:
    return RuntimeError(
        f"{operation} of a per channel quantized tensor would lose its channel axis "
        f"{quantizer.axis}; call dequantize() first, or choose a shape that keeps the channels "
        "as one axis"
    )


def _view(operation: type[Operation], follow: Callable[..., Quantizer]) -> Callable[..., Any]:
    """Register ``operation``; ``follow(quantizer, shape, *args)`` is the view's quantizer."""
    compute = operation.compute if operation.computes else partial(run_operation, operation)

    @quantized_implementation(operation)
    def run(tensor: Any, *args: Any) -> Any:
        array, quantizer = compute(tensor._array, *args), tensor._quantizer
        if type(quantizer) is not PerTensorQuantizer:
            quantizer = follow(quantizer, tensor._array.shape, *args)
        return view_of_quantized(tensor, array, quantizer)

    return run


def _reshaped(q: PerChannelQuantizer, shape: tuple[int, ...], new: tuple[int, ...]) -> Quantizer:
    """The channels stay one axis if it has the same length and as many elements before it."""
    before = math.prod(shape[: q.axis])
    for axis, length in enumerate(new):
        if length == shape[q.axis] and math.prod(new[:axis]) == before:
            return q.along(axis)
    raise _lost("this reshaping", q)


def _squeezed(q: PerChannelQuantizer, shape: tuple[int, ...], axes: tuple[int, ...]) -> Quantizer:
    if q.axis in axes:
        return q.of_channel(0)
    return q.along(q.axis - sum(axis < q.axis for axis in axes))


def _expanded_dims(q: PerChannelQuantizer, shape: tuple[int, ...], axis: int) -> Quantizer:
    return q.along(q.axis + (axis <= q.axis))


def _permuted(q: PerChannelQuantizer, shape: tuple[int, ...], order: tuple[int, ...]) -> Quantizer:
    return q.along(order.index(q.axis))


def _expanded(q: PerChannelQuantizer, shape: tuple[int, ...], new: tuple[int, ...]) -> Quantizer:
    axis = q.axis + len(new) - len(shape)
    if new[axis] != shape[q.axis]:
        raise _lost("expand()", q)
    return q.along(axis)


def _strided(q: PerChannelQuantizer, shape: tuple[int, ...], *args: Any) -> Quantizer:
    raise _lost("as_strided()", q)


def _diagonal(q: PerChannelQuantizer, shape: tuple[int, ...], *args: Any) -> Quantizer:
    raise _lost("diagonal()", q)


def _sliced(q: PerChannelQuantizer, shape: tuple[int, ...], key: tuple[Any, ...]) -> Quantizer:
    """Return the quantizer of the remaining channels; a single one is per tensor."""
    kept = _kept(q, shape, key)
    cut = any(item is not None and item is not Ellipsis for item in key)
    return kept.of_channel(0) if cut and _alone(kept) else kept


def _alone(q: Quantizer) -> TypeGuard[PerChannelQuantizer]:
    return (
        isinstance(q, PerChannelQuantizer)
        and len(q.scales) == 1
        and q.qscheme is not per_channel_affine_float_qparams
    )


def _kept(q: PerChannelQuantizer, shape: tuple[int, ...], key: tuple[Any, ...]) -> Quantizer:
    old = new = 0
    for item in key:
        if item is None:
            new += 1
            continue
        if item is Ellipsis:
            rest = len(shape) - sum(each is not None and each is not Ellipsis for each in key)
            if old <= q.axis < old + rest:
                return q.along(new + q.axis - old)
            old, new = old + rest, new + rest
            continue
        whole = isinstance(item, slice)
        if old == q.axis:
            return q.taken(item).along(new) if whole else q.of_channel(item)
        old, new = old + 1, new + whole
    return q.along(new + q.axis - old)


def _flipped(q: PerChannelQuantizer, shape: tuple[int, ...], axes: tuple[int, ...]) -> Quantizer:
    return q.taken(slice(None, None, -1)) if q.axis in axes else q


def _shuffled(q: PerChannelQuantizer, shape: tuple[int, ...], groups: int) -> Quantizer:
    if q.axis == 1:
        raise _lost("channel_shuffle()", q)
    return q


def _same(q: PerChannelQuantizer, shape: tuple[int, ...], *args: Any) -> Quantizer:
    return q


def _selected(
    q: PerChannelQuantizer, shape: tuple[int, ...], axis: int, index: np.ndarray
) -> Quantizer:
    return q.taken(index) if axis == q.axis else q


def _repeated(q: PerChannelQuantizer, shape: tuple[int, ...], times: tuple[int, ...]) -> Quantizer:
    axis = q.axis + len(times) - len(shape)
    if times[axis] != 1:
        raise _lost("repeat()", q)
    return q.along(axis)


def _indexed(q: PerChannelQuantizer, shape: tuple[int, ...], *args: Any) -> Quantizer:
    raise _lost("indexing with tensors", q)


_view(shapes.Reshape, _reshaped)
_view(shapes.View, _reshaped)
_view(shapes.Squeeze, _squeezed)
_view(shapes.Unsqueeze, _expanded_dims)
_view(shapes.Permute, _permuted)
_view(shapes.Expand, _expanded)
_view(shapes.AsStrided, _strided)
_view(shapes.Diagonal, _diagonal)
_view(Slice, _sliced)
# the rest are copies
_view(shapes.Clone, _same)
_view(shapes.ChannelShuffle, _shuffled)
_view(shapes.Flip, _flipped)
_view(shapes.Repeat, _repeated)
_view(Index, _indexed)
_view(IndexSelect, _selected)
_view(TakeAlong, _indexed)
