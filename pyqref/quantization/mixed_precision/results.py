"""Results of the searches: which bits, what they cost, and how to use them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, isfinite, log10
from typing import TYPE_CHECKING

from pyqref.explaining.metrics import Metric
from pyqref.nn.modules import Module
from pyqref.quantization.qconfig_mapping import QConfigMapping

from .costs import Measure
from .widths import FLOAT, Width

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["LABELS", "AccuracyControl", "MixedPrecision", "Point"]


def _decibels(noise: Fraction) -> float:
    return -10 * log10(noise) if noise > 0 else inf


def _percent(share: Fraction) -> float:
    return float(100 * share)


#: Metrics that are shown in another unit, and the label of their axis.
_SHOWN: dict[str, tuple[Callable[[Fraction], float], str]] = {
    "sqnr": (_decibels, "SQNR of the output [dB]"),
    "accuracy": (_percent, "accuracy [%]"),
}
#: The axis of each measure of costs.
LABELS: dict[Measure, str] = {
    "bits": "mean width of the weights [bits]",
    "bytes": "weights [bytes]",
    "bit_operations": "operations of one input [bit operations]",
}


@dataclass(frozen=True)
class Point:
    """One choice of bits that was measured.

    Attributes
    ----------
    cost : fractions.Fraction
        In the unit of the budget.
    value : fractions.Fraction
        Of the metric.
    bits : Mapping
        The width of each layer, by name.

    Examples
    --------
    >>> point = Point(Fraction(5), Fraction(9, 10), {"conv": Width(4, 8)})
    >>> float(point.cost), float(point.value)
    (5.0, 0.9)
    """

    cost: Fraction
    value: Fraction
    bits: Mapping[str, Width]


def _table(bits: Mapping[str, Width]) -> list[str]:
    length = max([len(name) for name in bits], default=0)
    return [f"  {name:{length}}  {width}" for name, width in bits.items()]


@dataclass(frozen=True)
class MixedPrecision:
    """Result of :func:`search_mixed_precision`.

    Attributes
    ----------
    bits : Mapping
        The :class:`Width` of each layer and functional node, by name; operations that keep the grid
        of their input are left out.
    qconfig_mapping : QConfigMapping
        For ``prepare_fx``.
    model : Module
        The quantized model.
    measure : str
        ``"bits"``, ``"bytes"`` or ``"bit_operations"``.
    budget, cost : fractions.Fraction
        In this measure.
    value, float_value : fractions.Fraction
        The metric of the quantized and of the float model.
    points : tuple
        Every :class:`Point` that was measured.
    sensitivities : Mapping
        The metric if one layer alone has a width, by name and :class:`Width`.
    exhaustive : bool
        Whether every choice within the budget was measured.
    left_in_float : Mapping
        Why an operation stays float, by name.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> _ = pyqref.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(8, 4)).eval()
    >>> x = pyqref.rand(64, 8)
    >>> found = pyqref.quantization.mixed_precision.search_mixed_precision(
    ...     model, x, "sqnr", {"bytes": 20})
    >>> found.bits["0"], int(found.cost)
    (Width(weight=4, activation=8), 16)
    """

    bits: Mapping[str, Width]
    qconfig_mapping: QConfigMapping = field(repr=False)
    model: Module = field(repr=False)
    measure: Measure
    budget: Fraction
    cost: Fraction
    value: Fraction
    float_value: Fraction
    points: tuple[Point, ...] = field(repr=False)
    sensitivities: Mapping[tuple[str, Width], Fraction] = field(repr=False)
    exhaustive: bool
    left_in_float: Mapping[str, str]
    _metric: Metric = field(repr=False)
    _direction: int = field(repr=False)

    @property
    def frontier(self) -> tuple[Point, ...]:
        """The points that none beats: at no higher cost no other has a better value."""
        found: list[Point] = []
        for each in sorted(self.points, key=lambda p: (p.cost, p.value * self._direction)):
            if not found or each.value * self._direction < found[-1].value * self._direction:
                found.append(each)
        return tuple(found)

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the metric over the cost: :func:`pyqref.plot.frontier`."""
        from pyqref.plot import frontier

        number, quantity = _SHOWN.get(self._metric.name, (float, f"{self._metric.name} (no unit)"))

        def place(point: Point) -> tuple[float, float]:
            return float(point.cost), number(point.value)

        points = [each for each in self.points if isfinite(number(each.value))]
        reference = number(self.float_value)
        return frontier(
            [place(each) for each in points],
            frontier=[place(each) for each in self.frontier if each in points],
            chosen=place(Point(self.cost, self.value, self.bits)),
            budget=float(self.budget),
            reference=reference if isfinite(reference) else None,
            cost=LABELS[self.measure],
            quantity=quantity,
            ax=ax,
        )

    def __str__(self) -> str:
        written = self._metric.written
        head = (
            f"{self._metric.name}: {written(self.float_value)} in float, {written(self.value)} "
            f"with {float(self.cost):,g} of {float(self.budget):,g} {self.measure}"
        )
        how = "every choice within the budget was measured" if self.exhaustive else "greedy"
        return "\n".join(
            [head, f"choices measured: {len(self.points)} ({how})", *_table(self.bits)]
        )


@dataclass(frozen=True)
class AccuracyControl:
    """Result of :func:`quantize_with_accuracy_control`.

    Attributes
    ----------
    put_back : tuple
        Names of layers and functional nodes that are float again, the most harmful first.
    drop, max_drop : fractions.Fraction
        How much worse the metric is than that of the float model, and how much was allowed.
    value, float_value, quantized_value : fractions.Fraction
        The metric of the result, of the float model, and with everything quantized.
    bits : Mapping
        The :class:`Width` of each layer and functional node, by name.
    qconfig_mapping : QConfigMapping
        For ``prepare_fx``.
    model : Module
        The quantized model; the float model itself where all had to be put back.
    sensitivities : Mapping
        The metric if one layer alone is quantized, by name.
    fewest : bool
        Whether it was seen that no smaller number suffices.
    left_in_float : Mapping
        Why an operation was float from the beginning, by name.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn
    >>> _ = pyqref.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(8, 4)).eval()
    >>> found = pyqref.quantization.mixed_precision.quantize_with_accuracy_control(
    ...     model, pyqref.rand(64, 8), "sqnr", max_drop=0.01)
    >>> found.put_back, found.fewest
    ((), True)
    """

    put_back: tuple[str, ...]
    drop: Fraction
    max_drop: Fraction
    value: Fraction
    float_value: Fraction
    quantized_value: Fraction
    bits: Mapping[str, Width] = field(repr=False)
    qconfig_mapping: QConfigMapping = field(repr=False)
    model: Module = field(repr=False)
    sensitivities: Mapping[str, Fraction] = field(repr=False)
    fewest: bool
    left_in_float: Mapping[str, str]
    _metric: Metric = field(repr=False)

    def __str__(self) -> str:
        written = self._metric.written
        values = (self.float_value, self.quantized_value, self.value)
        first, everything, last = map(written, values)
        back = ", ".join(self.put_back) or "nothing"
        count = sum(width != FLOAT for width in self.bits.values())
        return (
            f"{self._metric.name}: {first} in float, {everything} with everything quantized, "
            f"{last} now\nquantized: {count} of {len(self.bits)}\nput back to float: {back}"
        )
