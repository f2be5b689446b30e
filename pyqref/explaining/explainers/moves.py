"""Moves: elements that come from elsewhere, unchanged or on another grid.

One way for all of them: the operation runs once more, on the positions of the elements in the
place of the elements, and what lies at the place asked for is where it came from.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics.interpolate import nearest
from ...tape import Operation, indexing, shape
from ...tape.padding import Pad
from ..draft import Draft, explains
from ..record import Value
from ..steps import Operand
from .grids import on_grid

__all__ = ["moved", "nearest_element", "positions", "reduced"]

_KINDS: dict[str, type[Operation]] = {
    each.__name__: each
    for each in (
        shape.Reshape,
        shape.View,
        shape.Squeeze,
        shape.Unsqueeze,
        shape.Permute,
        shape.Expand,
        shape.AsStrided,
        shape.Diagonal,
        shape.ChannelShuffle,
        shape.Clone,
        shape.Flip,
        shape.Repeat,
        indexing.Slice,
        indexing.Index,
        indexing.IndexSelect,
        indexing.TakeAlong,
        indexing.MaskedSelect,
    )
}


def _run(kind: type[Operation], *args: Any) -> np.ndarray:
    node = kind()
    node.needs = (False,) * len(args)
    return np.asarray(node.forward(*args))


def _plain(value: Any) -> Any:
    """An argument as operations on arrays take it."""
    if isinstance(value, Value):
        return value.array
    if isinstance(value, tuple):
        return tuple(_plain(each) for each in value)
    return value


def positions(value: Value, first: int = 0) -> np.ndarray:
    """The positions of the elements of an input, in its shape."""
    return np.arange(first, first + value.array.size).reshape(value.shape)


def moved(draft: Draft, source: Value, place: int) -> Operand:
    """Take the element at ``place`` of an input as it is."""
    index = tuple(int(each) for each in np.unravel_index(place, source.shape))
    q = draft.element("x", source, index)
    return draft.steps.add(f"taken from {list(index)}", "take", q, symbol="q")


def _finish(draft: Draft, q: Operand) -> None:
    if draft.output.quantizer is None or draft.output.per_tensor:
        if draft.output.quantizer is not None:
            draft.dequantized(q, draft.output)
        return
    draft.answer = q.step


@explains(*_KINDS)
def move(draft: Draft) -> None:
    """One input, other places."""
    arguments = dict(draft.record.arguments)
    tensor = arguments.pop("tensor")
    args = [_plain(each) for each in arguments.pop("args", ())]
    args += [_plain(each) for each in arguments.values()]
    places = _run(_KINDS[draft.record.operation], positions(tensor), *args)
    _finish(draft, moved(draft, tensor, int(places[draft.index])))


@explains("Cat", "Stack", "quantized.cat", "quantized.cat_relu")
def join(draft: Draft) -> None:
    """Several inputs; those on another grid than that of the output are quantized again."""
    arguments = draft.record.arguments
    tensors = arguments["tensors"] if "tensors" in arguments else arguments["qx"]
    axis = arguments["axis"] if "axis" in arguments else arguments["dim"]
    ends = np.cumsum([0, *(each.array.size for each in tensors)])
    every = [positions(each, int(first)) for each, first in zip(tensors, ends[:-1], strict=True)]
    kind = shape.Stack if draft.record.operation == "Stack" else shape.Cat
    place = int(_run(kind, axis, *every)[draft.index])
    which = int(np.searchsorted(ends, place, side="right")) - 1
    source, out = tensors[which], draft.output
    q = moved(draft, source, place - int(ends[which]))
    draft.notes.append(f"from input {which} of {len(tensors)}")
    if (source.scale, source.zero_point) != (out.scale, out.zero_point):
        q = on_grid(draft, draft.dequantized(q, source, "x"), out)
    if draft.record.operation.endswith("_relu"):
        zero = Operand("z_y", out.zero_point)
        q = draft.steps.add("ReLU", "max", q, zero, symbol="q", label="eq-quantized-relu")
    draft.dequantized(q, out)


@explains("Pad")
def pad(draft: Draft) -> None:
    """An element of the input, or what stands in the padding."""
    arguments = draft.record.arguments
    x, mode, value = arguments["x"], arguments["mode"], arguments["value"]
    place = int(_run(Pad, positions(x), arguments["pairs"], mode, -1)[draft.index])
    if place >= 0:
        draft.dequantized(moved(draft, x, place), draft.output)
        return
    draft.notes.append("in the padding")
    q = on_grid(draft, Operand("value", np.float32(value)), draft.output)
    draft.dequantized(q, draft.output)


def reduced(x: Value, index: tuple[int, ...], axes: tuple[int, ...], keepdim: bool) -> np.ndarray:
    """Positions of the elements over which one result of a reduction is taken."""
    ndim = len(x.shape)
    kept = [axis for axis in range(ndim) if axis not in axes]
    own = [index[axis] for axis in kept] if keepdim else list(index)
    chosen: list[Any] = [slice(None)] * ndim
    for axis, place in zip(kept, own, strict=True):
        chosen[axis] = place
    places: np.ndarray = np.arange(x.array.size).reshape(x.shape)[tuple(chosen)].ravel()
    return places


def nearest_element(draft: Draft, exact: bool) -> None:
    """Resize by the nearest element."""
    arguments = draft.record.arguments
    x = arguments["x"]
    places = nearest(positions(x), arguments["size"], arguments["factors"], exact)
    q = moved(draft, x, int(places[draft.index]))
    draft.dequantized(q, draft.output)
