"""Windows over images, and the places that meet the same taps of them: place by place."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from pyqref.numerics import windows as module
from pyqref.numerics.phases import filters_of_phase, phases, places_of_phase, windows_of_phase
from pyqref.numerics.windows import (
    Windows,
    gradient_of_largest,
    gradient_of_means,
    in_order,
    inside,
    largest,
    pad,
    pad_spatial,
    taps_within,
)

RNG = np.random.default_rng(3)
#: Length, kernel, stride, dilation, padding before and after: around each other's sizes.
LINES = [
    (length, kernel, stride, dilation, pair)
    for length, kernel, stride, dilation, pair in itertools.product(
        (1, 2, 5, 8), (1, 2, 3), (1, 2, 3, 4), (1, 2, 3), ((0, 0), (1, 1), (2, 0), (0, 3))
    )
    if length + sum(pair) > dilation * (kernel - 1)
]
PLANE = Windows((2, 3), (2, 1), (1, 2), ((1, 0), (2, 3)))


def starts(length: int, kernel: int, stride: int, dilation: int, pair: tuple[int, int]) -> range:
    """Where windows begin, counted from the first element of the array."""
    return range(-pair[0], length + pair[1] - dilation * (kernel - 1), stride)


def line(kernel: int, stride: int, dilation: int, pair: tuple[int, int]) -> Windows:
    return Windows((kernel,), (stride,), (dilation,), (pair,))


def test_windows__lie_where_they_say() -> None:
    """Sizes and positions are those of windows that are moved by hand over padded lines."""
    for length, *rest in LINES:
        windows, begins = line(*rest), starts(length, *rest)
        kernel, _, dilation, (before, after) = rest
        assert (len(begins),) == windows.output_size((length,))
        assert (length + before + after,) == windows.padded_size((length,))
        padded = np.arange(-before, length + after)
        assert list(range(length)) == padded[windows.interior((length,))].tolist()
        met = [
            (place, padded[where].tolist()) for place, where in windows.positions((len(begins),))
        ]
        wanted = [((k,), [start + k * dilation for start in begins]) for k in range(kernel)]
        assert wanted == met


def test_windows__in_two_dimensions() -> None:
    """Every position of the kernel in C order, with the index of both axes."""
    size, padded = (4, 5), np.arange(5 * 10).reshape(5, 10)
    count = PLANE.output_size(size)
    assert ((2, 6), (5, 10)) == (count, PLANE.padded_size(size))
    places = iter(PLANE.positions(count))
    for i, j in itertools.product(range(2), range(3)):
        place, where = next(places)
        wanted = [[10 * (2 * y + i) + x + 2 * j for x in range(6)] for y in range(2)]
        assert ((i, j), wanted) == (place, padded[where].tolist())
    assert next(places, None) is None


def test_windows__without_the_taps_that_meet_nothing() -> None:
    """At either end taps are left out that meet padding alone, unless none or a crop were left."""
    for length, kernel, stride, dilation, pair in LINES:
        begins = starts(length, kernel, stride, dilation, pair)
        meets = [any(0 <= start + k * dilation < length for start in begins) for k in range(kernel)]
        first, end = 0, kernel
        while end - first > 1 and not meets[first] and (first + 1) * dilation <= pair[0]:
            first += 1
        while end - first > 1 and not meets[end - 1] and (kernel - end + 1) * dilation <= pair[1]:
            end -= 1
        taps = taps_within(length, len(begins), kernel, stride, dilation, pair)
        assert slice(first, end) == taps
        less, rest = line(kernel, stride, dilation, pair).within((length,))
        assert (rest, less.kernel) == ((taps,), (end - first,))
        assert (begins[0] + first * dilation, len(begins)) == (
            -less.padding[0][0],
            *less.output_size((length,)),
        )


@pytest.mark.parametrize(
    ("arguments", "kept"),
    [
        ((1, 1, 3, 1, 1, (1, 1)), (1, 2)),
        ((5, 5, 3, 1, 6, (6, 6)), (1, 2)),
        ((1, 3, 3, 1, 1, (2, 2)), (0, 3)),
        ((1, 1, 5, 9, 1, (2, 2)), (2, 3)),
        ((1, 1, 4, 1, 1, (3, 0)), (3, 4)),
        ((1, 1, 4, 1, 1, (0, 3)), (0, 1)),
        ((2, 1, 3, 4, 5, (5, 5)), (1, 2)),
        ((0, 1, 3, 1, 1, (2, 1)), (2, 3)),
    ],
)
def test_taps_within__by_hand(arguments: Any, kept: tuple[int, int]) -> None:
    """At least one tap stays, also where no tap meets anything."""
    assert slice(*kept) == taps_within(*arguments)


def test_windows__that_are_pixels() -> None:
    """A kernel and a stride of one, without padding; dilation does not matter then."""
    assert Windows.make((1, 1), (1, 1), (0, 0), (2, 2)).are_pixels()
    assert not Windows.make((2, 1), (1, 1), (0, 0), (1, 1)).are_pixels()
    assert not Windows.make((1, 1), (1, 2), (0, 0), (1, 1)).are_pixels()
    assert not Windows.make((2, 2), (2, 2), (0, 0), (1, 1)).are_pixels()
    assert not Windows((1,), (1,), (1,), ((0, 1),)).are_pixels()
    assert not Windows((1, 1), (1, 1), (1, 1), ((0, 0), (1, 0))).are_pixels()


def padded_by_hand(row: list[int], before: int, after: int, value: int) -> list[int]:
    """Borders are put on, then what is too much is taken off."""
    row = [value] * before + row + [value] * after
    return row[max(-before, 0) : len(row) - max(-after, 0)]


@pytest.mark.parametrize("before", [-5, -4, -1, 0, 1, 3])
@pytest.mark.parametrize("after", [-5, -4, -1, 0, 1, 3])
def test_pad__puts_on_and_takes_off(before: int, after: int) -> None:
    """Negative numbers crop, and what is cropped at one end is not there for the other."""
    if 4 + before + after < 0:
        return
    row = [1, 2, 3, 4]
    wanted = padded_by_hand(row, before, after, 9)
    rows = pad(np.uint8([row, row]), ((before, after),), 9)
    assert [wanted, wanted] == rows.tolist()
    places, rest = inside((4,), ((before, after),))
    assert [each for each in wanted if each != 9] == np.array(row)[rest].tolist()
    assert len(np.array(row)[rest]) == len(np.zeros(len(wanted))[places])


def test_pad__last_axes() -> None:
    """Pairs belong to the last axes; an array of few axes stays as it is without borders."""
    x = np.arange(1, 7, dtype=np.int8).reshape(1, 2, 3)
    assert [[[0, 1, 2, 3], [0, 4, 5, 6], [0, 0, 0, 0]]] == pad(x, ((0, 1), (1, 0)), 0).tolist()
    assert x is pad_spatial(x, Windows.make((3,), (1,), (0,), (1,)))
    for pair in ((1, 0), (0, 1)):
        found = pad_spatial(x, Windows((1, 3), (1, 1), (1, 1), ((0, 0), pair)))
        assert np.pad(x, [(0, 0), (0, 0), pair]).tolist() == found.tolist()


@pytest.mark.parametrize("large", [1, 2, 3, 4, 6, 7, 12, 24, 100])
def test_in_order__by_parts(monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    """Whatever is copied in one go, the copy has the elements of the view, in C order."""
    monkeypatch.setattr(module, "_LARGE", large)
    sizes = []
    copy = module._copy
    monkeypatch.setattr(module, "_copy", lambda a, b: (sizes.append(a.size), copy(a, b))[1])
    for shape in ((24,), (2, 12), (12, 2), (2, 3, 4), (4, 3, 2), (1, 24), (24, 1)):
        x = np.arange(24).reshape(shape).T
        found = in_order(x)
        assert found.flags.c_contiguous
        assert np.array_equal(x, found)
    assert bool(sizes) == (large < 24)
    again = in_order(x.T)
    assert np.shares_memory(again, x) == (large >= 24)


class Parts:
    """What is copied into, which writes down how many numbers come in one go."""

    def __init__(self, shape: tuple[int, ...], sizes: list[int]) -> None:
        self.shape, self.sizes = shape, sizes

    def __getitem__(self, i: int) -> Parts:
        return Parts(self.shape[1:], self.sizes)

    def __setitem__(self, where: slice, value: np.ndarray[Any, Any]) -> None:
        self.sizes.append(value.size)


@pytest.mark.parametrize(
    ("shape", "large", "parts"),
    [
        ((24,), 5, [5, 5, 5, 5, 4]),
        ((4, 6), 12, [12, 12]),
        ((4, 6), 13, [12, 12]),
        ((4, 6), 6, [6] * 4),
        ((2, 12), 5, [5, 5, 2] * 2),
        ((2, 3, 4), 4, [4] * 6),
        ((2, 3, 4), 8, [8, 4] * 2),
    ],
)
def test_in_order__no_part_is_larger(
    monkeypatch: pytest.MonkeyPatch, shape: tuple[int, ...], large: int, parts: list[int]
) -> None:
    """As many lines as fit are copied together; one that is too large is copied by parts itself."""
    monkeypatch.setattr(module, "_LARGE", large)
    sizes: list[int] = []
    module._copy(np.zeros(shape), Parts(shape, sizes))  # type: ignore[arg-type]
    assert parts == sizes


def images(kind: Any) -> np.ndarray[Any, Any]:
    """Small numbers with many equals, and nan among floats."""
    x = RNG.integers(-3, 4, (2, 4, 5)).astype(kind)
    if x.dtype.kind == "f":
        x[0, RNG.random((4, 5)) < 0.2] = np.nan
        x[1, 1, 1] = -np.inf
    return x


def test_largest__of_both_infinities() -> None:
    """Infinities of both signs are numbers like others, and no nan."""
    x = np.float32([np.inf, -np.inf, -np.inf, -np.inf])
    y, winner = largest(x, Windows.make((2,), (2,), (0,), (1,)), (2,))
    assert ([np.inf, -np.inf], [0, 0]) == (y.tolist(), winner.tolist())


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.int32])
def test_largest__first_of_equals_and_nan(kind: Any) -> None:
    """Each window by itself, without its padding; the last nan counts, and the first of equals."""
    x = images(kind)
    count = PLANE.output_size((4, 5))
    y, winner = largest(x, PLANE, count)
    for n, i, j in itertools.product(range(2), *map(range, count)):
        best, place = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min, 0
        for index, (a, b) in enumerate(itertools.product(range(2), range(3))):
            row, column = 2 * i + a - 1, j + 2 * b - 2
            if 0 <= row < 4 and 0 <= column < 5:
                number = x[n, row, column]
                if number > best or np.isnan(number):
                    best, place = number, index
        assert place == winner[n, i, j]
        assert best == y[n, i, j] or (np.isnan(best) and np.isnan(y[n, i, j]))


def test_gradient_of_largest__to_each_winner() -> None:
    """Gradients of windows that share a winner add up; those of winners in the padding are lost."""
    count = PLANE.output_size((4, 5))
    winner = RNG.integers(0, 6, (2, *count)).astype(np.uint8)
    grad = RNG.integers(-9, 9, (2, *count)).astype(np.float32)
    wanted = np.zeros((2, 4, 5))
    for n, i, j in itertools.product(range(2), *map(range, count)):
        a, b = divmod(int(winner[n, i, j]), 3)
        row, column = 2 * i + a - 1, j + 2 * b - 2
        if 0 <= row < 4 and 0 <= column < 5:
            wanted[n, row, column] += grad[n, i, j]
    found = gradient_of_largest(grad, winner, PLANE, (4, 5))
    assert (wanted.tolist(), np.float32) == (found.tolist(), found.dtype)


def test_gradient_of_means__to_all_that_windows_hold() -> None:
    """Each window gives a quotient to each of its elements, none to the padding."""
    windows = Windows.make((3,), (2,), (1,), (1,))
    found = gradient_of_means(np.float32([3, 8]), windows, (3,), np.float32([3, 2]))
    assert [1.0, 5.0, 4.0] == found.tolist()


def test_phases__make_the_gradient() -> None:
    """Phase by phase a convolution, together the sum over all windows that meet a place."""
    for length, *rest in LINES:
        kernel, _, dilation, _ = rest
        begins = starts(length, *rest)
        grad, weight = RNG.integers(1, 99, len(begins)), RNG.integers(1, 99, kernel)
        wanted = np.zeros(length, int)
        for start, g in zip(begins, grad, strict=True):
            for k, w in enumerate(weight):
                if 0 <= start + k * dilation < length:
                    wanted[start + k * dilation] += g * w
        found = np.full(length, -1)
        for phase in phases(line(*rest), (length,)):
            (part,) = phase
            moved, taps = windows_of_phase(phase, grad.shape), filters_of_phase(phase, weight)
            assert weight[list(part.taps)].tolist() == taps.tolist()
            into = found[places_of_phase(phase)]
            assert (into.size, (1,), taps.shape) == (part.places, moved.stride, moved.kernel)
            if part.taps:
                padded = pad(grad, moved.padding, 0)
                assert (part.places,) == moved.output_size(grad.shape)
                into[:] = sum(
                    taps[k] * padded[where] for (k,), where in moved.positions((part.places,))
                )
            else:
                assert (range(0), 0) == (part.taps, part.before)
                into[:] = 0
        assert wanted.tolist() == found.tolist(), (length, *rest)


def test_phases__of_two_axes() -> None:
    """Every remainder of one axis with every remainder of the other; taps of both are cut."""
    weight = np.arange(12).reshape(2, 2, 3)
    seen = np.zeros((4, 5), int)
    found = list(phases(PLANE, (4, 5)))
    for phase in found:
        seen[places_of_phase(phase)] += 1
        cut = filters_of_phase(phase, weight)
        rows, columns = (list(part.taps) for part in phase)
        assert weight[:, rows][..., columns].tolist() == cut.tolist()
    assert (2, 1, 1) == (len(found), seen.min(), seen.max())
