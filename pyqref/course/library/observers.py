"""Knowledge of the checker about the exercise on the range of all batches."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change

__all__ = ["BEGINS", "MIN_MAX_OBSERVER", "RETURN", "batches_of"]


def batches_of(random: np.random.Generator) -> list[tuple[str, tuple[Any, ...]]]:
    """Batches that move the lower end, the upper end, both or none, and what they are for."""

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
        ("drawn: an end at zero", (batch(0.0, a), batch(b, c))),
        ("drawn: the upper end at zero", (batch(-a, 0.0), batch(-c, -b))),
        ("drawn: numbers that fall", (np.array([c, b, a], np.float32),)),
        ("drawn: a zero first", (np.zeros(1, np.float32), batch(-a, b), batch(-b, c))),
        ("drawn: one number", tuple(np.full(1, each, np.float32) for each in (b, a, c))),
        ("drawn: large numbers", (batch(9e7 * a, 9e7 * c), batch(8e7 * b, 9e7 * b))),
        ("drawn: large numbers below zero", (batch(-9e7 * c, -9e7 * a), batch(-9e7 * b, -8e7 * b))),
        ("drawn: above zero", (batch(b, c), batch(a, c + 1), batch(b, b + 0.5))),
        ("drawn: below zero", (batch(-c, -b), batch(-c - 1, -a))),
        ("drawn: matrices", (batch(-a, b, (3, 4)), batch(-b, c, (2, 4)), batch(-a, a, (3, 2)))),
    ]


def draw_min_max(random: np.random.Generator) -> tuple[Case, ...]:
    """Two or three batches that widen the range at one end, at both, or not at all."""
    return tuple(Case(words, batches) for words, batches in batches_of(random))


_HANDS_ON = "An observer stands in the middle of a model: forward must hand x on."
BEGINS = "np.inf\n        self.max_val = -np.inf"
_EMPTY = "Before any data the range is empty: min_val = inf, max_val = -inf."
RETURN = (
    change("does not return its input", _HANDS_ON, ("        return x\n", "")),
    change(
        "returns x clamped to the range so far",
        _HANDS_ON,
        (
            "        return x\n",
            (
                "        x = np.clip(x, *getattr(self, 'before', (-np.inf, np.inf)))\n"
                "        self.before = self.min_val, self.max_val\n        return x\n"
            ),
        ),
    ),
)


_LOWER = "value < self.min_val:\n                self.min_val = float(value)"
_UPPER = "value > self.max_val:\n                self.max_val = float(value)"
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
            _EMPTY,
            (BEGINS, "0.0\n        self.max_val = 0.0"),
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
        change(
            "asks each number for the upper end only if it is no new lower end (if, elif)",
            "The first number of all is both ends: use two ifs, or min and max.",
            (
                f"{_LOW}\n        {_HIGH}",
                f"for value in np.ravel(x):\n            if {_LOWER}\n            elif {_UPPER}",
            ),
        ),
        change(
            "asks each number for the lower end only if it is no new upper end (if, elif)",
            "The first number of all is both ends: use two ifs, or min and max.",
            (
                f"{_LOW}\n        {_HIGH}",
                f"for value in np.ravel(x):\n            if {_UPPER}\n            elif {_LOWER}",
            ),
        ),
        change(
            "the lower end begins at zero", _EMPTY, ("self.min_val = np.inf", "self.min_val = 0.0")
        ),
        change(
            "the upper end begins at zero", _EMPTY, ("self.max_val = -np.inf", "self.max_val = 0.0")
        ),
        *(
            change(f"begins at {words}", _EMPTY, (BEGINS, f"{low}\n        self.max_val = {high}"))
            for words, low, high in (
                ("one", "1.0", "1.0"),
                ("-1 and 1", "-1.0", "1.0"),
                ("a number that data can exceed", "1e3", "-1e3"),
            )
        ),
        change(
            "takes an end of 0 for none",
            "0 counts as false: ask `is None`, or begin with inf.",
            (
                f"{_LOW}\n        {_HIGH}",
                (
                    "low, high = float(x.min()), float(x.max())\n"
                    "        self.min_val = min(self.min_val or np.inf, low)\n"
                    "        self.max_val = max(self.max_val or -np.inf, high)"
                ),
            ),
        ),
        change(
            "takes an end of 0 for none",
            "0 counts as false: ask `is None`, or begin with inf.",
            (
                f"{_LOW}\n        {_HIGH}",
                (
                    "low, high = float(x.min()), float(x.max())\n"
                    "        empty = not self.min_val or np.isinf(self.min_val)\n"
                    "        self.min_val = low if empty else min(self.min_val, low)\n"
                    "        self.max_val = high if empty else max(self.max_val, high)"
                ),
            ),
        ),
        change(
            "takes an end of 0 for none",
            "0 counts as false: ask `is None`, or begin with inf.",
            (
                f"{_LOW}\n        {_HIGH}",
                (
                    "low, high = float(x.min()), float(x.max())\n"
                    "        empty = not self.max_val or np.isinf(self.max_val)\n"
                    "        self.min_val = low if empty else min(self.min_val, low)\n"
                    "        self.max_val = high if empty else max(self.max_val, high)"
                ),
            ),
        ),
        change(
            "widens only where both ends move",
            "Each end moves by itself.",
            (
                f"{_LOW}\n        {_HIGH}",
                (
                    "low, high = float(x.min()), float(x.max())\n"
                    "        if low < self.min_val and high > self.max_val:\n"
                    "            self.min_val, self.max_val = low, high"
                ),
            ),
        ),
        change(
            "takes a batch whole where it moves an end",
            "Each end moves by itself: the other may be narrower in this batch.",
            (
                f"{_LOW}\n        {_HIGH}",
                (
                    "low, high = float(x.min()), float(x.max())\n"
                    "        if low < self.min_val or high > self.max_val:\n"
                    "            self.min_val, self.max_val = low, high"
                ),
            ),
        ),
        change(
            "remembers the first batch only",
            "Later batches count as well.",
            (
                f"{_LOW}\n        {_HIGH}",
                (
                    "if np.isinf(self.min_val):\n            self.min_val = float(x.min())\n"
                    "            self.max_val = float(x.max())"
                ),
            ),
        ),
        change(
            "leaves the first batch out",
            "The first batch counts as well.",
            (
                f"{_LOW}\n        {_HIGH}",
                (
                    "if getattr(self, 'seen', False):\n"
                    f"            {_LOW}\n            {_HIGH}\n"
                    "        self.seen = True"
                ),
            ),
        ),
        *(
            change(
                name,
                "All numbers of the batch count: x.min() and x.max().",
                ("x.min()", f"{part}.min()"),
                ("x.max()", f"{part}.max()"),
            )
            for name, part in (
                ("looks at the first row or number only", "x[:1]"),
                ("looks at the last row or number only", "x[-1:]"),
                ("leaves out the first number", "np.ravel(x)[1:]"),
                ("leaves out the last number", "np.ravel(x)[:-1]"),
                ("rounds the data", "np.rint(x)"),
            )
        ),
        change(
            "takes the data for sorted",
            "The ends may stand anywhere: x.min() and x.max().",
            ("x.min()", "x.flat[0]"),
            ("x.max()", "x.flat[-1]"),
        ),
        change(
            "takes the largest size for the upper end",
            "The upper end is x.max(), with its sign.",
            ("float(x.max())", "float(np.abs(x).max())"),
        ),
        change(
            "takes the smallest size for the lower end",
            "The lower end is x.min(), with its sign.",
            ("float(x.min())", "float(np.abs(x).min())"),
        ),
        change(
            "averages with the range so far",
            "That is another observer: this one only widens.",
            (
                _LOW,
                (
                    "self.min_val = float(x.min()) if np.isinf(self.min_val) else "
                    "(self.min_val + float(x.min())) / 2"
                ),
            ),
            (
                _HIGH,
                (
                    "self.max_val = float(x.max()) if np.isinf(self.max_val) else "
                    "(self.max_val + float(x.max())) / 2"
                ),
            ),
        ),
        change(
            "sets the upper end from the smallest number",
            "max_val follows x.max().",
            ("x.max()", "x.min()"),
        ),
        change(
            "sets the lower end from the largest number",
            "min_val follows x.min().",
            ("x.min()", "x.max()"),
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
        *RETURN,
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
        Trait(
            "a batch has an end at 0",
            lambda *b: any(each.min() == 0 or each.max() == 0 for each in b),
        ),
        Trait(
            "the numbers of the first batch fall",
            lambda *b: b[0].size == 1 or bool(np.all(np.diff(np.ravel(b[0])) < 0)),
        ),
        Trait("the data have more than one axis", lambda *b: b[0].ndim > 1),
    ),
)
