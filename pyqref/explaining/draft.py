"""A derivation under way: what explainers fill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .record import Record, Value
from .steps import Operand, Steps

if TYPE_CHECKING:
    from ..arithmetic.base import Arithmetic
    from ..arithmetic.step import Note

__all__ = [
    "CAPTURES",
    "EXPLAINERS",
    "Draft",
    "Elsewhere",
    "Picture",
    "Source",
    "Table",
    "captures",
    "explains",
]


class Source(NamedTuple):
    """Elements of an input that a derivation took.

    Attributes
    ----------
    symbol
        As formulas call the input.
    value
        The input.
    places
        Which elements, as positions in its flattened array.
    """

    symbol: str
    value: Value
    places: np.ndarray


class Picture(NamedTuple):
    """The window of a weighted sum: ``(C, *kernel)`` each.

    Attributes
    ----------
    inputs, weights
        Less their zero points; 0 in the padding.
    padded
        Where the window lies in the padding.
    """

    inputs: np.ndarray
    weights: np.ndarray
    padded: np.ndarray


class Table(NamedTuple):
    """Numbers that a decision was made from.

    Attributes
    ----------
    title
        What they are.
    header
        A word for each column.
    rows
        Numbers, or text.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


#: What an arithmetic makes of one element; None where it has no rule for the operation.
Elsewhere = Callable[["Arithmetic", "Note"], Any]


@dataclass
class Draft:
    """Input and output of an explainer: the record that it reads, the steps that it fills in.

    Attributes
    ----------
    record
        The operation.
    index
        Which element of its output.
    steps, sources, picture, notes, tables
        What the explainer finds.
    which
        Which output.
    answer
        The number of the step whose value was stored; the last one if None.
    stored
        What was stored, where it is no element of the output.
    arithmetics, others
        Other systems to compare with, by name, and their steps.
    elsewhere
        What another system makes of the same element.
    """

    record: Record
    index: tuple[int, ...]
    steps: Steps = field(default_factory=Steps)
    sources: list[Source] = field(default_factory=list)
    picture: Picture | None = None
    notes: list[str] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    which: int = 0
    answer: int | None = None
    stored: Any = None
    arithmetics: tuple[str, ...] = ()
    others: dict[str, Any] = field(default_factory=dict)
    elsewhere: Elsewhere | None = None

    def argument(self, *names: str) -> Any:
        """The first argument of one of these names."""
        for name in names:
            if name in self.record.arguments:
                return self.record.arguments[name]
        raise KeyError(names[0])

    @property
    def output(self) -> Value:
        """The output that is explained."""
        return self.record.outputs[self.which]

    @property
    def result(self) -> int:
        """The number of the step whose value the layer stored."""
        return len(self.steps) - 1 if self.answer is None else self.answer

    @property
    def engine(self) -> str:
        """The engine when the operation ran."""
        return str(self.record.settings["engine"])

    def element(self, symbol: str, value: Value, index: tuple[int, ...]) -> Operand:
        """One element of an input, as an operand."""
        place = np.ravel_multi_index(index, value.shape) if value.shape else 0
        self.sources.append(Source(symbol, value, np.array([place])))
        return Operand(symbol, value.number(index))

    def elements(self, symbol: str, value: Value, places: np.ndarray) -> Operand:
        """Several elements of an input, by their positions in the flattened array."""
        places = np.asarray(places).ravel()
        self.sources.append(Source(symbol, value, places))
        return Operand(symbol, value.array.reshape(-1)[places])

    def dequantized(self, q: Operand, value: Value, symbol: str = "y") -> Operand:
        """The real number that an integer stands for; that of the output is what was stored."""
        if value is self.output:
            self.answer = q.step
        difference = self.steps.add(
            "less the zero point",
            "difference",
            q,
            Operand("z", value.zero_point),
            symbol="d",
        )
        scale = self.steps.single("scale", "s", value.scale)
        return self.steps.add(
            "real number", "times32", difference, scale, symbol=symbol, label="eq-affine-dequantize"
        )

    def aligned(self, value: Value, index: tuple[int, ...]) -> tuple[int, ...]:
        """The place of an input that broadcasts to the output at ``index``."""
        kept = index[len(index) - len(value.shape) :]
        return tuple(
            0 if size == 1 else place for size, place in zip(value.shape, kept, strict=True)
        )


Explainer = Callable[[Draft], None]
#: By operation, what fills a draft.
EXPLAINERS: dict[str, Explainer] = {}


def explains(*operations: str) -> Callable[[Explainer], Explainer]:
    """Register a function that explains these operations."""

    def register(explainer: Explainer) -> Explainer:
        for operation in operations:
            EXPLAINERS[operation] = explainer
        return explainer

    return register


Capture = Callable[[dict[str, Any]], dict[str, Any]]
#: By operation, what is kept beside its arguments when it runs.
CAPTURES: dict[str, Capture] = {}


def captures(*operations: str) -> Callable[[Capture], Capture]:
    """Register a function that says what to keep of what the arguments hold now."""

    def register(capture: Capture) -> Capture:
        CAPTURES.update(dict.fromkeys(operations, capture))
        return capture

    return register
