"""Windows: pooling, means, interpolation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...numerics.interpolate import source_position
from ..draft import Draft, Picture, explains
from ..elsewhere import averaged_elsewhere
from ..record import Value
from ..steps import Operand
from .grids import on_grid
from .moves import nearest_element, reduced
from .requantization import round_and_clamp

__all__ = ["mean_of_integers"]


def _window(
    at: tuple[int, ...], size: tuple[int, ...], spans: list[np.ndarray]
) -> tuple[list[np.ndarray], np.ndarray]:
    """Places of a window inside of the image, and which of it lie inside."""
    inside = np.ones([len(each) for each in spans], bool)
    for axis, (span, length) in enumerate(zip(spans, size, strict=True)):
        fits = (span >= 0) & (span < length)
        inside &= fits.reshape([-1 if each == axis else 1 for each in range(len(spans))])
    grid = np.meshgrid(*spans, indexing="ij")
    return [each[inside] for each in grid], inside


def _places(shape: tuple[int, ...], front: tuple[int, ...], places: list[np.ndarray]) -> np.ndarray:
    """Positions in the flattened input of places of one image and channel."""
    count = places[0].size
    return np.ravel_multi_index([*(np.full(count, each) for each in front), *places], shape)


def _show(draft: Draft, values: Any, inside: np.ndarray, zero_point: int) -> None:
    inputs = np.zeros((1, *inside.shape), np.int64)
    inputs[0][inside] = np.asarray(values).astype(np.int64) - zero_point
    draft.picture = Picture(inputs, np.ones_like(inputs), ~inside[None])


@explains("MaxPool")
def max_pool(draft: Draft) -> None:
    """The largest integer of the window."""
    given = draft.record.arguments
    x, kernel = given["x"], given["kernel"]
    front, at = draft.index[: -len(kernel)], draft.index[-len(kernel) :]
    spans = [
        o * step - pad + np.arange(k) * dilation
        for o, k, step, pad, dilation in zip(
            at, kernel, given["stride"], given["padding"], given["dilation"], strict=True
        )
    ]
    places, inside = _window(at, x.shape[-len(kernel) :], spans)
    values = draft.elements("x", x, _places(x.shape, front, places))
    q = draft.steps.add(
        "largest of the window", "largest", values, symbol="q", label="eq-quantized-max-pool"
    )
    winner = int(np.argmax(values.value))
    place = [*front, *(int(each[winner]) for each in places)]
    draft.steps.decide(f"of {np.size(values.value)} elements that at {place}")
    _show(draft, values.value, inside, x.zero_point)
    draft.dequantized(q, draft.output)


def mean_of_integers(
    draft: Draft, values: Operand, x: Value, count: int, engine: str, label: str, whole: bool
) -> None:
    """The integer of the mean of ``count`` elements."""
    steps, out = draft.steps, draft.output
    taps = values.value if draft.picture is None else draft.picture.inputs + x.zero_point
    draft.elsewhere = averaged_elsewhere(taps, count, x, whole)
    z = Operand("z", x.zero_point)
    total = steps.add("sum less zero points", "total", values, z, symbol="S")
    single = steps.add("as float32", "single", total, symbol="f")
    n = Operand("n", np.float32(count))
    limits = np.iinfo(out.array.dtype)
    ends = int(limits.min), int(limits.max)
    if engine == "qnnpack":
        s = steps.single("scale", "s", x.scale)
        unit = steps.add("scale of the sum", "times32", s, n, symbol="u")
        multiplier = steps.add("multiplier", "over32", s, unit, symbol="M")
        value = steps.add("mean in steps", "times32", single, multiplier, symbol="v")
        q = round_and_clamp(draft, value, x.zero_point, *ends, label)
    else:
        value = steps.add("mean in steps", "over32", single, n, symbol="m")
        z32 = Operand("z", np.float32(x.zero_point))
        shifted = steps.add("zero point added", "plus32", value, z32, symbol="v")
        rounded = steps.add("rounded", "half even", shifted, symbol="r", label="eq-round-half-even")
        bounds = Operand("low", ends[0]), Operand("high", ends[1])
        q = steps.add("clamped", "clamp", rounded, *bounds, symbol="q", label=label)
    draft.dequantized(q, out)


@explains("AvgPool")
def avg_pool(draft: Draft) -> None:
    """The rounded mean of the window."""
    given = draft.record.arguments
    x, kernel = given["x"], given["kernel"]
    spatial = len(kernel)
    front, at = draft.index[:-spatial], draft.index[-spatial:]
    size = x.shape[-spatial:]
    padding = given["padding"]
    spans = [
        o * step - pad + np.arange(k)
        for o, k, step, pad in zip(at, kernel, given["stride"], padding, strict=True)
    ]
    places, inside = _window(at, size, spans)
    values = draft.elements("x", x, _places(x.shape, front, places))
    if given["divisor_override"] is not None:
        count = given["divisor_override"]
    elif given["count_include_pad"]:
        counted = [
            int(((span >= -pad) & (span < length + pad)).sum())
            for span, length, pad in zip(spans, size, padding, strict=True)
        ]
        count = math.prod(counted)
    else:
        count = int(inside.sum())
    engine = draft.engine if spatial < 3 and not given["ceil_mode"] else "fbgemm"
    _show(draft, values.value, inside, x.zero_point)
    whole = tuple(kernel) == size and not any(padding) and given["divisor_override"] is None
    mean_of_integers(draft, values, x, count, engine, "eq-quantized-avg-pool", whole)


def _adaptive(
    draft: Draft, x: Value, sizes: tuple[int, ...], index: tuple[int, ...], engine: str
) -> None:
    spatial = len(sizes)
    front, at = index[:-spatial], index[-spatial:]
    lengths = x.shape[-spatial:]
    spans = [
        np.arange(o * i // n, -(-(o + 1) * i // n))
        for o, i, n in zip(at, lengths, sizes, strict=True)
    ]
    even = all(i % n == 0 for i, n in zip(lengths, sizes, strict=True))
    places, inside = _window(at, lengths, spans)
    values = draft.elements("x", x, _places(x.shape, front, places))
    _show(draft, values.value, inside, x.zero_point)
    label = "eq-quantized-adaptive-avg-pool"
    count = int(inside.sum())
    whole = all(size == 1 for size in sizes)
    mean_of_integers(draft, values, x, count, engine if even else "fbgemm", label, whole)


@explains("AdaptiveAvgPool")
def adaptive_avg_pool(draft: Draft) -> None:
    """The rounded mean of a window that is laid so that a size comes out."""
    given = draft.record.arguments
    sizes = tuple(given["output_size"])
    engine = draft.engine if len(sizes) < 3 else "fbgemm"
    _adaptive(draft, given["x"], sizes, draft.index, engine)


@explains("Mean")
def mean(draft: Draft) -> None:
    """Over the last axes in integers, over others in real numbers."""
    given = draft.record.arguments
    x, axes, keepdim = given["tensor"], tuple(given["axes"]), bool(given["keepdim"])
    ndim, array = len(x.shape), x.array
    places = reduced(x, draft.index, axes, keepdim)
    values = draft.elements("x", x, places)
    last = axes == tuple(range(ndim - len(axes), ndim))
    if last and array.dtype.itemsize == 1 and array.size:
        images = ndim == 4 and len(axes) == 2
        engine = draft.engine if images and array.dtype == np.uint8 else "fbgemm"
        mean_of_integers(draft, values, x, places.size, engine, "eq-quantized-mean", True)
        return
    _mean_of_reals(draft, x, axes, keepdim)


def _mean_of_reals(draft: Draft, x: Value, axes: Any, keepdim: bool) -> None:
    """The sum of float32 has an order of its own: it is taken as the layer computes it."""
    steps = draft.steps
    sums = x.quantizer.dequantize(x.array).sum(axis=axes, keepdims=keepdim)
    count = math.prod(x.shape[axis] for axis in axes)
    total = Operand("Σ y", np.float32(np.asarray(sums)[draft.index]))
    n = Operand("n", np.float32(count))
    value = steps.add("mean of real numbers", "over32", total, n, symbol="m")
    draft.notes.append("the sum of float32 numbers is taken in the order of the layer")
    draft.dequantized(on_grid(draft, value, draft.output), draft.output)


@explains("Interpolate")
def interpolate(draft: Draft) -> None:
    """Copy the nearest element, or weigh four."""
    given = draft.record.arguments
    if given["mode"] != "bilinear":
        nearest_element(draft, given["mode"] == "nearest-exact")
        return
    x, steps = given["x"], draft.steps
    front, at = draft.index[:2], draft.index[2:]
    factors = given["factors"] or (None, None)
    ends, shares = [], []
    for axis in range(2):
        first, second, share = source_position(
            x.shape[2 + axis], given["size"][axis], given["align_corners"], factors[axis]
        )
        place = at[axis]
        ends.append((int(first[place]), int(second[place])))
        shares.append(np.float32(share[place]))
    one = Operand("1", np.float32(1))
    down, along = (Operand(f"l_{name}", value) for name, value in zip("hw", shares, strict=True))
    up = steps.add("other share", "minus32", one, down, symbol="1-l_h")
    back = steps.add("other share", "minus32", one, along, symbol="1-l_w")
    rows = []
    for row, top in enumerate(ends[0]):
        parts = []
        for column, left in enumerate(ends[1]):
            q = draft.element(f"x_{row}{column}", x, (*front, top, left))
            single = steps.add("as float32", "single", q, symbol=f"f_{row}{column}")
            weight = along if column else back
            parts.append(steps.add("weighed", "times32", weight, single, symbol=f"p_{row}{column}"))
        across = steps.add("across", "plus32", *parts, symbol=f"a_{row}")
        weight = down if row else up
        rows.append(steps.add("weighed", "times32", weight, across, symbol=f"h_{row}"))
    value = steps.add("interpolated", "plus32", *rows, symbol="v", label="eq-quantized-bilinear")
    z = Operand("z", np.float32(x.zero_point))
    centred = steps.add("less the zero point", "minus32", value, z, symbol="c")
    shifted = steps.add("zero point added", "plus32", centred, z, symbol="p")
    rounded = steps.add("rounded", "half even", shifted, symbol="r", label="eq-round-half-even")
    limits = np.iinfo(x.array.dtype)
    bounds = Operand("low", int(limits.min)), Operand("high", int(limits.max))
    q = steps.add("clamped", "clamp", rounded, *bounds, symbol="q", label="eq-saturate")
    draft.dequantized(q, draft.output)
