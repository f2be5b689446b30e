"""Operations that move elements and compute nothing: integers stay integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._typing import Ints, Number, Tensor
from ...nn import modules as nn
from ..maker import Maker
from ..problems import Unsupported
from ..table import Layer, lowering
from ..wire import Wire

__all__: list[str] = []


@lowering("view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze")
def reshape(make: Maker, x: Wire, *unused: object, **others: object) -> str:
    """Another shape: lengths that follow the batch are copied, or worked out once."""
    out = make.out
    sizes: list[int] = []
    for axis, size in enumerate(out.shape):
        if axis not in out.dynamic:
            sizes.append(size)
        elif axis in x.dynamic and axis < len(x.shape) and x.shape[axis] == size:
            sizes.append(0)  # ONNX: as in the input
        else:
            sizes.append(-1)
    if sizes.count(-1) > 1:
        raise Unsupported("more than one axis of the result follows the batch")
    return make.moved(make.node("Reshape", [x.name, make.shape(*sizes)]), x)


@lowering(nn.Flatten, nn.Unflatten)
def reshape_module(make: Maker, layer: Layer, x: Wire) -> str:
    """Another shape."""
    return reshape(make, x)


def _transposed(make: Maker, x: Wire, order: Any) -> str:
    return make.moved(make.node("Transpose", [x.name], perm=[int(each) for each in order]), x)


@lowering("permute")
def permute(make: Maker, x: Wire, *dims: Any) -> str:
    """Axes in another order."""
    order = dims[0] if len(dims) == 1 and isinstance(dims[0], tuple | list) else dims
    return _transposed(make, x, [each % len(x.shape) for each in order])


@lowering("transpose")
def transpose(make: Maker, x: Wire, dim0: int, dim1: int) -> str:
    """Two axes exchanged."""
    order = list(range(len(x.shape)))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return _transposed(make, x, order)


@lowering("t")
def turned(make: Maker, x: Wire) -> str:
    """A matrix with rows and columns exchanged."""
    return _transposed(make, x, reversed(range(len(x.shape))))


@lowering("cat", "concat")
def cat(
    make: Maker,
    tensors: Sequence[Wire | Tensor],
    dim: int = 0,
    *unused: object,
    axis: int | None = None,
    **others: object,
) -> str:
    """Tensors side by side: integers if all lie on the grid of the result, else real numbers."""
    dim = dim if axis is None else axis
    wires = [each for each in tensors if isinstance(each, Wire)]
    if len(wires) == len(tensors) and all(make.on_grid_of(each) for each in wires):
        name = make.node("Concat", [each.name for each in wires], axis=int(dim))
        return make.moved(name, wires[0])
    return make.finish(make.node("Concat", [make.real(each) for each in tensors], axis=int(dim)))


@lowering("cat_relu")
def cat_relu(
    make: Maker, tensors: Sequence[Wire | Tensor], dim: int = 0, *unused: object, **others: object
) -> str:
    """Tensors side by side, negative elements zero."""
    real = make.node("Concat", [make.real(each) for each in tensors], axis=int(dim))
    return make.finish(make.node("Relu", [real]))


@lowering("stack")
def stack(make: Maker, tensors: Sequence[Wire | Tensor], dim: int = 0) -> str:
    """Tensors along a new axis."""
    axes = make.shape(dim)
    parts = [make.node("Unsqueeze", [make.real(each), axes]) for each in tensors]
    return make.finish(make.node("Concat", parts, axis=int(dim)))


@lowering("chunk", "split", "tensor_split")
def parts(make: Maker, x: Wire, *args: object, dim: int = 0, **others: object) -> tuple[str, ...]:
    """Several parts of a tensor along an axis."""
    whole = make.out
    axis = next((n for n, size in enumerate(x.shape) if size != whole[0].shape[n]), dim)
    sizes = make.shape(*(each.shape[axis] for each in whole))
    names = make.node("Split", [x.name, sizes], outputs=len(whole), axis=axis)
    names = (names,) if len(whole) == 1 else names
    for each in whole:
        if each.dynamic and axis in each.dynamic:
            raise Unsupported("the parts follow the size of the batch")
        each.scale, each.zero_point = x.scale, x.zero_point
    return tuple(names)


@lowering("getitem", "__getitem__")
def getitem(make: Maker, x: Wire, index: Any) -> str:
    """Part of a tensor: slices, single places, None and ``...``."""
    index = index if isinstance(index, tuple) else (index,)
    if any(not isinstance(each, int | slice | type(None) | type(...)) for each in index):
        raise Unsupported("only numbers, slices, None and ... are exported as an index")
    named = sum(each is not None and each is not ... for each in index)
    whole = (slice(None),) * (len(x.shape) - named)
    at = index.index(...) if ... in index else len(index)
    index = (*index[:at], *whole, *index[at + 1 :])
    starts, ends, axes, steps, axis = [], [], [], [], 0
    for each in index:
        if each is None:
            continue
        if isinstance(each, int):
            each = slice(each, each + 1 if each != -1 else None)
        if each != slice(None):
            start, end, step = each.start, each.stop, each.step
            starts.append(0 if start is None else int(start))
            ends.append(np.iinfo(np.int64).max if end is None else int(end))
            axes.append(axis)
            steps.append(1 if step is None else int(step))
        axis += 1
    name = x.name
    if axes:
        parts = [make.shape(*each) for each in (starts, ends, axes, steps)]
        name = make.node("Slice", [name, *parts])
    if any(each is None or isinstance(each, int) for each in index):
        return reshape(make, _part(x, name))
    return make.moved(name, x) if axes else make.moved(make.node("Identity", [name]), x)


def _part(x: Wire, name: str) -> Wire:
    """A wire of another name, whose axes are not those of the result."""
    return Wire(name, x.value, (), x.scale, x.zero_point)


@lowering("select")
def select(make: Maker, x: Wire, dim: int, index: int) -> str:
    """One place of an axis."""
    index = int(index) % x.shape[dim]
    name = make.node("Gather", [x.name, make.scalar("index", index, np.int64)], axis=int(dim))
    return make.moved(name, x)


@lowering("expand", "expand_as")
def expand(make: Maker, x: Wire, *unused: object) -> str:
    """Axes of length one repeated."""
    if make.out.dynamic:
        sizes = [1 if n in make.out.dynamic else size for n, size in enumerate(make.out.shape)]
        if any(n not in x.dynamic for n in make.out.dynamic):
            raise Unsupported("it repeats as often as the batch is long")
        return make.moved(make.node("Expand", [x.name, make.shape(*sizes)]), x)
    return make.moved(make.node("Expand", [x.name, make.shape(*make.out.shape)]), x)


@lowering("pad")
def pad(
    make: Maker, x: Wire, pad: Sequence[int], mode: str = "constant", value: Number | None = None
) -> str:
    """Elements around a tensor."""
    kinds = {"constant": "constant", "reflect": "reflect", "replicate": "edge", "circular": "wrap"}
    rank = len(x.shape)
    before, after = [0] * rank, [0] * rank
    for n in range(len(pad) // 2):
        before[rank - 1 - n], after[rank - 1 - n] = int(pad[2 * n]), int(pad[2 * n + 1])
    inputs = [make.real(x), make.shape(*before, *after)]
    if mode == "constant":
        inputs.append(make.scalar("value", value or 0))
    return make.finish(make.node("Pad", inputs, mode=kinds[mode]))


@lowering("channel_shuffle")
def channel_shuffle(make: Maker, x: Wire, groups: int) -> str:
    """Channels of the groups in turn."""
    size = list(x.shape)
    first = 0 if x.dynamic else size[0]
    split = make.shape(first, groups, size[1] // groups, *size[2:])
    name = make.node("Reshape", [x.name, split])
    name = make.node("Transpose", [name], perm=[0, 2, 1, *range(3, len(size) + 1)])
    return make.moved(make.node("Reshape", [name, make.shape(first, *size[1:])]), x)


@lowering(nn.ChannelShuffle)
def channel_shuffle_module(make: Maker, layer: Layer, x: Wire) -> str:
    """Channels of the groups in turn."""
    return channel_shuffle(make, x, layer.groups)


@lowering("pixel_shuffle")
def pixel_shuffle(make: Maker, x: Wire, upscale_factor: int) -> str:
    """Channels become pixels."""
    name = make.node("DepthToSpace", [make.real(x)], blocksize=int(upscale_factor), mode="CRD")
    return make.finish(name)


@lowering(nn.PixelShuffle)
def pixel_shuffle_module(make: Maker, layer: Layer, x: Wire) -> str:
    """Channels become pixels."""
    return pixel_shuffle(make, x, layer.upscale_factor)


@lowering("interpolate", "upsample", "upsample_nearest", "upsample_bilinear")
def interpolate(
    make: Maker,
    x: Wire,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    **unused: object,
) -> str:
    """Another size, by the nearest element or by weighing neighbours."""
    kinds = {"nearest": "nearest", "bilinear": "linear", "linear": "linear", "trilinear": "linear"}
    if mode not in kinds:
        raise Unsupported(f"mode={mode!r} is not exported")
    way = "align_corners" if align_corners else "half_pixel"
    scales = [1.0, 1.0, *(a / b for a, b in zip(make.out.shape[2:], x.shape[2:], strict=True))]
    if mode == "nearest":
        way = "asymmetric"
    name = make.node(
        "Resize",
        [make.real(x), "", make.constant("scales", np.asarray(scales, np.float32))],
        mode=kinds[mode],
        coordinate_transformation_mode=way,
        nearest_mode="floor" if mode == "nearest" else None,
    )
    return make.finish(name)


@lowering(nn.Upsample, nn.UpsamplingNearest2d, nn.UpsamplingBilinear2d)
def upsample_module(make: Maker, layer: Layer, x: Wire) -> str:
    """Another size."""
    return interpolate(make, x, mode=layer.mode, align_corners=layer.align_corners)
