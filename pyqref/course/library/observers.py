"""Knowledge of the checker about exercises on observers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change

__all__ = ["MIN_MAX_OBSERVER", "MOVING_AVERAGE_OBSERVER"]


def _batches(random: np.random.Generator) -> list[tuple[str, tuple[Any, ...]]]:
    def batch(low: float, high: float, shape: Any = 5) -> np.ndarray:
        values = random.uniform(low, high, shape)
        values.flat[-1], values.flat[len(values) // 2] = low, high
        return values.astype(np.float32)

    a, b, c = sorted(float(each) for each in random.uniform(1, 4, 3))
    return [
        ("drawn: the second wider at both ends", (batch(-a, a), batch(-c, b))),
        ("drawn: the second wider above", (batch(-c, a), batch(-a, c))),
        ("drawn: the second wider below", (batch(-a, c), batch(-c, a))),
        ("drawn: the second narrower", (batch(-c, c), batch(-a, b))),
        ("drawn: above zero", (batch(b, c), batch(a, c + 1), batch(b, b + 0.5))),
        ("drawn: below zero", (batch(-c, -b), batch(-c - 1, -a))),
        ("drawn: matrices", (batch(-a, b, (3, 4)), batch(-b, c, (2, 4)), batch(-a, a, (3, 2)))),
    ]


def draw_min_max(random: np.random.Generator) -> tuple[Case, ...]:
    """Two or three batches that widen the range at one end, at both, or not at all."""
    return tuple(Case(words, batches) for words, batches in _batches(random))


def draw_average(random: np.random.Generator) -> tuple[Case, ...]:
    """Draw the batches of the other observer, each with a constant."""
    constants = (float(each) for each in random.uniform(0.05, 0.45, 7))
    pairs = zip(_batches(random), constants, strict=True)
    return tuple(Case(words, (constant, *batches)) for (words, batches), constant in pairs)


_SILENT = change(
    "does not return its input",
    "An observer stands in the middle of a model: forward must hand x on.",
    ("        return x\n", ""),
)
_LOW = "self.min_val = min(self.min_val, float(x.min()))"
_HIGH = "self.max_val = max(self.max_val, float(x.max()))"
MIN_MAX_OBSERVER = Library(
    exercise="min_max_observer",
    answer=f"""\
class MinMaxObserver:
    def __init__(self):
        self.min_val = np.inf
        self.max_val = -np.inf

    def forward(self, x):
        {_LOW}
        {_HIGH}
        return x
""",
    changes=(
        change(
            "remembers the last batch only",
            "Compare with the range so far: min(min_val, x.min()).",
            (_LOW, "self.min_val = float(x.min())"),
            (_HIGH, "self.max_val = float(x.max())"),
        ),
        change(
            "begins at zero",
            "Before any data the range is empty: min_val = inf, max_val = -inf.",
            ("np.inf\n        self.max_val = -np.inf", "0.0\n        self.max_val = 0.0"),
        ),
        change(
            "asks for the upper end only if the lower end did not move (if, elif)",
            "One batch may widen both ends: use two ifs, or min and max.",
            (
                f"{_LOW}\n        {_HIGH}",
                (
                    "low, high = float(x.min()), float(x.max())\n"
                    "        if low < self.min_val:\n            self.min_val = low\n"
                    "        elif high > self.max_val:\n            self.max_val = high"
                ),
            ),
        ),
        change(
            "asks for the lower end only if the upper end did not move (if, elif)",
            "One batch may widen both ends: use two ifs, or min and max.",
            (
                f"{_LOW}\n        {_HIGH}",
                (
                    "low, high = float(x.min()), float(x.max())\n"
                    "        if high > self.max_val:\n            self.max_val = high\n"
                    "        elif low < self.min_val:\n            self.min_val = low"
                ),
            ),
        ),
        change("forgets the lower end", "Both ends are observed.", (_LOW, "")),
        change("forgets the upper end", "Both ends are observed.", (_HIGH, "")),
        change(
            "narrows the range",
            "The range holds all that was shown: min of the lower ends, max of the upper ones.",
            (
                _LOW,
                (
                    "self.min_val = max(self.min_val, float(x.min())) if np.isfinite(self.min_val) "
                    "else float(x.min())"
                ),
            ),
            (
                _HIGH,
                (
                    "self.max_val = min(self.max_val, float(x.max())) if np.isfinite(self.max_val) "
                    "else float(x.max())"
                ),
            ),
        ),
        change(
            "takes the largest size for both ends",
            "The range is not symmetric: the lower end is x.min().",
            ("float(x.min())", "float(-np.abs(x).max())"),
            ("float(x.max())", "float(np.abs(x).max())"),
        ),
        change(
            "takes the mean of the batch",
            "The ends of the batch count: x.min() and x.max().",
            ("x.min()", "x.mean()"),
            ("x.max()", "x.mean()"),
        ),
        change(
            "swaps the ends",
            "min_val is the lower end, max_val the upper one.",
            (
                "        return x\n",
                (
                    "        self.min_val, self.max_val = self.max_val, self.min_val\n"
                    "        return x\n"
                ),
            ),
        ),
        _SILENT,
    ),
    draw=draw_min_max,
    traits=(
        Trait("more than one batch is shown", lambda *b: len(b) > 1),
        Trait(
            "a later batch is narrower at an end",
            lambda *b: len(b) > 1 and (b[-1].min() > b[0].min() or b[-1].max() < b[0].max()),
        ),
        Trait(
            "a later batch widens the range",
            lambda *b: any(each.min() < b[0].min() or each.max() > b[0].max() for each in b[1:]),
        ),
        Trait(
            "the data do not hold zero",
            lambda *b: min(each.min() for each in b) > 0 or max(each.max() for each in b) < 0,
        ),
        Trait("the data are no vectors", lambda *b: b[0].ndim > 1),
    ),
)

_UP = "self.averaging_constant * (high - self.max_val)"
_DOWN = "self.averaging_constant * (low - self.min_val)"
_CONSTANT = "The constant is an argument of the class."
MOVING_AVERAGE_OBSERVER = Library(
    exercise="moving_average_observer",
    answer=f"""\
class MovingAverageMinMaxObserver:
    def __init__(self, averaging_constant):
        self.averaging_constant = averaging_constant
        self.min_val = np.inf
        self.max_val = -np.inf

    def forward(self, x):
        low, high = float(x.min()), float(x.max())
        if self.min_val > self.max_val:
            self.min_val, self.max_val = low, high
        else:
            self.min_val += {_DOWN}
            self.max_val += {_UP}
        return x
""",
    changes=(
        change(
            "swaps the parts",
            "The new batch counts averaging_constant, the old range the rest.",
            ("self.averaging_constant * (", "(1 - self.averaging_constant) * ("),
        ),
        change(
            "averages the first batch with zero",
            "The first batch is the range: there is nothing to average with.",
            ("np.inf\n        self.max_val = -np.inf", "0.0\n        self.max_val = 0.0"),
        ),
        *(
            change(
                f"the constant is {value} always", _CONSTANT, ("= averaging_constant", f"= {value}")
            )
            for value in (0.01, 0.1, 0.9, 0.99)
        ),
        change(
            "never forgets",
            "The range may shrink: average, do not widen.",
            (f"+= {_DOWN}", "= min(self.min_val, low)"),
            (f"+= {_UP}", "= max(self.max_val, high)"),
        ),
        change(
            "averages the lower end only",
            "Both ends move by the part averaging_constant.",
            (f"+= {_UP}", "= max(self.max_val, high)"),
        ),
        change(
            "averages the upper end only",
            "Both ends move by the part averaging_constant.",
            (f"+= {_DOWN}", "= min(self.min_val, low)"),
        ),
        change(
            "remembers the last batch only",
            "The old range counts as well: 1 - averaging_constant.",
            (f"+= {_DOWN}", "= low"),
            (f"+= {_UP}", "= high"),
        ),
        change(
            "remembers the first batch only",
            "Later batches count as well.",
            (f"+= {_DOWN}", "+= 0"),
            (f"+= {_UP}", "+= 0"),
        ),
        change(
            "does not take the old range off",
            "The two parts add up to one: (1 - c) * old + c * new.",
            ("(low - self.min_val)", "low"),
            ("(high - self.max_val)", "high"),
        ),
        change(
            "moves away from the batch",
            "The range moves towards the batch: add c * (new - old).",
            ("(low - self.min_val)", "(self.min_val - low)"),
            ("(high - self.max_val)", "(self.max_val - high)"),
        ),
        change(
            "takes the plain mean of the two",
            "The new batch counts averaging_constant.",
            ("self.averaging_constant * (", "0.5 * ("),
        ),
        _SILENT,
    ),
    draw=draw_average,
    traits=(
        Trait("more than one batch is shown", lambda c, *b: len(b) > 1),
        Trait("more than two batches are shown", lambda c, *b: len(b) > 2),
        Trait("only one batch is shown", lambda c, *b: len(b) == 1),
    ),
)
