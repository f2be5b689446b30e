"""Pooling and resizing of quantized images against loops over every position."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np
import pytest
from formulas.exact import clamp, f32, fractions, rational, rne

from pyqref.numerics.interpolate import bilinear, nearest, nearest_source, source_position
from pyqref.numerics.pooling import (
    adaptive_avg_pool,
    avg_pool,
    max_pool,
    pooled_size,
    quantized_mean,
)

RNG = np.random.default_rng(0)
IMAGE = RNG.integers(0, 256, (2, 2, 7, 6)).astype(np.uint8)
WINDOWS = [
    # kernel, stride, padding, ceil_mode
    ([2, 2], [2, 2], [0, 0], False),
    ([3, 2], [2, 1], [1, 1], False),
    ([3, 3], [2, 2], [1, 1], True),
    ([2, 3], [3, 3], [0, 1], True),
]


def exact_mean(total: int, count: int, zero_point: int, engine: str, scale: float = 1.0) -> int:
    """The rounded mean as the engine works it out."""
    if engine == "qnnpack":
        multiplier = f32(f32(scale) / f32(f32(scale) * count))
        return clamp(rne(f32(f32(total) * multiplier)) + zero_point, 0, 255)
    return clamp(rne(f32(f32(f32(total) / count) + zero_point)), 0, 255)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 6, 9, 12, 49])
@pytest.mark.parametrize("scale", [1.0, 0.1, 0.3])
def test_eq_quantized_mean__ties(engine: str, count: int, scale: float) -> None:
    """Fbgemm adds the zero point before rounding, qnnpack after; its multiplier has the scale."""
    totals = np.arange(-300, 300)
    expected = [exact_mean(t, count, 7, engine, scale) for t in totals.tolist()]
    ours = quantized_mean(totals, count, 7, 0, 255, np.uint8, engine, scale)
    assert expected == ours.tolist()


@pytest.mark.parametrize("size", range(1, 9))
@pytest.mark.parametrize("ceil_mode", [False, True])
def test_eq_pooled_size__counted(size: int, ceil_mode: bool) -> None:
    """There are as many windows as fit; with ceil_mode one more, which sticks out behind."""
    for kernel, stride, padding in product((1, 2, 3), (1, 2, 3), (0, 1)):
        if padding > kernel // 2 or size + 2 * padding < kernel:
            continue
        starts = range(0, size + 2 * padding, stride)
        whole = [s for s in starts if s + kernel <= size + 2 * padding]
        late = [s for s in starts if s not in whole and s < size + padding]
        # a late window is used if it begins before the far padding and the last whole
        # one leaves something uncovered
        covered = whole[-1] + kernel >= size + 2 * padding
        expected = len(whole) + (1 if ceil_mode and late and not covered else 0)
        assert expected == pooled_size(size, kernel, stride, padding, 1, ceil_mode)


def positions(o, kernel, stride, padding, dilation=(1, 1)):
    """The positions of one window, also those outside the image."""
    return [
        tuple(
            a * s + t * d - p for a, s, t, d, p in zip(o, stride, k, dilation, padding, strict=True)
        )
        for k in product(*map(range, kernel))
    ]


def inside(at, margin=(0, 0)):
    """Return True if a position lies in the image, or at most a margin outside of it."""
    return all(-m <= a < i + m for a, i, m in zip(at, IMAGE.shape[2:], margin, strict=True))


@pytest.mark.parametrize(("kernel", "stride", "padding", "ceil_mode"), WINDOWS)
@pytest.mark.parametrize("dilation", [[1, 1], [2, 1]])
def test_eq_quantized_max_pool__loops(kernel, stride, padding, ceil_mode, dilation) -> None:
    """The largest integer inside each window."""
    y = max_pool(IMAGE, kernel, stride, padding, dilation, ceil_mode)
    for b, c, *o in product(*map(range, y.shape)):
        ats = positions(o, kernel, stride, padding, dilation)
        assert max(IMAGE[(b, c, *at)] for at in ats if inside(at)) == y[(b, c, *o)]


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize(("include", "divisor"), [(True, None), (False, None), (True, 5)])
@pytest.mark.parametrize(("kernel", "stride", "padding", "ceil_mode"), WINDOWS)
def test_eq_quantized_avg_pool__loops(
    kernel, stride, padding, ceil_mode, include, divisor, engine
) -> None:
    """Sum of the inside, over the number of positions that count."""
    y = avg_pool(IMAGE, 9, kernel, stride, padding, ceil_mode, include, divisor, engine)
    rule = "fbgemm" if ceil_mode else engine
    for b, c, *o in product(*map(range, y.shape)):
        ats = positions(o, kernel, stride, padding)
        total = sum(int(IMAGE[(b, c, *at)]) - 9 for at in ats if inside(at))
        margin = padding if include else (0, 0)
        count = divisor or sum(inside(at, margin) for at in ats)
        assert exact_mean(total, count, 9, rule) == y[(b, c, *o)]


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("size", [(1, 1), (7, 3), (3, 4), (2, 6), (9, 8)])
def test_eq_quantized_adaptive_avg_pool__loops(size: tuple[int, int], engine: str) -> None:
    """Windows from floor(o i / n) to ceil((o + 1) i / n)."""
    y = adaptive_avg_pool(IMAGE, 9, size, engine)
    assert (2, 2, *size) == y.shape
    even = all(i % n == 0 for i, n in zip(IMAGE.shape[2:], size, strict=True))
    for b, c, *o in product(*map(range, y.shape)):
        part = IMAGE[b, c]
        for axis, (index, n) in enumerate(zip(o, size, strict=True)):
            i = IMAGE.shape[2 + axis]
            first, last = floor(Fraction(index * i, n)), ceil(Fraction((index + 1) * i, n))
            part = part.take(range(first, last), axis=axis)
        total = sum(int(v) - 9 for v in part.ravel())
        rule = engine if even else "fbgemm"
        assert exact_mean(total, part.size, 9, rule) == y[(b, c, *o)]


def test_eq_quantized_avg_pool__three_dimensions() -> None:
    """In three dimensions an image of one value keeps that value."""
    image = np.full((1, 1, 3, 4, 5), 77, np.uint8)
    y = avg_pool(image, 9, [2, 2, 2], [1, 2, 2], [0, 0, 0])
    assert y.shape == (1, 1, 2, 2, 2)
    assert {77} == set(y.ravel().tolist())


@pytest.mark.parametrize(("size", "outputs"), [(1, 5), (4, 4), (3, 7), (7, 3), (10, 1)])
@pytest.mark.parametrize("exact", [False, True])
def test_eq_nearest_source__float32(size: int, outputs: int, exact: bool) -> None:
    """The floor of a float32 product, of the edges of outputs or of their middles."""
    ratio, middle = f32(Fraction(size, outputs)), Fraction(int(exact), 2)
    expected = [min(floor(f32((o + middle) * ratio)), size - 1) for o in range(outputs)]
    assert expected == nearest_source(size, outputs, exact=exact).tolist()


def test_eq_nearest_source__given_factor() -> None:
    """A factor of the user is used itself, not the ratio of the sizes."""
    expected = [min(floor(f32(o * f32(1 / rational(2.3)))), 3) for o in range(9)]
    assert expected == nearest_source(4, 9, 2.3).tolist()


def test_eq_nearest_source__last_input() -> None:
    """Outputs that a factor puts beyond the inputs have the last one alone."""
    assert [0, 2, 3, 3, 3] == nearest_source(4, 5, 0.5).tolist()
    first, second, _ = source_position(4, 5, False, 0.5)
    assert ([0, 2, 3, 3, 3], [1, 3, 3, 3, 3]) == (first.tolist(), second.tolist())


def test_eq_bilinear_source__given_factor() -> None:
    """A factor of the user is used itself, unless corners are aligned; one output is the first."""
    ratio = f32(1 / rational(2.3))
    places = [max(f32(f32((o + Fraction(1, 2)) * ratio) - Fraction(1, 2)), 0) for o in range(9)]
    first, _, share = source_position(4, 9, False, 2.3)
    assert [min(floor(each), 3) for each in places] == first.tolist()
    assert [f32(p - i) for p, i in zip(places, first.tolist(), strict=True)] == fractions(share)
    aligned = source_position(4, 9, True, 2.3)
    assert [v.tolist() for v in source_position(4, 9, True)] == [v.tolist() for v in aligned]
    assert [[0], [1], [0.0]] == [v.tolist() for v in source_position(4, 1, True)]
    assert [[0, 2], [1, 2], [0, 0]] == [v.tolist() for v in source_position(3, 2, True)]


def test_eq_quantized_nearest__copies() -> None:
    """Each axis by itself, with channels first or last in memory, where they stay."""
    expected = IMAGE[:, :, nearest_source(7, 3)][..., nearest_source(6, 13)]
    y = nearest(IMAGE, [3, 13])
    assert expected.tolist() == y.tolist()
    assert y.flags.c_contiguous
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(IMAGE, 1, -1)), -1, 1)
    y = nearest(last, [3, 13])
    assert expected.tolist() == y.tolist()
    assert np.moveaxis(y, 1, -1).flags.c_contiguous
    lines = IMAGE[:, :, 0].swapaxes(0, 1)
    y = nearest(lines, [13])
    assert lines[..., nearest_source(6, 13)].tolist() == y.tolist()
    assert not np.moveaxis(y, 1, -1).flags.c_contiguous


def test_eq_quantized_nearest__factors() -> None:
    """One factor for each axis, and no fewer."""
    expected = IMAGE[:, :, nearest_source(7, 9, 1.3)][..., nearest_source(6, 9, 1.6)]
    assert expected.tolist() == nearest(IMAGE, [9, 9], [1.3, 1.6]).tolist()
    with pytest.raises(ValueError, match="zip"):
        nearest(IMAGE, [9, 9], [1.3])


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize(("size", "outputs"), [(1, 5), (4, 4), (3, 7), (7, 3), (10, 1)])
def test_eq_bilinear_source__float32(size: int, outputs: int, align: bool) -> None:
    """Each output lies between the two inputs that the formula gives."""
    first, second, fraction = source_position(size, outputs, align)
    for o in range(outputs):
        if align:
            ratio = f32(Fraction(size - 1, outputs - 1)) if outputs > 1 else Fraction(0)
            position = f32(o * ratio)
        else:
            scaled = f32((o + Fraction(1, 2)) * f32(Fraction(size, outputs)))
            position = max(f32(scaled - Fraction(1, 2)), Fraction(0))
        start = min(floor(position), size - 1)
        assert (start, min(start + 1, size - 1)) == (first[o], second[o])
        assert f32(position - start) == rational(fraction[o])


@pytest.mark.parametrize("align", [False, True])
def test_eq_quantized_bilinear__float32(align: bool) -> None:
    """Four neighbours, in the order of the formula, each operation rounded."""
    zero_point, size = 9, (5, 11)
    y = bilinear(IMAGE, zero_point, size, align)
    rows = list(zip(*(v.tolist() for v in source_position(7, 5, align)), strict=True))
    columns = list(zip(*(v.tolist() for v in source_position(6, 11, align)), strict=True))
    for (o, (i, j, down)), (p, (k, m, along)) in product(enumerate(rows), enumerate(columns)):
        d, a = rational(down), rational(along)

        def across(row: int, k: int = k, m: int = m, a: Fraction = a) -> Fraction:
            left, right = int(IMAGE[1, 0, row, k]), int(IMAGE[1, 0, row, m])
            return f32(f32(f32(1 - a) * left) + f32(a * right))

        value = f32(f32(f32(1 - d) * across(i)) + f32(d * across(j)))
        shifted = f32(f32(value - zero_point) + zero_point)
        assert clamp(rne(shifted), 0, 255) == y[1, 0, o, p]
