"""Exercises on layers: exact sums, requantization, folding, fusing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._typing import Array
from .affine import INT8, ROUNDING, UINT8
from .arrays import float32, int8, int32, uint8
from .exercise import Case, Exercise, Mistake
from .wrong import right, saturate, wrap

__all__ = ["ACCUMULATE", "FOLD_BATCH_NORM", "FUSE", "REQUANTIZE"]


def accumulate(x: Array, x_zero_point: int, w: Array, w_zero_point: int) -> Array:
    """Solution."""
    return (x.astype(np.int64) - x_zero_point) @ (w.astype(np.int64) - w_zero_point).T


def products(x: Array, x_zero_point: int, w: Array, w_zero_point: int) -> Array:
    """Every product by itself, (M, N, K)."""
    return (x.astype(np.int64) - x_zero_point)[:, None] * (w.astype(np.int64) - w_zero_point)


def in_16_bits(x: Array, x_zero_point: int, w: Array, w_zero_point: int) -> Array:
    """Sums that wrap around."""
    sums = accumulate(x, x_zero_point, w, w_zero_point)
    return (sums + 2**15) % 2**16 - 2**15


def saturating_16_bits(x: Array, x_zero_point: int, w: Array, w_zero_point: int) -> Array:
    """Sums that stick at the ends of 16 bits."""
    each = products(x, x_zero_point, w, w_zero_point)
    total = np.zeros(each.shape[:2], np.int64)
    for k in range(each.shape[2]):
        total = np.clip(total + each[:, :, k], -(2**15), 2**15 - 1)
    return total


def in_8_bits(x: Array, x_zero_point: int, w: Array, w_zero_point: int) -> Array:
    """Products that wrap around."""
    return wrap(products(x, x_zero_point, w, w_zero_point), -1).sum(axis=2)


def centred_in_8_bits(x: Array, x_zero_point: int, w: Array, w_zero_point: int) -> Array:
    """Differences that wrap around."""
    centred = wrap(x.astype(np.int64) - x_zero_point, 0)
    return centred @ wrap(w.astype(np.int64) - w_zero_point, -1).T


def without_constant(x: Array, x_zero_point: int, w: Array, w_zero_point: int) -> Array:
    """Expanded, and the last term lost."""
    return accumulate(x, x_zero_point, w, w_zero_point) - x.shape[1] * x_zero_point * w_zero_point


_X = uint8([[0, 255, 130, 7], [200, 3, 128, 90]])
_W = int8([[1, -2, 3, 4], [-128, 127, 5, -6], [100, 50, -25, 12]])
_LARGE = np.full((1, 64), 255, np.uint8), np.full((2, 64), 127, np.int8)

ACCUMULATE = Exercise(
    name="accumulate",
    task=(
        "Give the accumulators of a linear layer as exact integers (M, N): the sum over k of "
        "(x[m, k] - x_zero_point) * (w[n, k] - w_zero_point), for x uint8 (M, K), w int8 (N, K)."
    ),
    signature="accumulate(x, x_zero_point, w, w_zero_point)",
    results=("accumulators",),
    label="eq-linear-accumulator",
    reference="pyqref.numerics.linear.linear_accumulator",
    solution=accumulate,
    cases=(
        Case("zero points of zero", (_X, 0, _W, 0)),
        Case("zero point of the input", (_X, 128, _W, 0)),
        Case("both zero points", (_X, 100, _W, -7)),
        Case("a long sum", (*(_LARGE[0], 0), *(_LARGE[1], 0))),
        Case("a long sum, both zero points", (*(_LARGE[0], 30), *(_LARGE[1], 10))),
    ),
    mistakes=(
        Mistake(
            "forgets the zero point of the input",
            "Centre the input first: x - x_zero_point.",
            lambda x, _xz, w, wz: accumulate(x, 0, w, wz),
        ),
        Mistake(
            "forgets the zero point of the weight",
            "Centre the weight as well; it is 0 only for symmetric weights.",
            lambda x, xz, w, _wz: accumulate(x, xz, w, 0),
        ),
        Mistake(
            "centres in eight bits",
            "7 - 128 is 135 in uint8: widen before you subtract.",
            centred_in_8_bits,
        ),
        Mistake(
            "multiplies in eight bits",
            "A product of two bytes needs 16 bits: widen before you multiply.",
            in_8_bits,
        ),
        Mistake(
            "adds in 16 bits",
            "A sum of 64 products needs 22 bits: add in 32 bits at least.",
            in_16_bits,
        ),
        Mistake(
            "saturates at 16 bits",
            "This is what vpmaddubsw does, and why reduce_range exists: add in 32 bits.",
            saturating_16_bits,
        ),
        Mistake(
            "loses the constant term",
            "Expanding the product gives four terms; the last is K * x_zero_point * w_zero_point.",
            without_constant,
        ),
    ),
)


def requantize(acc: Array, multiplier: float, zero_point: int, low: int, high: int) -> Array:
    """Solution."""
    return saturate(right(acc * multiplier) + zero_point, low, high)


def requantized_by(rounding: Callable[[Any], Any]) -> Callable[..., Any]:
    """The solution with another way to round."""

    def wrong(acc: Any, multiplier: float, zero_point: int, low: int, high: int) -> Any:
        return saturate(rounding(acc * multiplier) + zero_point, low, high)

    return wrong


REQUANTIZE = Exercise(
    name="requantize",
    task=(
        "Turn exact sums into the integers of the output: multiply by the real multiplier "
        "s_x s_w / s_y, round to the nearest with ties to even, add the zero point, and clamp."
    ),
    signature="requantize(accumulators, multiplier, zero_point, quant_min, quant_max)",
    results=("integers",),
    label="eq-requantize",
    reference="pyqref.numerics.requantize.requantize",
    solution=requantize,
    cases=(
        Case("inside the range", (int32([10, 333, -77, 1001]), 0.125, 10, *UINT8)),
        Case("a multiplier of any size", (int32([100, 777, -1234]), 0.0375, 60, *UINT8)),
        Case("ties", (int32([1, 3, 5, -1, -3, -5]), 0.5, 0, *INT8)),
        Case("ties, odd zero point", (int32([1, 3, 5, 7]), 0.5, 3, *UINT8)),
        Case("far outside", (int32([10**6, -(10**6), 700, -700]), 0.5, 100, *UINT8)),
        Case("a fused ReLU", (int32([-50, -1, 0, 60]), 0.25, 20, 20, 255)),
    ),
    mistakes=(
        *(Mistake(name, why, requantized_by(way)) for name, why, way in ROUNDING),
        Mistake(
            "rounding order: the zero point inside the rounding",
            "Here the zero point is added to the rounded product: with an odd one, ties differ.",
            lambda acc, m, z, low, high: saturate(right(acc * m + z), low, high),
        ),
        Mistake(
            "adds the zero point to the accumulator",
            "The zero point counts in units of the output: add it after the multiplication.",
            lambda acc, m, z, low, high: saturate(right((acc + z) * m), low, high),
        ),
        Mistake(
            "forgets the zero point",
            "The real number 0 is the zero point of the output: add it.",
            lambda acc, m, _z, low, high: saturate(right(acc * m), low, high),
        ),
        Mistake(
            "casts before it clamps",
            "A cast to eight bits wraps around: 450 becomes 194. Clamp first.",
            lambda acc, m, z, low, high: saturate(wrap(right(acc * m) + z, low), low, high),
        ),
        Mistake(
            "does not clamp",
            "Numbers outside the range must become its ends.",
            lambda acc, m, z, _low, _high: (right(acc * m) + z).astype(np.int64),
        ),
        Mistake(
            "clamps before it adds the zero point",
            "The range is that of the result: add the zero point, then clamp.",
            lambda acc, m, z, low, high: saturate(right(acc * m), low, high) + z,
        ),
        Mistake(
            "rounds the multiplier to a shift",
            "The multiplier is any real number, not a power of two.",
            lambda acc, m, z, low, high: saturate(
                right(acc * 2.0 ** np.floor(np.log2(m) + 0.5)) + z, low, high
            ),
        ),
    ),
)


def folded(
    weight: Array,
    bias: Array | float,
    mean: Array | float,
    deviation: Array,
    gamma: Array,
    beta: Array | float,
    axis: int = 0,
) -> tuple[Array, Array]:
    """The weight and bias for a given deviation."""
    factor = gamma / deviation
    shape = (-1, 1) if axis == 0 else (1, -1)
    return weight * factor.reshape(shape), (bias - mean) * factor + beta


def fold(
    weight: Array, bias: Array, mean: Array, var: Array, eps: float, gamma: Array, beta: Array
) -> tuple[Array, Array]:
    """Solution."""
    return folded(weight, bias, mean, np.sqrt(var + eps), gamma, beta)


_BN = (
    float32([2.0, -1.0, 0.5]),  # bias
    float32([1.0, 0.5, -2.0]),  # mean
    float32([3.5, 15.5, 0.5]),  # var
    0.5,
    float32([2.0, 4.0, 8.0]),
    float32([0.25, 1.0, -1.0]),
)
_ROWS = float32([[1.0, -2.0], [3.0, 4.0], [0.5, 6.0]])
_SQUARE = float32([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])

FOLD_BATCH_NORM = Exercise(
    name="fold_batch_norm",
    task=(
        "Give the weight (N, K) and the bias (N,) of one linear layer that does what a linear "
        "layer and the batch normalization behind it do in evaluation: "
        "gamma * (w x + b - mean) / sqrt(var + eps) + beta."
    ),
    signature="fold_batch_norm(weight, bias, mean, var, eps, gamma, beta)",
    results=("weight", "bias"),
    label="eq-fold-weight",
    reference="pyqref.numerics.folding.fold_batch_norm",
    solution=fold,
    cases=(
        Case("three outputs, two inputs", (_ROWS, *_BN)),
        Case("as many inputs as outputs", (_SQUARE, *_BN)),
        Case(
            "no bias, no shift",
            (_ROWS, np.zeros(3, np.float32), np.zeros(3, np.float32), *_BN[2:5], np.zeros(3, "f")),
        ),
    ),
    mistakes=(
        Mistake(
            "forgets eps",
            "The deviation is sqrt(var + eps).",
            lambda w, b, m, v, _e, g, s: folded(w, b, m, np.sqrt(v), g, s),
        ),
        Mistake(
            "adds eps outside of the root",
            "The deviation is sqrt(var + eps), not sqrt(var) + eps.",
            lambda w, b, m, v, e, g, s: folded(w, b, m, np.sqrt(v) + e, g, s),
        ),
        Mistake(
            "divides by the variance",
            "Normalization divides by the standard deviation: take the root.",
            lambda w, b, m, v, e, g, s: folded(w, b, m, v + e, g, s),
        ),
        Mistake(
            "folds without the mean",
            "The mean is subtracted before scaling: it goes into the bias.",
            lambda w, b, _m, v, e, g, s: folded(w, b, 0, np.sqrt(v + e), g, s),
        ),
        Mistake(
            "loses the bias of the layer",
            "The layer's own bias is normalized too.",
            lambda w, _b, m, v, e, g, s: folded(w, 0, m, np.sqrt(v + e), g, s),
        ),
        Mistake(
            "does not scale the bias of the layer",
            "The layer's own bias is normalized too: (b - mean) * gamma / deviation + beta.",
            lambda w, b, m, v, e, g, s: folded(w, 0, m, np.sqrt(v + e), g, s + b),
        ),
        Mistake(
            "forgets beta",
            "The shift of the normalization goes into the bias.",
            lambda w, b, m, v, e, g, _s: folded(w, b, m, np.sqrt(v + e), g, 0),
        ),
        Mistake(
            "forgets gamma",
            "The scale of the normalization multiplies weight and bias.",
            lambda w, b, m, v, e, g, s: folded(w, b, m, np.sqrt(v + e), np.ones_like(g), s),
        ),
        Mistake(
            "scales the inputs instead of the outputs",
            "The channels of the normalization are the outputs: axis 0 of the weight.",
            lambda w, b, m, v, e, g, s: folded(w, b, m, np.sqrt(v + e), g, s, axis=1),
        ),
    ),
)

PATTERNS = (
    ("Conv2d", "BatchNorm2d", "ReLU"),
    ("Conv2d", "BatchNorm2d"),
    ("Conv2d", "ReLU"),
    ("Linear", "ReLU"),
    ("BatchNorm2d", "ReLU"),
)


def groups_of(kinds: Sequence[str], patterns: Sequence[tuple[str, ...]] = PATTERNS) -> str:
    """Solution: the first pattern that fits at a place, from left to right."""
    groups, place = [], 0
    while place < len(kinds):
        fits = [each for each in patterns if tuple(kinds[place : place + len(each)]) == each]
        length = len(fits[0]) if fits else 1
        if fits:
            groups.append([*range(place, place + length)])
        place += length
    return str(groups)


def as_text(function: Callable[..., Any], kinds: list[str]) -> str | None:
    """Return the result of a fuser as text, in one form; what are no numbers stay as they are."""
    groups = function(kinds)
    if groups is None or isinstance(groups, str):
        return groups
    return str(
        [[each if isinstance(each, str) else int(each) for each in group] for group in groups]
    )


FUSE = Exercise(
    name="fuse",
    task=(
        "Say which modules of a sequence are fused: a list of lists of their numbers. Sequences "
        "that fuse are Conv2d-BatchNorm2d-ReLU, Conv2d-BatchNorm2d, Conv2d-ReLU, Linear-ReLU and "
        "BatchNorm2d-ReLU; go from left to right and take the longest that fits."
    ),
    signature="fuse(kinds)",
    results=("groups",),
    label="eq-fold-weight",
    reference="pyqref.quantization.fuse_modules",
    solution=groups_of,
    use=as_text,
    cases=(
        Case("conv, norm, relu", (["Conv2d", "BatchNorm2d", "ReLU"],)),
        Case("one after another", (["Conv2d", "BatchNorm2d", "ReLU", "Linear", "ReLU"],)),
        Case("without a relu", (["Conv2d", "BatchNorm2d", "MaxPool2d", "ReLU"],)),
        Case("without a norm", (["Conv2d", "ReLU", "Conv2d", "Flatten", "Linear"],)),
        Case("a norm first", (["BatchNorm2d", "ReLU", "Conv2d"],)),
        Case("nothing to fuse", (["Flatten", "Linear", "Sigmoid"],)),
    ),
    mistakes=(
        Mistake(
            "takes the shorter pattern",
            "Where conv-bn-relu fits, conv-bn fits as well: try the longest first.",
            lambda kinds: groups_of(kinds, [PATTERNS[1], PATTERNS[0], *PATTERNS[2:]]),
        ),
        Mistake(
            "knows convolutions only",
            "A linear layer fuses with its ReLU too.",
            lambda kinds: groups_of(kinds, [*PATTERNS[:3], PATTERNS[4]]),
        ),
        Mistake(
            "needs a batch norm",
            "A convolution fuses with a ReLU without a norm between them.",
            lambda kinds: groups_of(kinds, [*PATTERNS[:2], *PATTERNS[3:]]),
        ),
        Mistake(
            "needs a relu",
            "A convolution fuses with its norm although no ReLU follows.",
            lambda kinds: groups_of(kinds, [PATTERNS[0], *PATTERNS[2:]]),
        ),
        Mistake(
            "leaves a norm with a relu alone",
            "BatchNorm2d-ReLU is a pattern of its own.",
            lambda kinds: groups_of(kinds, PATTERNS[:4]),
        ),
        Mistake(
            "looks past what stands between",
            "Modules fuse only if they follow one another at once.",
            lambda kinds: groups_of([each for each in kinds if each != "MaxPool2d"]),
        ),
    ),
)
