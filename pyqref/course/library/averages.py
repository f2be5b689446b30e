"""Knowledge of the checker about the exercise on the average of ranges."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .observers import BEGINS, RETURN, batches_of
from .parts import change

__all__ = ["MOVING_AVERAGE_OBSERVER"]


def draw_average(random: np.random.Generator) -> tuple[Case, ...]:
    """Draw the batches of the other observer, each with a constant."""
    constants = (float(each) for each in random.uniform(0.05, 0.45, 14))
    pairs = zip(batches_of(random), constants, strict=True)
    return tuple(Case(words, (constant, *batches)) for (words, batches), constant in pairs)


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
        if np.isinf(self.min_val):
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
            (BEGINS, "0.0\n        self.max_val = 0.0"),
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
            "only widens",
            "The range moves towards every batch, also where that makes it narrower.",
            (f"+= {_DOWN}", f"+= min({_DOWN}, 0.0)"),
            (f"+= {_UP}", f"+= max({_UP}, 0.0)"),
        ),
        change(
            "moves outwards as far as the batch, and inwards by the part",
            "Both ends move by the part averaging_constant, wherever the batch lies.",
            (f"+= {_DOWN}", f"+= (low - self.min_val) if low < self.min_val else {_DOWN}"),
            (f"+= {_UP}", f"+= (high - self.max_val) if high > self.max_val else {_UP}"),
        ),
        *(
            change(
                "takes an end of 0 for none",
                "0 counts as false: ask `is None`, or keep a flag.",
                ("if np.isinf(self.min_val):", f"if np.isinf(self.min_val) or {empty}:"),
            )
            for empty in (
                "not self.min_val",
                "not self.max_val",
                "not self.min_val or not self.max_val",
                "(not self.min_val and not self.max_val)",
            )
        ),
        change(
            "takes a range without width for none",
            "A batch of one number is a batch: begin with inf, or keep a flag.",
            (
                "if np.isinf(self.min_val):",
                "if np.isinf(self.min_val) or self.min_val == self.max_val:",
            ),
        ),
        change(
            "lets all batches count alike",
            "The average is exponential: the new batch counts averaging_constant.",
            (
                "        low, high =",
                "        self.seen = getattr(self, 'seen', 0) + 1\n        low, high =",
            ),
            ("self.averaging_constant * (", "1 / self.seen * ("),
        ),
        change(
            "sets the upper end from the smallest number",
            "max_val moves towards x.max().",
            ("(high - self.max_val)", "(low - self.max_val)"),
        ),
        change(
            "sets the lower end from the largest number",
            "min_val moves towards x.min().",
            ("(low - self.min_val)", "(high - self.min_val)"),
        ),
        change(
            "averages with the batch before instead of the range so far",
            "The old range is the average so far.",
            (
                "        return x\n",
                "        self.held = self.min_val, self.max_val\n        return x\n",
            ),
            (
                f"self.min_val += {_DOWN}",
                (
                    "old = getattr(self, 'last', (self.min_val, self.max_val))\n"
                    "            self.min_val = old[0] + self.averaging_constant * (low - old[0])"
                ),
            ),
            (
                f"self.max_val += {_UP}",
                ("self.max_val = old[1] + self.averaging_constant * (high - old[1])"),
            ),
            ("        self.held = self.min_val, self.max_val\n", "        self.last = low, high\n"),
        ),
        change(
            "corrects for the start as Adam does",
            "The first batch is the range: nothing has to be corrected.",
            (
                BEGINS,
                (
                    "0.0\n        self.max_val = 0.0\n"
                    "        self.a = self.b = 0.0\n        self.t = 0"
                ),
            ),
            (
                (
                    "        if np.isinf(self.min_val):\n"
                    "            self.min_val, self.max_val = low, high\n        else:\n"
                    f"            self.min_val += {_DOWN}\n            self.max_val += {_UP}\n"
                ),
                (
                    "        c = self.averaging_constant\n        self.t += 1\n"
                    "        self.a += c * (low - self.a)\n        self.b += c * (high - self.b)\n"
                    "        self.min_val = self.a / (1 - (1 - c) ** self.t)\n"
                    "        self.max_val = self.b / (1 - (1 - c) ** self.t)\n"
                ),
            ),
        ),
        *(
            change(
                name,
                "All numbers of the batch count: x.min() and x.max().",
                ("x.min()", f"{low}"),
                ("x.max()", f"{high}"),
            )
            for name, low, high in (
                ("takes the mean of the batch", "x.mean()", "x.mean()"),
                ("takes the largest size for both ends", "-np.abs(x).max()", "np.abs(x).max()"),
                ("looks at the first row or number only", "x[:1].min()", "x[:1].max()"),
                ("looks at the last row or number only", "x[-1:].min()", "x[-1:].max()"),
            )
        ),
        change(
            "swaps the ends",
            "min_val is the lower end, max_val the upper one.",
            (
                "low, high = float(x.min()), float(x.max())",
                "low, high = float(x.max()), float(x.min())",
            ),
        ),
        change(
            "forgets the upper end",
            "Both ends move.",
            (f"self.max_val += {_UP}", "pass"),
        ),
        change(
            "forgets the lower end",
            "Both ends move.",
            (f"self.min_val += {_DOWN}", "pass"),
        ),
        change(
            "takes the plain mean of the two",
            "The new batch counts averaging_constant.",
            ("self.averaging_constant * (", "0.5 * ("),
        ),
        *RETURN,
    ),
    draw=draw_average,
    traits=(
        Trait("more than one batch is shown", lambda c, *b: len(b) > 1),
        Trait("more than two batches are shown", lambda c, *b: len(b) > 2),
        Trait("only one batch is shown", lambda c, *b: len(b) == 1),
        Trait(
            "a batch has an end at 0",
            lambda c, *b: any(each.min() == 0 or each.max() == 0 for each in b),
        ),
        Trait("a batch is one number", lambda c, *b: any(each.size == 1 for each in b)),
        Trait(
            "a later batch is narrower at an end",
            lambda c, *b: any(e.min() > b[0].min() or e.max() < b[0].max() for e in b[1:]),
        ),
    ),
)
