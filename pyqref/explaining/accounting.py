"""Split the error of a quantized model into layers and causes, to the last bit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from .._typing import Tensor
from ..measure.noise import numbers
from ..nn.modules import Module
from ..tensor import from_numpy
from .advice import advise
from .book import FOLDING, Ledger
from .hybrid import Hybrid, Unchanged
from .metrics import Batch, Batches, Metric, metric_of
from .progress import Progress
from .running import called
from .stages import FLOAT

__all__ = ["ledger", "telescope"]


def telescope(values: list[Fraction]) -> list[Fraction]:
    r"""The steps between successive values, which add up to the whole way.

    Equation ``eq-ledger``:

    .. math:: c_k = m_k - m_{k-1}, \qquad \sum_{k=1}^{n} c_k = m_n - m_0

    Examples
    --------
    >>> steps = telescope([Fraction(1), Fraction(4), Fraction(3)])
    >>> steps, sum(steps)
    ([Fraction(3, 1), Fraction(-1, 1)], Fraction(2, 1))
    """
    return [after - before for before, after in pairwise(values)]


def ledger(
    float_model: Module,
    quantized_model: Module,
    data: Tensor | Iterable[Any],
    metric: str | Callable[[Any, Any], Any] = "sqnr",
    *,
    advice: bool = True,
    progress: bool | None = None,
) -> Ledger:
    r"""Say which layer, and what in it, makes the output of a quantized model wrong.

    Between the two models stand others, each with one cause of error more than the one before: the
    layers up to one of them compute on integers, those behind it on real numbers, and the layer
    itself gets the causes one at a time, in this order:

    ``weight clipping``
        its weight is cut to the range of its integers,
    ``weight rounding``
        its weight is what the integers stand for,
    ``bias``
        its bias is the quantized layer's, rounded where the engine rounds it,
    ``activation clipping``
        its output is cut to the range of its integers,
    ``activation rounding``
        its output is rounded to the grid,
    ``rest``
        it is the quantized layer: what the engine rounds otherwise, and for layers that are one
        step only, all of it.

    An LSTM, a GRU, their cells and attention have the first three steps, each for all of their
    weights together, and then ``activation rounding``, which is the quantized layer. Inside,
    inputs, states and gates are put on grids time step after time step, and each depends on those
    before it, so that clipping and rounding of them are not told apart.

    The metric is measured at each step, and an entry is the difference that the step makes
    (``eq-ledger``). The entries add up to the whole change exactly, because they are fractions.
    What a cause adds depends on those before it, as an error that another one cancels is
    counted with the later one.

    Parameters
    ----------
    float_model
        What the quantized model was made of, fused or not, in evaluation mode.
    quantized_model
        A converted model, of eager or of graph mode, dynamic ones included.
    data
        A tensor; or batches, such as a list or a DataLoader, each a tensor or a pair
        ``(inputs, targets)``, where several inputs are a tuple.
    metric
        ``"sqnr"``, the noise of the output over its signal, which needs no targets;
        ``"accuracy"`` of class labels; ``"loss"``, the cross entropy of class labels or the mean
        squared error of float targets; or a function of output and target (the output of the float
        model where the data has no targets) that gives one number for a batch, whose mean over the
        samples counts.
    advice
        Whether to try out what would help most; see :attr:`Ledger.advice`.
    progress
        Whether to show a progress bar; None for a terminal only.

    Returns
    -------
    Ledger
        Prints as a table. A layer is named by the path of its module or its node in the graph;
        ``(float model)`` holds what folding batch norms changed.

    Raises
    ------
    TypeError
        A model is no module, or ``data`` has no batches.
    ValueError
        A model is in training mode; ``metric`` is unknown or needs targets that ``data`` has not.

    Notes
    -----
    It takes about four runs of the model for each layer and each batch, and holds the activations
    of one batch in one model, with two outputs. Torch has nothing like it.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> _ = pyqref.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()
    >>> wrapped = quantization.QuantWrapper(model)
    >>> wrapped.qconfig = quantization.get_default_qconfig("fbgemm")
    >>> prepared = quantization.prepare(wrapped)
    >>> x = pyqref.randn(64, 8)
    >>> _ = prepared(x)
    >>> found = pyqref.ledger(model, quantization.convert(prepared), x)
    >>> sum(each.change for each in found.entries) == found.total
    True
    """
    for name, model in (("float_model", float_model), ("quantized_model", quantized_model)):
        if not isinstance(model, Module):
            raise TypeError(f"{name} must be a Module, got a {type(model).__name__}")
        if model.training:
            raise ValueError(f"{name} must not be in training mode; call eval() on it first")
    measured = metric_of(metric)
    source = Batches(data)
    run = _Run(float_model, quantized_model, source, measured)
    run.measure(progress)
    made = run.book()
    if advice:
        made.advice = advise(made, run.hybrid, run.value_with, run.places())
    return made


class _Run:
    """The measurement: totals of the metric at every step, over all batches."""

    def __init__(
        self, float_model: Module, quantized: Module, source: Batches, metric: Metric
    ) -> None:
        self.float_model, self.quantized = float_model, quantized
        self.source, self.metric = source, metric
        first = next(iter(source))
        self.hybrid = Hybrid(float_model, quantized, first.inputs)
        hybrid = self.hybrid
        if not hybrid.order:
            raise ValueError(
                "quantized_model must have an operation on integers, got none; make it with "
                "convert or convert_fx"
            )
        #: All steps but the last, which is the quantized model itself.
        self.steps = [(0, FLOAT)]
        self.steps += [
            (index, cause)
            for index, key in enumerate(hybrid.order)
            for cause in hybrid.stages[key].causes
        ]
        self.tops = [Fraction(0)] * (len(self.steps) + 1)
        self.bottom = Fraction(0)

    def measure(self, show: bool | None) -> None:
        """Run all batches through all models between."""
        work = len(self.source) * len(self.steps)
        with Progress("ledger", work, show) as bar:
            for batch in self.source:
                reference = called(self.float_model, batch.inputs)
                part = self.metric.part(reference, batch.target, reference)
                self.tops[0] += part.top
                self.bottom += part.bottom
                self.hybrid.forget()
                last = part.top
                for number, (index, stage) in enumerate(self.steps, start=1):
                    last = self._top(batch, reference, number, index, stage, last)
                    self.tops[number] += last
                    bar.step()

    def _top(
        self, batch: Batch, reference: Any, number: int, index: int, stage: str, last: Fraction
    ) -> Fraction:
        """The metric after one step; that of the step before where nothing changes."""
        try:
            if number == len(self.steps):
                output = called(self.quantized, batch.inputs)
            else:
                output = self.hybrid.run(batch.inputs, index, stage)
        except Unchanged:
            return last
        return self.metric.part(output, batch.target, reference).top

    def _value(self, top: Fraction, bottom: Fraction) -> Fraction:
        return top / bottom if bottom else Fraction(0)

    def book(self) -> Ledger:
        """The totals, as a ledger."""
        values = [self._value(top, self.bottom) for top in self.tops]
        changes: dict[tuple[str, str], Fraction] = {}
        names = [(FOLDING, "rest")]
        names += [(self.hybrid.order[index][0], stage) for index, stage in self.steps[1:]]
        for name, change in zip(names, telescope(values), strict=True):
            changes[name] = changes.get(name, Fraction(0)) + change
        lost = [
            key[0]
            for key, stages in self.hybrid.stages.items()
            if stages.packed is not None and stages.original is None
        ]
        note = f"no float weight was found for {', '.join(sorted(set(lost)))}: its causes are 0"
        return Ledger(
            self.metric,
            values[0],
            values[-1],
            changes,
            batches=len(self.source),
            channels=self.channels,
            notes=(note,) if lost else (),
        )

    def value_with(self, run: Callable[[Hybrid, tuple[Any, ...]], Any]) -> Fraction:
        """The metric, over all batches, of what ``run`` gives."""
        top = bottom = Fraction(0)
        for batch in self.source:
            reference = called(self.float_model, batch.inputs)
            part = self.metric.part(run(self.hybrid, batch.inputs), batch.target, reference)
            top, bottom = top + part.top, bottom + part.bottom
        return self._value(top, bottom)

    def places(self) -> dict[str, list[int]]:
        """The positions of the calls of each path."""
        found: dict[str, list[int]] = {}
        for index, (path, _) in enumerate(self.hybrid.order):
            found.setdefault(path, []).append(index)
        return found

    def channels(self, layer: str, cause: str) -> dict[int, Fraction]:
        """The channels of one entry, one after the other."""
        found: dict[int, Fraction] = {}
        for index in self.places().get(layer, []):
            first = _Mix(0)
            values = [self._mixed(index, cause, first)]
            values += [self._mixed(index, cause, _Mix(1 + each)) for each in range(first.count)]
            for channel, change in enumerate(telescope(values)):
                found[channel] = found.get(channel, Fraction(0)) + change
        return found

    def _mixed(self, index: int, cause: str, mix: _Mix) -> Fraction:
        steps = (FLOAT, *self.hybrid.stages[self.hybrid.order[index]].causes)
        before = steps[steps.index(cause) - 1]

        def run(hybrid: Hybrid, inputs: tuple[Any, ...]) -> Any:
            return hybrid.mixed(inputs, index, before, cause, mix)

        return self.value_with(run)


class _Mix:
    """Takes the first channels of one result and the others of another."""

    def __init__(self, upto: int) -> None:
        self.upto = upto
        self.count = 1

    def __call__(self, before: Any, after: Any) -> Any:
        ours, theirs = numbers(before).astype(np.float32), numbers(after).astype(np.float32)
        axis = 1 if ours.ndim > 2 else ours.ndim - 1
        self.count = ours.shape[axis]
        index = [slice(None)] * ours.ndim
        index[axis] = slice(0, self.upto)
        ours[tuple(index)] = theirs[tuple(index)]
        return from_numpy(ours)
