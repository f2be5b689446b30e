"""Exercises on kernels: the order of packed weights, and the limit of the machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from .._typing import Array
from .arrays import int8
from .exercise import Case, Exercise, Mistake

__all__ = ["PACK_WEIGHT", "ROOFLINE"]


def padded(weight: Array, mode: Literal["constant", "edge"] = "constant") -> Array:
    """Depths up to a multiple of four."""
    missing = -int(weight.shape[1]) % 4
    return np.pad(weight, ((0, 0), (0, missing)), mode)


def in_quads(weight: Array) -> Array:
    """(N, K) with K a multiple of four, as (K / 4, N, 4)."""
    return weight.reshape(len(weight), -1, 4).transpose(1, 0, 2)


def pack(weight: Array) -> Array:
    """Solution."""
    return in_quads(padded(weight))


def reshaped(weight: Array) -> Array:
    """The bytes as they lie, under another shape."""
    return padded(weight).reshape(-1, len(weight), 4)


def from_the_columns(weight: Array) -> Array:
    """The transposed weight as it lies."""
    return padded(weight).T.reshape(-1, len(weight), 4)


def strided(weight: Array) -> Array:
    """Depths a quarter of the way from each other."""
    return padded(weight).reshape(len(weight), 4, -1).transpose(2, 0, 1)


def padded_in_front(weight: Array) -> Array:
    """Zeros before the first depth."""
    return in_quads(np.pad(weight, ((0, 0), (-weight.shape[1] % 4, 0))))


def without_the_rest(weight: Array) -> Array:
    """Whole quads only."""
    return in_quads(weight[:, : weight.shape[1] // 4 * 4])


_COUNTING = np.arange(1, 41, dtype=np.int8)

PACK_WEIGHT = Exercise(
    name="pack_weight",
    task=(
        "Bring the int8 weight (N, K) of a linear layer into the order in which a kernel reads it: "
        "(ceil(K / 4), N, 4), so that packed[d, n] holds the four weights of output n at the "
        "depths 4 d to 4 d + 3, which one instruction multiplies and adds. Depths from K on are "
        "zeros."
    ),
    signature="pack_weight(weight)",
    results=("packed",),
    label="eq-linear-accumulator",
    reference="pyqref._kernels.pack_linear",
    solution=pack,
    cases=(
        Case("one output", (int8([[1, 2, 3, 4, 5, 6, 7, 8]]),)),
        Case("two outputs, four deep", (_COUNTING[:8].reshape(2, 4),)),
        Case("two outputs, eight deep", (_COUNTING[:16].reshape(2, 8),)),
        Case("as many outputs as quads", (_COUNTING[:32].reshape(4, 8),)),
        Case("six deep", (_COUNTING[:18].reshape(3, 6),)),
        Case("less than four deep", (int8([[-1, 2], [3, -128], [127, 0]]),)),
    ),
    mistakes=(
        Mistake(
            "changes the shape only",
            "reshape leaves the bytes where they are: cut (N, K/4, 4), then swap the first axes.",
            reshaped,
        ),
        Mistake(
            "puts the outputs side by side",
            "The four bytes of a quad are of one output, at four depths.",
            from_the_columns,
        ),
        Mistake(
            "takes depths that lie apart",
            "A quad holds depths that follow each other, 4 d to 4 d + 3.",
            strided,
        ),
        Mistake(
            "pads in front",
            "The missing depths are the last ones: the input has its zeros at the end.",
            padded_in_front,
        ),
        Mistake(
            "repeats the last depth",
            "Missing depths are zeros, which add nothing whatever the input holds there.",
            lambda weight: in_quads(padded(weight, "edge")),
        ),
        Mistake(
            "drops the depths that are left over",
            "Of a depth of 6 the last two count as well: pad up to a multiple of four.",
            without_the_rest,
        ),
    ),
)


def traffic(m: int, k: int, n: int) -> float:
    """Bytes of input, weight and output."""
    return m * k + k * n + m * n


def roof(
    operations: float = 2.0,
    moved: Callable[[int, int, int], float] = traffic,
    joined: Callable[[float, float], float] = max,
) -> Callable[..., float]:
    """The bound, with what may be wrong in it as arguments."""

    def seconds(m: int, k: int, n: int, peak: float, bandwidth: float) -> float:
        return joined(operations * m * k * n / peak, moved(m, k, n) / bandwidth)

    return seconds


ROOFLINE = Exercise(
    name="roofline",
    task=(
        "Give the least time, in seconds, that a linear layer of bytes can take: m rows, k deep, n "
        "outputs; input, weight and output are moved once, one byte each; a multiplication and an "
        "addition are two operations. The machine does `peak` operations and moves `bandwidth` "
        "bytes a second, both at the same time."
    ),
    signature="roofline(m, k, n, peak, bandwidth)",
    results=("seconds",),
    label="eq-roofline",
    reference="pyqref.measure.roofline",
    solution=roof(),
    cases=(
        Case("one row", (1, 1024, 1024, 1e12, 1e10)),
        Case("many rows", (512, 1024, 1024, 1e12, 1e10)),
        Case("a narrow layer", (4096, 64, 8, 1e12, 1e10)),
        Case("a wide output", (64, 16, 4096, 1e12, 1e10)),
        Case("near the edge of the roof", (60, 1024, 1024, 1e12, 1e10)),
        Case("memory that never waits", (1, 512, 512, 1e9, 1e12)),
    ),
    mistakes=(
        Mistake(
            "adds the two times",
            "Memory and processor work at the same time: the slower one decides.",
            roof(joined=lambda compute, memory: compute + memory),
        ),
        Mistake(
            "takes the faster limit",
            "Both have to be done: the least time is the larger of the two.",
            roof(joined=min),
        ),
        Mistake(
            "counts a product and its sum as one",
            "m k n multiplications and as many additions: 2 m k n operations.",
            roof(operations=1.0),
        ),
        Mistake(
            "moves float32",
            "An int8 layer moves one byte a number: a quarter of what float32 moves.",
            roof(moved=lambda m, k, n: 4 * traffic(m, k, n)),
        ),
        Mistake(
            "moves the weight only",
            "Input and output are moved, too.",
            roof(moved=lambda _m, k, n: k * n),
        ),
        Mistake(
            "forgets the weight",
            "The weight comes from memory as well: for one row it is nearly everything.",
            roof(moved=lambda m, k, n: m * k + m * n),
        ),
        Mistake(
            "forgets the output",
            "What is computed is written, too.",
            roof(moved=lambda m, k, n: m * k + k * n),
        ),
        Mistake(
            "knows no memory",
            "Bytes take time as well: for few rows memory decides.",
            roof(joined=lambda compute, _memory: compute),
        ),
        Mistake(
            "knows no processor",
            "Products take time as well: for many rows the processor decides.",
            roof(joined=lambda _compute, memory: memory),
        ),
    ),
)
