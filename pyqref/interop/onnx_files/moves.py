"""Operators that move elements: integers stay on their grid, constants are moved at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import Tensor
from ...nn import functional as F
from ...nn import modules as nn
from ...tensor import cat, flatten
from .importer import Given, Importer, Made, Unsupported, importing
from .layers import tensor_of
from .source import Operator

__all__ = ["reshaped", "shape_of"]

_FAR = 2**31


def shape_of(x: Tensor) -> Tensor:
    """The lengths of the axes, int64."""
    return tensor_of(tuple(x.shape), np.int64)


def reshaped(x: Tensor, shape: Any, zero_copies: bool = True) -> Tensor:
    """Reshape by lengths that are a tensor, or a list: 0 copies the length of the input."""
    sizes = [int(each) for each in (shape if isinstance(shape, tuple | list) else shape.tolist())]
    if zero_copies:
        sizes = [x.shape[n] if size == 0 else size for n, size in enumerate(sizes)]
    return x.reshape(sizes)


def _axes(importer: Importer, operator: Operator, given: tuple[Given, ...]) -> list[int] | None:
    """Axes from an attribute, or from a constant input."""
    if "axes" in operator.attributes:
        return [int(each) for each in operator.attributes["axes"]]
    if not given or (given[0].array is None and given[0].node is None):
        return None
    return [int(each) for each in importer.constant(given[0], "axes").reshape(-1)]


@importing("Reshape")
def reshape(importer: Importer, operator: Operator, x: Given, shape: Given) -> Made:
    """Another shape."""
    copies = not operator.attributes.get("allowzero")
    if x.array is not None and shape.array is not None:
        return Given(array=np.reshape(x.array, shape.array))
    if shape.array is not None:
        sizes = [int(each) for each in np.asarray(shape.array)]
        if 0 not in sizes or not copies:
            node = importer.method("reshape", importer.node(x), sizes)
        elif sizes[0] == 0 and 0 not in sizes[1:]:
            node = importer.method("size", importer.node(x), 0)
            node = importer.method("reshape", importer.node(x), [node, *sizes[1:]])
        else:
            node = importer.call(reshaped, importer.node(x), sizes)
    else:
        node = importer.call(reshaped, importer.node(x), importer.node(shape), copies)
    return Given(node, grid=x.grid)


@importing("Shape")
def shape(importer: Importer, operator: Operator, x: Given) -> Made:
    """Lengths of the axes."""
    if operator.attributes.get("start") or "end" in operator.attributes:
        raise Unsupported("start and end")
    return importer.call(shape_of, importer.node(x))


@importing("Flatten")
def flat(importer: Importer, operator: Operator, x: Given) -> Made:
    """All axes from one on as one."""
    axis = operator.attributes.get("axis", 1)
    if axis != 1:
        raise Unsupported(f"axis={axis}")
    return Given(importer.call(flatten, importer.node(x), 1), grid=x.grid)


@importing("Transpose")
def transpose(importer: Importer, operator: Operator, x: Given) -> Made:
    """Axes in another order."""
    order = operator.attributes.get("perm")
    if x.array is not None:
        made = Given(array=np.transpose(x.array, order), grid=x.grid)
        if x.grid is not None and x.integers is not None:
            rank = np.ndim(x.array)
            order = list(range(rank))[::-1] if order is None else order
            axis = order.index(x.grid.axis % rank)
            made.grid = x.grid._replace(axis=axis)
            made.integers = np.transpose(x.integers, order)
        return made
    if order is None:
        order = list(range(importer.rank(operator.inputs[0])))[::-1]
    return Given(importer.method("permute", importer.node(x), list(order)), grid=x.grid)


@importing("Concat")
def concat(importer: Importer, operator: Operator, *given: Given) -> Made:
    """Tensors side by side."""
    axis = operator.attributes["axis"]
    if all(each.array is not None for each in given):
        return Given(array=np.concatenate([each.array for each in given], axis))
    alike = len({None if each.grid is None else each.grid.key for each in given}) == 1
    nodes = [importer.node(each) if alike else importer.stored(each) for each in given]
    return Given(importer.call(cat, nodes, axis), grid=given[0].grid if alike else None)


@importing("Split")
def split(importer: Importer, operator: Operator, x: Given, *sizes: Given) -> Made:
    """Parts of a tensor."""
    axis = operator.attributes.get("axis", 0)
    count = len(operator.outputs)
    if sizes and sizes[0].array is not None:
        lengths: Any = [int(each) for each in importer.constant(sizes[0], "the lengths")]
    elif "split" in operator.attributes:
        lengths = list(operator.attributes["split"])
    else:
        node = importer.method("chunk", importer.node(x), count, axis)
        return [Given(importer.call(_item, node, n), grid=x.grid) for n in range(count)]
    node = importer.method("split", importer.node(x), lengths, axis)
    return [Given(importer.call(_item, node, n), grid=x.grid) for n in range(count)]


def _item(values: Any, n: int) -> Any:
    """Return one of several results."""
    return values[n]


@importing("Slice")
def sliced(importer: Importer, operator: Operator, x: Given, *parts: Given) -> Made:
    """Part of each axis."""
    names = ("starts", "ends", "axes", "steps")
    lists: list[Any] = [operator.attributes.get(name) for name in names]
    for n, each in enumerate(parts):
        if each.array is not None or each.node is not None:
            lists[n] = [int(one) for one in importer.constant(each, f"a list of {names[n]}")]
    starts, ends, axes, steps = lists
    axes = list(range(len(starts))) if axes is None else axes
    steps = [1] * len(starts) if steps is None else steps
    rank = importer.rank(operator.inputs[0]) if min(axes, default=0) < 0 else max(axes) + 1
    index: list[Any] = [slice(None)] * rank
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        if step < 0:
            raise Unsupported("negative steps")
        index[axis] = slice(
            start or None, None if end >= _FAR else end, None if step == 1 else step
        )
    if x.array is not None:
        return Given(array=np.asarray(x.array)[tuple(index)])
    return Given(importer.method("__getitem__", importer.node(x), tuple(index)), grid=x.grid)


@importing("Gather")
def gather(importer: Importer, operator: Operator, x: Given, index: Given) -> Made:
    """Places of an axis: rows of a table are an embedding."""
    axis = operator.attributes.get("axis", 0)
    if x.array is not None and index.array is not None:
        return Given(array=np.take(x.array, index.array, axis))
    if index.array is not None and np.ndim(index.array) == 0:
        node = importer.method("select", importer.node(x), axis, int(index.array))
        return Given(node, grid=x.grid)
    if index.array is not None and np.ndim(index.array) == 1:
        nodes = importer.node(x), axis, importer.node(index)
        return Given(importer.method("index_select", *nodes), grid=x.grid)
    if x.array is None or axis != 0:
        raise Unsupported("an index that is computed while the model runs")
    table = np.asarray(x.array)
    if table.ndim == 2 and table.dtype == np.float32:
        layer = nn.Embedding(*table.shape)
        layer.weight.data = tensor_of(table)
        return importer.module(layer, importer.node(index))
    return importer.call(_rows, importer.node(x), importer.node(index))


def _rows(table: Any, index: Any) -> Any:
    """Rows of a table of any numbers."""
    return table[index]


@importing("Squeeze", "Unsqueeze")
def squeeze(importer: Importer, operator: Operator, x: Given, *axes: Given) -> Made:
    """Axes of length one taken away, or put in."""
    dims = _axes(importer, operator, axes)
    if dims is None:
        raise Unsupported("without axes")
    if x.array is not None:
        function = np.squeeze if operator.kind == "Squeeze" else np.expand_dims
        return Given(array=function(x.array, tuple(dims)))
    node = importer.node(x)
    if operator.kind == "Squeeze":
        for axis in sorted(dims, reverse=True):
            node = importer.method("squeeze", node, axis)
    else:
        for axis in sorted(dims):
            node = importer.method("unsqueeze", node, axis)
    return Given(node, grid=x.grid)


@importing("Expand")
def expand(importer: Importer, operator: Operator, x: Given, shape: Given) -> Made:
    """Axes of length one repeated."""
    sizes = [int(each) for each in importer.constant(shape, "the shape")]
    sizes = [-1 if each == 1 else each for each in sizes]
    return Given(importer.method("expand", importer.node(x), *sizes), grid=x.grid)


@importing("Pad")
def pad(importer: Importer, operator: Operator, x: Given, *parts: Given) -> Made:
    """Elements around a tensor."""
    modes = {"constant": "constant", "reflect": "reflect", "edge": "replicate", "wrap": "circular"}
    values = operator.attributes
    pads = values.get("pads") or importer.constant(parts[0], "the widths").tolist()
    value = values.get("value", 0.0)
    if len(parts) > 1 and parts[1].array is not None:
        value = np.asarray(parts[1].array).item()
    if x.grid is not None or len(parts) > 2:
        raise Unsupported("integers, or a list of axes")
    rank = len(pads) // 2
    pairs = [(int(pads[n]), int(pads[n + rank])) for n in range(rank)]
    while len(pairs) > 1 and pairs[0] == (0, 0):
        pairs = pairs[1:]
    flat = [each for pair in reversed(pairs) for each in pair]
    return importer.call(
        F.pad, importer.node(x), flat, modes[values.get("mode", "constant")], value
    )


@importing("Resize")
def resize(importer: Importer, operator: Operator, x: Given, *parts: Given) -> Made:
    """Another size, by the nearest element or by weighing neighbours."""
    values = operator.attributes
    mode = values.get("mode", "nearest")
    way = values.get("coordinate_transformation_mode", "half_pixel")
    known = [each.array for each in parts]
    scales = known[1] if len(known) > 1 and np.size(known[1]) > 1 else None
    if scales is None or np.ndim(scales) != 1 or list(scales[:2]) != [1, 1]:
        raise Unsupported("sizes in the place of scales")
    factor = [float(each) for each in scales[2:]]
    if mode == "nearest" and way == "asymmetric" and values.get("nearest_mode") == "floor":
        return importer.call(F.interpolate, importer.node(x), None, factor, "nearest")
    kinds = {3: "linear", 4: "bilinear", 5: "trilinear"}
    if mode == "linear" and way in ("half_pixel", "align_corners"):
        kind, corners = kinds[len(scales)], way == "align_corners"
        return importer.call(F.interpolate, importer.node(x), None, factor, kind, corners)
    raise Unsupported(f"mode={mode!r}, coordinate_transformation_mode={way!r}")


@importing("DepthToSpace")
def depth_to_space(importer: Importer, operator: Operator, x: Given) -> Made:
    """Channels become pixels."""
    if operator.attributes.get("mode", "DCR") != "CRD":
        raise Unsupported("mode='DCR'")
    return importer.module(nn.PixelShuffle(operator.attributes["blocksize"]), importer.node(x))
