"""A quantized tensor in a notebook: the real numbers, the integers, what ties them together."""

from __future__ import annotations

import math

import numpy as np

from ..._kernels.layout import PART
from ..._kernels.parts import parts
from ..._typing import Array, Tensor
from ..html import Markup, bars, block, element, faint, number, span, table
from .quantizer import PerChannelQuantizer, quant_range

__all__ = ["quantized_html"]

SMALL = 64
"""Elements up to which every one is shown."""

SMALL_AXIS = 16
"""Columns, and channels, up to which every one is shown."""

BARS = 64
"""Bars of the histogram of a large tensor, at most."""

SPAN = 1 << 18
"""Range of integers, smallest to largest, up to which each one is counted."""


def quantized_html(tensor: Tensor) -> str:
    """A table with every element of a small tensor, a histogram of the integers of a large one."""
    quantizer = tensor._quantizer
    integers = tensor._array
    shape = " × ".join(str(size) for size in integers.shape) or "one number"
    facts = [shape, f"{tensor.dtype!r}", quantizer.qscheme._name]
    below = []
    if isinstance(quantizer, PerChannelQuantizer):
        facts.append(f"{len(quantizer.scales)} channels along axis {quantizer.axis}")
        below.append(channels(quantizer))
    else:
        facts.append(f"scale {quantizer.scale:.6g}")
        facts.append(f"zero point {quantizer.zero_point}")
    if integers.size == 0:
        below.append(element("div", faint("no elements")))
    elif integers.ndim <= 2 and integers.size <= SMALL and columns(integers) <= SMALL_AXIS:
        below.append(elements(tensor, integers))
    else:
        below.append(summary(tensor, integers))
    return block(type(tensor).__name__, facts, *below)


def elements(tensor: Tensor, integers: Array) -> Markup:
    """Each element: the real number, and the integer that stands for it."""
    shape = (-1, columns(integers))
    values = np.asarray(tensor.dequantize()).reshape(shape)
    pairs = zip(values.tolist(), integers.reshape(shape).tolist(), strict=True)
    rows = [
        [
            element("div", number(value), element("div", faint(q)))
            for value, q in zip(*pair, strict=True)
        ]
        for pair in pairs
    ]
    note = element("div", faint("real number, and below it the integer that stands for it"))
    return element("div", table(rows), note)


def columns(integers: Array) -> int:
    """Elements in one row of the table."""
    return integers.shape[-1] if integers.ndim else 1


def summary(tensor: Tensor, integers: Array) -> Markup:
    """Ranges, how many elements lie at the ends of the integers, and a histogram.

    Some elements at a time. Different integers are counted where they are not too far apart.
    """
    low, high = quant_range(tensor.dtype)
    first, last = int(integers.min()), int(integers.max())
    seen = np.zeros(last - first + 1 if last - first < SPAN else 0, np.bool_)
    bins = min(BARS, last - first + 1)
    counts = np.zeros(bins, np.int64)
    least, most, at_ends = math.inf, -math.inf, 0
    for at in parts(integers, most=PART // 4):
        some = integers[at]
        values = tensor._quantizer.of_part(at).dequantize(some)
        least, most = min(least, float(values.min())), max(most, float(values.max()))
        at_ends += int(np.count_nonzero((some == low) | (some == high)))
        counts += np.histogram(some, bins=bins, range=(first - 0.5, last + 0.5))[0]
        if seen.size:
            seen[some.astype(np.int64) - first] = True
    rows = [
        ("real numbers", span(least, most)),
        ("integers", f"{first} … {last}, of {low} … {high}"),
        ("different integers", f"{np.count_nonzero(seen):,}"),
        ("at an end of the range", f"{at_ends / integers.size:.2%}"),
    ]
    rows = [row for row in rows if seen.size or row[0] != "different integers"]
    what = f"histogram of the integers, {first} to {last}"
    return element("div", table(rows, left=1), bars(counts.tolist(), str(first), str(last), what))


def channels(quantizer: PerChannelQuantizer) -> Markup:
    """Scale and zero point of each channel, or the extremes of many."""
    scales, zero_points = quantizer.scales, quantizer.zero_points
    if len(scales) <= SMALL_AXIS:
        rows = [
            ["channel", *range(len(scales))],
            ["scale", *[number(scale) for scale in scales.tolist()]],
            ["zero point", *[f"{point:g}" for point in zero_points.tolist()]],
        ]
        return table(rows, left=1)
    rows = [
        ["scales", span(scales.min(), scales.max())],
        ["zero points", span(zero_points.min(), zero_points.max())],
    ]
    return table(rows, left=1)
