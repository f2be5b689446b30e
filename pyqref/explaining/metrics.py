"""Metrics of the outputs of a model, as exact fractions over all batches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..measure.noise import numbers
from ..nn import functional as F
from ..tensor import Tensor
from .values import leaves, on_floats

__all__ = ["Batch", "Batches", "Metric", "Part", "metric_of"]


class Batch(NamedTuple):
    """Arguments of one call of a model, and the result that it should have."""

    inputs: tuple[Any, ...]
    target: Any


class Batches:
    """The batches of ``data``, as often as they are asked for.

    Parameters
    ----------
    data
        One tensor, or many batches, each a tensor or a pair (inputs, targets).
    """

    def __init__(self, data: Tensor | Iterable[Any]) -> None:
        if isinstance(data, Tensor):
            data = [data]
        if not isinstance(data, Iterable) or isinstance(data, (str, bytes, dict)):
            raise TypeError(
                "data must be a tensor or batches, such as a list or a DataLoader, each a tensor "
                f"or a pair (inputs, targets); got a {type(data).__name__}"
            )
        self.data = list(data) if isinstance(data, Iterator) else data

    def __iter__(self) -> Iterator[Batch]:
        empty = True
        for each in self.data:
            empty = False
            yield _batch(each)
        if empty:
            raise ValueError("data must have one batch at least, got none")

    def __len__(self) -> int:
        try:
            return len(self.data)  # type: ignore[arg-type]
        except TypeError:
            return sum(1 for _ in self.data)


def _batch(given: Any) -> Batch:
    if isinstance(given, Tensor):
        return Batch((given,), None)
    if not isinstance(given, (tuple, list)) or len(given) != 2:
        what = f"{len(given)} things" if isinstance(given, (tuple, list)) else type(given).__name__
        raise ValueError(
            f"each batch of data must be a tensor or a pair (inputs, targets), got {what}; put "
            "several inputs in a tuple: ((first, second), targets)"
        )
    inputs, target = given
    return Batch(tuple(inputs) if isinstance(inputs, (tuple, list)) else (inputs,), target)


class Part(NamedTuple):
    """A share of a metric: over all batches, the sum of ``top`` over the sum of ``bottom``."""

    top: Fraction
    bottom: Fraction


class Metric(NamedTuple):
    """Measure of how good outputs are.

    Attributes
    ----------
    name
        For tables and figures.
    part
        From output, target and the output of the float model to a :class:`Part`.
    direction
        1 where more is worse, -1 where more is better, 0 where neither is known.
    written
        A value as text.
    """

    name: str
    part: Callable[[Any, Any, Any], Part]
    direction: int
    written: Callable[[Fraction], str]


def metric_of(metric: str | Callable[..., Any]) -> Metric:
    """The :class:`Metric` of a name or of a function of output and target."""
    if isinstance(metric, str) and metric in NAMED:
        return NAMED[metric]
    if callable(metric):
        name = getattr(metric, "__name__", type(metric).__name__)
        return Metric(name, lambda *given: _called(metric, *given), 0, _plain)
    names = ", ".join(map(repr, NAMED))
    raise ValueError(f"metric must be {names}, or a function of output and target, got {metric!r}")


def _samples(output: Any) -> int:
    first = leaves(output)
    return int(first[0].shape[0]) if first and first[0].ndim else 1


def _elements(value: Any) -> Iterator[np.ndarray[Any, Any]]:
    for each in leaves(value):
        yield numbers(each).ravel()


def _noise(output: Any, target: Any, reference: Any) -> Part:
    noise = signal = Fraction(0)
    for ours, theirs in zip(_elements(output), _elements(reference), strict=True):
        noise += _fraction(float(np.sum((ours - theirs) ** 2)), "noise")
        signal += _fraction(float(np.sum(theirs**2)), "signal")
    return Part(noise, signal)


def _correct(output: Any, target: Any, reference: Any) -> Part:
    scores, labels = _scores(output), _labels("accuracy", target)
    hits = np.argmax(scores, axis=1) == labels
    return Part(Fraction(int(np.count_nonzero(hits))), Fraction(hits.size))


def _loss(output: Any, target: Any, reference: Any) -> Part:
    if target is None:
        raise ValueError(_NO_TARGETS.format("loss"))
    floats = on_floats(leaves(output)[0])
    compare = F.mse_loss if target.is_floating_point() else F.cross_entropy
    count = _samples(output)
    return Part(_fraction(float(compare(floats, target)), "loss") * count, Fraction(count))


def _called(metric: Any, output: Any, target: Any, reference: Any) -> Part:
    aim = reference if target is None else target
    value = metric(on_floats(output), aim)
    try:
        number = float(value)
    except (TypeError, ValueError, RuntimeError) as error:
        raise TypeError(
            f"metric must return one number for a batch, got {type(value).__name__}"
        ) from error
    count = _samples(output)
    return Part(_fraction(number, "metric") * count, Fraction(count))


_NO_TARGETS = (
    "metric={0!r} needs targets: let each batch of data be a pair (inputs, targets), or use "
    "metric='sqnr', which compares with the float model"
)


def _scores(output: Any) -> np.ndarray[Any, Any]:
    return numbers(leaves(output)[0])


def _labels(name: str, target: Any) -> np.ndarray[Any, Any]:
    if target is None:
        raise ValueError(_NO_TARGETS.format(name))
    return np.asarray(target)


def _fraction(value: float, what: str) -> Fraction:
    if not math.isfinite(value):
        raise ValueError(
            f"{what} must be a finite number, got {value}; look for layers whose output is not "
            "finite with pyqref.measure.layer_outputs"
        )
    return Fraction(value)


def _plain(value: Fraction) -> str:
    return f"{float(value):.4g}"


def _decibels(value: Fraction) -> str:
    """Noise over signal, as the ratio of signal to noise."""
    return "inf dB" if value <= 0 else f"{-10 * math.log10(value):.2f} dB"


def _percent(value: Fraction) -> str:
    return f"{100 * float(value):.2f} %"


NAMED = {
    "sqnr": Metric("sqnr", _noise, 1, _decibels),
    "accuracy": Metric("accuracy", _correct, -1, _percent),
    "loss": Metric("loss", _loss, 1, _plain),
}
