"""Knowledge of the checker about exercises on sums and on requantization."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import CLAMPS, ROUNDINGS, change, integers_of, tie

__all__ = ["ACCUMULATE", "REQUANTIZE"]


def draw_accumulate(random: np.random.Generator) -> tuple[Case, ...]:
    """Each zero point alone, both, square and long arrays."""
    cases = []
    shapes = ((2, 5, 3), (3, 4, 3), (2, 6, 2), (1, 40, 2), (3, 7, 4))
    for number, (m, k, n) in enumerate(shapes):
        x_point = int(random.integers(1, 255)) if number != 1 else 0
        w_point = int(random.integers(-100, 100)) or 5
        if number == 0:
            w_point = 0
        x, w = integers_of(random, False, (m, k)), integers_of(random, True, (n, k))
        words = f"drawn: {m} rows, {k} deep, {n} outputs, zero points {x_point}, {w_point}"
        cases.append(Case(words, (x, x_point, w, w_point)))
    return tuple(cases)


_X = "x = x.astype(np.int64) - x_zero_point"
_W = "w = w.astype(np.int64) - w_zero_point"
_TERM = "x_zero_point * w_zero_point"
ACCUMULATE = Library(
    exercise="accumulate",
    answer=f"""\
def accumulate(x, x_zero_point, w, w_zero_point):
    {_X}
    {_W}
    return x @ w.T
""",
    changes=(
        change(
            "forgets the zero point of the input",
            "Centre the input first: x - x_zero_point.",
            (" - x_zero_point", ""),
        ),
        change(
            "forgets the zero point of the weight",
            "Centre the weight as well; it is 0 only for symmetric weights.",
            (" - w_zero_point", ""),
        ),
        change(
            "adds the zero point of the input",
            "Centring subtracts: x - x_zero_point.",
            (" - x_zero_point", " + x_zero_point"),
        ),
        change(
            "adds the zero point of the weight",
            "Centring subtracts: w - w_zero_point.",
            (" - w_zero_point", " + w_zero_point"),
        ),
        change(
            "swaps the zero points",
            "Each array is centred by its own zero point.",
            (
                f"{_X}\n    {_W}",
                "x = x.astype(np.int64) - w_zero_point\n    w = w.astype(np.int64) - x_zero_point",
            ),
        ),
        change(
            "takes the zero point of the input for both",
            "Each array is centred by its own zero point.",
            (" - w_zero_point", " - x_zero_point"),
        ),
        change(
            "transposes the result",
            "The rows are those of x, (M, N): x @ w.T.",
            ("x @ w.T", "w @ x.T"),
        ),
        change(
            "centres in eight bits",
            "7 - 128 is 135 in uint8: widen before you subtract.",
            (_X, "x = wrap(x.astype(np.int64) - x_zero_point, 0)"),
            (_W, "w = wrap(w.astype(np.int64) - w_zero_point, -1)"),
        ),
        change(
            "centres the input in eight bits",
            "7 - 128 is 135 in uint8: widen before you subtract.",
            (_X, "x = wrap(x.astype(np.int64) - x_zero_point, 0)"),
        ),
        change(
            "centres the weight in eight bits",
            "100 + 50 is -106 in int8: widen before you subtract.",
            (_W, "w = wrap(w.astype(np.int64) - w_zero_point, -1)"),
        ),
        change(
            "multiplies in eight bits",
            "A product of two bytes needs 16 bits: widen before you multiply.",
            ("x @ w.T", "wrap(x[:, None] * w, -1).sum(axis=2)"),
        ),
        change(
            "adds in eight bits",
            "A sum of products needs 32 bits: widen before you multiply.",
            ("x @ w.T", "wrap(x @ w.T, -1)"),
        ),
        change(
            "adds in eight bits",
            "A sum of products needs 32 bits: widen before you multiply.",
            ("x @ w.T", "wrap(x @ w.T, 0)"),
        ),
        change(
            "adds in 16 bits",
            "A sum of 64 products needs 22 bits: add in 32 bits at least.",
            ("x @ w.T", "(x @ w.T + 2**15) % 2**16 - 2**15"),
        ),
        change(
            "clips the sum to 16 bits",
            "A sum of 64 products needs 22 bits, and is not clamped: keep 32 bits.",
            ("x @ w.T", "np.clip(x @ w.T, -(2**15), 2**15 - 1)"),
        ),
        change(
            "loses the constant term",
            "Expanding the product gives four terms; the last is K * x_zero_point * w_zero_point.",
            ("x @ w.T", f"x @ w.T - x.shape[1] * {_TERM}"),
        ),
        change(
            "forgets K in the constant term",
            "The last term stands in the sum K times: K * x_zero_point * w_zero_point.",
            ("x @ w.T", f"x @ w.T - (x.shape[1] - 1) * {_TERM}"),
        ),
        change(
            "subtracts the constant term",
            "The product of two negative terms is positive: + K * x_zero_point * w_zero_point.",
            ("x @ w.T", f"x @ w.T - 2 * x.shape[1] * {_TERM}"),
        ),
        change(
            "takes the number of outputs for K",
            "The constant term stands in the sum K times, once for each product.",
            ("x @ w.T", f"x @ w.T - (x.shape[1] - w.shape[0]) * {_TERM}"),
        ),
        change(
            "loses the term of the weight's zero point",
            "Expanding the product gives four terms; one is w_zero_point times the sums of x.",
            ("x @ w.T", "x @ w.T + w_zero_point * (x + x_zero_point).sum(1)[:, None]"),
        ),
        change(
            "loses the term of the input's zero point",
            "Expanding the product gives four terms; one is x_zero_point times the sums of w.",
            ("x @ w.T", "x @ w.T + x_zero_point * (w + w_zero_point).sum(1)"),
        ),
        change(
            "reads the weight as uint8",
            "The weight is signed: keep its type when you widen it.",
            ("w.astype(np.int64)", "w.astype(np.uint8).astype(np.int64)"),
        ),
        change(
            "reads the input as int8",
            "The input is unsigned: keep its type when you widen it.",
            ("x.astype(np.int64)", "x.astype(np.int8).astype(np.int64)"),
        ),
    ),
    draw=draw_accumulate,
    traits=(
        Trait("the zero point of the input is not 0", lambda x, xz, w, wz: xz != 0),
        Trait("the zero point of the weight is not 0", lambda x, xz, w, wz: wz != 0),
        Trait("both zero points are not 0", lambda x, xz, w, wz: xz != 0 and wz != 0),
        Trait(
            "the sum does not fit 16 bits",
            lambda x, xz, w, wz: np.abs((x.astype(int) - xz) @ (w.astype(int) - wz).T) >= 2**15,
        ),
        Trait(
            "some input lies below its zero point",
            lambda x, xz, w, wz: np.any(x.astype(int) < xz, axis=1)[:, None],
        ),
        Trait("M is not N", lambda x, xz, w, wz: len(x) != len(w)),
    ),
)


def draw_requantize(random: np.random.Generator) -> tuple[Case, ...]:
    """Exact multipliers with ties, others without, every range, odd zero points."""
    cases = []
    ranges = ((0, 255), (-128, 127), (0, 127), (-8, 7), (0, 255), (-128, 127), (30, 255), (0, 15))
    for number, (low, high) in enumerate(ranges):
        exact = number % 2 == 0
        point = int(random.integers(low, high + 1)) if number else 131
        point += int(exact and point % 2 == 0 and point < high)
        multiplier = float(random.choice([0.5, 0.25] if exact else [0.0375, 0.0113, 0.007]))
        reach = (high - low) / multiplier
        acc = random.integers(int(-1.5 * reach), int(1.5 * reach), 12)
        acc[:3] = np.array([-1, 1, 3]) * (1 if exact else 41)
        scaled = acc * multiplier
        if not exact:
            near = np.abs(scaled - np.floor(scaled) - 0.5) < 0.02
            acc = np.where(near, acc + 5, acc)
        words = f"drawn: multiplier {multiplier}, {low}..{high}, zero point {point}"
        cases.append(Case(words, (acc.astype(np.int32), multiplier, point, low, high)))
    return tuple(cases)


_POINT = " + zero_point"
REQUANTIZE = Library(
    exercise="requantize",
    answer="""\
def requantize(accumulators, multiplier, zero_point, quant_min, quant_max):
    q = np.rint(accumulators * multiplier) + zero_point
    return np.clip(q, quant_min, quant_max).astype(np.int64)
""",
    changes=(
        *ROUNDINGS,
        *CLAMPS,
        change(
            "rounding order: the zero point inside the rounding",
            "Here the zero point is added to the rounded product: with an odd one, ties differ.",
            ("accumulators * multiplier) + zero_point", "accumulators * multiplier + zero_point)"),
        ),
        change(
            "adds the zero point to the accumulator",
            "The zero point counts in units of the output: add it after the multiplication.",
            (
                "accumulators * multiplier) + zero_point",
                "(accumulators + zero_point) * multiplier)",
            ),
        ),
        change(
            "subtracts the zero point from the accumulator",
            "The zero point counts in units of the output: add it after the multiplication.",
            (
                "accumulators * multiplier) + zero_point",
                "(accumulators - zero_point) * multiplier)",
            ),
        ),
        change(
            "forgets the zero point",
            "The real number 0 is the zero point of the output: add it.",
            (_POINT, ""),
        ),
        change(
            "subtracts the zero point",
            "The real number 0 is the zero point of the output: add it.",
            (_POINT, " - zero_point"),
        ),
        change(
            "divides by the multiplier",
            "The multiplier s_x s_w / s_y counts output steps for each unit of the sum: multiply.",
            ("accumulators * multiplier", "accumulators / multiplier"),
        ),
        change(
            "forgets the multiplier",
            "The multiplier turns units of the sum into steps of the output.",
            ("accumulators * multiplier", "accumulators"),
        ),
        change(
            "casts before it adds the zero point",
            "The rounded product may need more than eight bits: add and clamp first, then cast.",
            (") + zero_point", ")\n    q = wrap(q, 0) + zero_point"),
        ),
        change(
            "casts before it adds the zero point",
            "The rounded product may need more than eight bits: add and clamp first, then cast.",
            (") + zero_point", ")\n    q = wrap(q, -1) + zero_point"),
        ),
        change(
            "casts before it adds the zero point",
            "The rounded product may need more than eight bits: add and clamp first, then cast.",
            (") + zero_point", ")\n    q = wrap(q, quant_min) + zero_point"),
        ),
        change(
            "clamps before it adds the zero point",
            "The range is that of the result: add the zero point, then clamp.",
            (_POINT, ""),
            (
                "return np.clip(q, quant_min, quant_max)",
                "return (np.clip(q, quant_min, quant_max) + zero_point)",
            ),
        ),
        change(
            "clamps before and after it adds the zero point",
            "The range is that of the result: add the zero point, then clamp once.",
            (") + zero_point", ")\n    q = np.clip(q, quant_min, quant_max) + zero_point"),
        ),
        change(
            "rounds the multiplier to a shift",
            "The multiplier is any real number, not a power of two.",
            (
                "accumulators * multiplier",
                "accumulators * 2.0 ** np.floor(np.log2(multiplier) + 0.5)",
            ),
        ),
        change(
            "clamps at the zero point",
            "That is a fused ReLU; here quant_min says where to clamp.",
            ("np.clip(q, quant_min,", "np.clip(q, max(quant_min, zero_point),"),
        ),
    ),
    draw=draw_requantize,
    traits=(
        Trait(
            "the product lies half way between two integers (a tie)",
            lambda a, m, z, low, high: tie(a * m),
        ),
        Trait(
            "the number lies outside the range quant_min..quant_max",
            lambda a, m, z, low, high: (np.rint(a * m) + z < low) | (np.rint(a * m) + z > high),
        ),
        Trait(
            "the number lies inside the range",
            lambda a, m, z, low, high: (np.rint(a * m) + z >= low) & (np.rint(a * m) + z <= high),
        ),
        Trait(
            "the number lies below the range", lambda a, m, z, low, high: np.rint(a * m) + z < low
        ),
        Trait(
            "the number lies above the range", lambda a, m, z, low, high: np.rint(a * m) + z > high
        ),
        Trait(
            "the rounded product does not fit eight bits",
            lambda a, m, z, low, high: (np.rint(a * m) < -128) | (np.rint(a * m) > 127),
        ),
        Trait("the accumulator is negative", lambda a, m, z, low, high: a < 0),
        Trait("the zero point is not 0", lambda a, m, z, low, high: z != 0),
        Trait("the zero point is odd", lambda a, m, z, low, high: z % 2 == 1),
        Trait("quant_min is negative", lambda a, m, z, low, high: low < 0),
        Trait("the range is not 0..255", lambda a, m, z, low, high: (low, high) != (0, 255)),
        Trait("the multiplier is no power of two", lambda a, m, z, low, high: np.log2(m) % 1 != 0),
    ),
)
