"""``Derivation``: where one number comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..tensor.arguments import as_integer
from .draft import EXPLAINERS, Draft, Picture
from .elsewhere import add_others
from .record import Record, Value
from .show.html import as_html
from .show.json import as_dict, as_json
from .show.latex import as_latex
from .show.text import as_text
from .steps import Step, short

__all__ = ["Derivation", "Input", "Inputs", "derive", "derive_record"]


class Input:
    """An element of an input that a derivation took.

    Attributes
    ----------
    symbol : str
        As formulas call the input.
    layer : str
        What made it: a layer, or ``"input"``.
    index : tuple of int
        Where it lies.
    value : int or float
        The stored integer, or the real number.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.quantized.Linear(2, 1)
    >>> x = pyqref.quantize_per_tensor(pyqref.ones(1, 2), 0.5, 0, pyqref.quint8)
    >>> found = pyqref.explain(layer, x, index=(0, 0))
    >>> found.inputs[1]
    x[0, 1] = 2 of input
    """

    def __init__(self, symbol: str, source: Value, place: int) -> None:
        self.symbol = symbol
        self.layer = source.name
        self.index = tuple(int(each) for each in np.unravel_index(place, source.shape))
        self.value = source.number(self.index)
        self._source = source

    @property
    def is_given(self) -> bool:
        """True if the number came from outside, so that no operation made it."""
        return self._source.maker is None

    @property
    def can_be_asked(self) -> bool:
        """True if there is a derivation of the number."""
        maker = self._source.maker
        return maker is not None and maker.operation in EXPLAINERS

    def why(self) -> Derivation:
        """The derivation of this number, one layer back.

        Raises
        ------
        LookupError
            It was given from outside, or an operation on real numbers made it.
        """
        return derive(self._source, self.index)

    def __repr__(self) -> str:
        return f"{self.symbol}{list(self.index)} = {self.value} of {self.layer}"


class Inputs(Sequence[Input]):
    """The elements that a derivation took, made when they are asked for."""

    def __init__(self, draft: Draft) -> None:
        self._sources = draft.sources
        self._ends = np.cumsum([each.places.size for each in draft.sources]).tolist()

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        number, count = as_integer(number, "inputs: the number"), len(self)
        if not -count <= number < count:
            raise IndexError(f"inputs: the number must be in [{-count}, {count - 1}], got {number}")
        number = number % count
        which = int(np.searchsorted(self._ends, number, side="right"))
        before = self._ends[which - 1] if which else 0
        source = self._sources[which]
        return Input(source.symbol, source.value, int(source.places[number - before]))

    def __iter__(self) -> Iterator[Input]:
        return (self[number] for number in range(len(self)))


class Derivation:
    """Derivation of one number, step by step.

    Attributes
    ----------
    layer, operation, engine : str
        Which layer or node it belongs to, what it does, and the engine that was set; empty where
        engines make no difference.
    index : tuple of int
        Which element of the output.
    stored : int or float
        What the layer stored there.
    value : int or float
        What the steps lead to; equal to ``stored``.
    steps : tuple of Step
        In order.
    inputs : sequence of Input
        The elements that the steps took; ``inputs[k].why()`` goes one layer back.
    notes : tuple of str
        What else there is to know.
    tables : tuple of Table
        Numbers that a decision was made from, such as the ranges that a histogram was searched for:
        each with ``title``, ``header`` and ``rows``.
    others : dict
        By name of an arithmetic that was asked for, its steps
        (:class:`pyqref.arithmetic.Step`); the last value is its integer.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([0.25, 0.5])
    >>> with pyqref.explaining.recording():
    ...     y = pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8)
    >>> found = y.why(0)
    >>> found.value, found.stored, found.check()
    (6, 6, True)
    >>> found.step("rounded").decision
    'a tie: to the even 6'
    """

    def __init__(self, draft: Draft) -> None:
        record = draft.record
        self.layer = record.layer
        self.operation = record.operation
        self.engine = "" if record.kind == "observer" else str(record.settings.get("engine", ""))
        self.index = draft.index
        self.steps: tuple[Step, ...] = tuple(draft.steps)
        self.inputs = Inputs(draft)
        self.notes = tuple(draft.notes)
        self.tables = tuple(draft.tables)
        self.picture: Picture | None = draft.picture
        self.others = dict(draft.others)
        self.stored = stored_number(draft)
        self.result = draft.result
        self.value = self.steps[draft.result].value if self.steps else self.stored

    @property
    def real(self) -> int | np.floating[Any]:
        """The real number that the value stands for."""
        return self.steps[-1].value if self.steps else self.stored

    def step(self, name: str) -> Step:
        """The last step of this name.

        Raises
        ------
        LookupError
            There is none.
        """
        for each in reversed(self.steps):
            if name in (each.name, each.symbol):
                return each
        names = ", ".join(repr(each.name) for each in self.steps)
        raise LookupError(f"there is no step {name!r}; there are {names}")

    def check(self) -> bool:
        """Compute each step again, from its own operands, in exact arithmetic.

        Returns
        -------
        bool
            True; what does not hold raises.

        Raises
        ------
        ArithmeticError
            A step gives another value than it says, takes a number that no step before gave, or
            the last value is not what the layer stored.
        """
        for step in self.steps:
            for operand in step.operands:
                if operand.step is not None and not _same(
                    self.steps[operand.step].value, operand.value
                ):
                    raise ArithmeticError(
                        f"{self.layer}{list(self.index)}: step {step.name!r} takes {operand.value} "
                        f"for {operand.symbol}, which step {operand.step} does not give"
                    )
            again = step.recompute()
            if not _same(again, step.value):
                raise ArithmeticError(
                    f"{self.layer}{list(self.index)}: step {step.name!r} says {step.value}, "
                    f"computed again it is {again}"
                )
        if not _same(self.value, self.stored):
            raise ArithmeticError(
                f"{self.layer}{list(self.index)}: the steps lead to {self.value}, "
                f"the layer stored {self.stored}"
            )
        return True

    def tree(self, depth: int = 2, most: int = 3) -> str:
        """The numbers behind this one, layer by layer, as an indented list.

        Parameters
        ----------
        depth
            How many layers back.
        most
            How many inputs of each: those that weigh most.

        Examples
        --------
        >>> import pyqref
        >>> x = pyqref.tensor([0.25, 0.5])
        >>> with pyqref.explaining.recording():
        ...     y = pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8).dequantize()
        >>> print(y.why(0).tree())
        dequantize[0] = 0.3
          quantize_per_tensor[0] = 6
            input[0] = 0.25
        """
        depth, most = as_integer(depth, "tree: depth", 0), as_integer(most, "tree: most", 0)
        return "\n".join(self._branches(depth, most, ""))

    def _branches(self, depth: int, most: int, indent: str) -> Iterator[str]:
        yield f"{indent}{self.layer}{list(self.index)} = {short(self.stored)}"
        if depth <= 0:
            return
        chosen = self.largest_inputs(most)
        for each in chosen:
            if each.can_be_asked:
                yield from each.why()._branches(depth - 1, most, indent + "  ")
            else:
                yield f"{indent}  {each.layer}{list(each.index)} = {short(each.value)}"
        left = len(self.inputs) - len(chosen)
        if left:
            yield f"{indent}  ... and {left} more"

    def largest_inputs(self, most: int = 3) -> list[Input]:
        """The inputs that weigh most: those of the largest products, else the first ones."""
        picture, most = self.picture, as_integer(most, "largest_inputs: most", 0)
        if picture is None or len(self.inputs) <= most:
            return list(self.inputs[:most])
        products = np.abs(picture.inputs * picture.weights)[~picture.padded].ravel()
        order = np.argsort(-products, kind="stable")[:most]
        return [self.inputs[int(each)] for each in order]

    def to_dict(self) -> dict[str, Any]:
        """The derivation as plain dicts and lists; ``"schema"`` is the version of their form."""
        return as_dict(self)

    def to_json(self, indent: int | None = None) -> str:
        """The derivation as JSON: real numbers in hexadecimal, which leaves nothing out.

        Examples
        --------
        >>> import json, pyqref
        >>> x = pyqref.tensor([0.25, 0.5])
        >>> with pyqref.explaining.recording():
        ...     y = pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8)
        >>> found = json.loads(y.why(0).to_json())
        >>> found["schema"], found["stored"]
        (1, {'type': 'integer', 'value': 6})
        """
        if indent is not None:
            indent = as_integer(indent, "to_json: indent", 0)
        return as_json(self, indent)

    def to_latex(self) -> str:
        """The steps as an ``align*`` of LaTeX."""
        return as_latex(self)

    def _repr_html_(self) -> str:
        return as_html(self)

    def __rich__(self) -> str:
        """Return the text for ``rich.print``, with brackets escaped so that they mean no styles."""
        return str(self).replace("[", r"\[")

    def __str__(self) -> str:
        return as_text(self)

    def __repr__(self) -> str:
        return f"<Derivation of {self.layer}{list(self.index)} = {short(self.stored)}>"


def stored_number(draft: Draft) -> int | np.floating[Any]:
    """Return the number that the layer stored."""
    if draft.stored is not None:
        return draft.stored
    return draft.output.number(draft.index)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    return bool(a == b) or (a != a and b != b)


def derive(value: Value, index: tuple[int, ...]) -> Derivation:
    """The derivation of one recorded number.

    Raises
    ------
    LookupError
        It was given from outside, or there is no explanation of the operation that made it.
    """
    record = value.maker
    if record is None:
        raise LookupError(
            f"why: {list(index)} was given from outside, as {value.name}: nothing that was "
            "recorded made it"
        )
    return derive_record(record, index, record.outputs.index(value))


def derive_record(
    record: Record, index: tuple[int, ...], output: int = 0, arithmetics: tuple[str, ...] = ()
) -> Derivation:
    """The derivation of one element of what an operation gave."""
    explainer = EXPLAINERS.get(record.operation)
    if explainer is None and record.kind == "observer":
        explainer = EXPLAINERS["observer"]
    if explainer is None:
        what = "works on real numbers, it is no quantized layer"
        if record.kind != "float":
            what = "has no derivation"
        raise LookupError(
            f"why: {record.layer or record.operation} ({record.operation}) {what}; ask for a layer "
            "that quantizes, dequantizes or computes with integers, and convert the model if it "
            "has none"
        )
    draft = Draft(record, index, which=output, arithmetics=arithmetics)
    explainer(draft)
    add_others(draft)
    found = Derivation(draft)
    other = record.settings.get("arithmetic")
    if other is not None and found.steps and not _same(found.value, found.stored):
        raise LookupError(
            f"why: {record.layer} ran in the arithmetic {other.name!r}; call explain outside of "
            "arithmetic.use, with its name in arithmetics"
        )
    return found
