"""Knowledge of the checker about the exercise on exact sums."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change, integers_of, rows

__all__ = ["ACCUMULATE"]


def draw_accumulate(random: np.random.Generator) -> tuple[Case, ...]:
    """Each zero point alone, both, square and long arrays."""
    cases = []
    shapes = ((2, 5, 3), (3, 4, 3), (2, 6, 2), (1, 40, 2), (3, 7, 4), (1, 700, 1))
    for number, (m, k, n) in enumerate(shapes):
        x_point = int(random.integers(1, 255)) if number != 1 else 0
        w_point = int(random.integers(-100, 100)) or 5
        if number == 0:
            w_point = 0
        x, w = integers_of(random, False, (m, k)), integers_of(random, True, (n, k))
        if number == 5:  # more than 2**24, and odd
            x[:], w[:], x_point, w_point = 255, 127, 0, 0
            w[0, 0] = 126 - int(random.integers(0, 50))
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
        *rows(
            "x @ w.T",
            (
                "subtracts the zero points from the sums",
                "Each factor is centred: the sum changes by zero points times sums, not once.",
                "(x + x_zero_point) @ (w + w_zero_point).T - x_zero_point - w_zero_point",
            ),
            (
                "adds the terms of the zero points",
                "Expanding (x - z_x)(w - z_w) subtracts both mixed terms.",
                (
                    "(x + x_zero_point) @ (w + w_zero_point).T"
                    " + x_zero_point * (w + w_zero_point).sum(1)"
                    " + w_zero_point * (x + x_zero_point).sum(1)[:, None]"
                    f" + x.shape[1] * {_TERM}"
                ),
            ),
            (
                "loses both mixed terms",
                "Expanding the product gives four terms.",
                f"(x + x_zero_point) @ (w + w_zero_point).T + x.shape[1] * {_TERM}",
            ),
            (
                "subtracts the product of the zero points only",
                "Expanding the product gives four terms, each summed over k.",
                f"(x + x_zero_point) @ (w + w_zero_point).T - x.shape[1] * {_TERM}",
            ),
            (
                "subtracts the product of the zero points only",
                "Expanding the product gives four terms, each summed over k.",
                f"(x + x_zero_point) @ (w + w_zero_point).T - {_TERM}",
            ),
            (
                "wraps negative sums around",
                "Sums are signed: -1 is 4294967295 in uint32.",
                "(x @ w.T) % 2**32",
            ),
            (
                "adds in float32",
                "float32 holds integers up to 2**24 exactly: add integers.",
                "(x.astype(np.float32) @ w.T.astype(np.float32))",
            ),
            (
                "adds in float16",
                "float16 holds integers up to 2048 exactly: add integers.",
                "(x.astype(np.float16) @ w.T.astype(np.float16))",
            ),
            (
                "multiplies in 16 bits",
                "A product of two centred bytes needs 17 bits: widen before you multiply.",
                "((x[:, None] * w + 2**15) % 2**16 - 2**15).sum(axis=2)",
            ),
            (
                "clips the sum to eight bits",
                "The sum is exact: it needs 32 bits.",
                "np.clip(x @ w.T, -128, 127)",
            ),
            (
                "clips the sum to eight bits",
                "The sum is exact: it needs 32 bits.",
                "np.clip(x @ w.T, 0, 255)",
            ),
            (
                "makes 0 of negative sums",
                "That is a ReLU: sums may be negative.",
                "np.maximum(x @ w.T, 0)",
            ),
            ("takes the mean", "The products are added up.", "x @ w.T / x.shape[1]"),
            (
                "leaves out the last product",
                "The sum runs over all K products: range(K) ends at K - 1 by itself.",
                "x[:, :-1] @ w[:, :-1].T",
            ),
            (
                "leaves out the first product",
                "The sum runs over all K products, from 0 on.",
                "x[:, 1:] @ w[:, 1:].T",
            ),
        ),
        change(
            "cuts negative centred inputs off",
            "x - x_zero_point is negative below the zero point.",
            (_X, "x = np.maximum(x.astype(np.int64) - x_zero_point, 0)"),
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
