"""One quantized model after the other, measured with the user's metric."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from os import PathLike
from typing import Any, Literal, NamedTuple

from pyqref._typing import Tensor
from pyqref.explaining.metrics import NAMED, Batch, Batches, Metric, metric_of
from pyqref.explaining.running import called
from pyqref.nn.modules import Module
from pyqref.quantization.calibrating.report import Report
from pyqref.quantization.fx.arguments import check_model

from .building import alone, mapping_of, quantized
from .costs import Costs
from .memory import Measured, Memory, fingerprint_of
from .unit import Unit
from .units import base_mapping, find_units
from .widths import FLOAT, Width, narrowed

__all__ = ["Better", "Measurer", "Meter", "Progress", "direction_of"]

Better = Literal["higher", "lower"]
Progress = bool | Callable[[int], object]


def direction_of(asks: str, metric: str | Callable[..., Any], better: Better | None) -> int:
    """Return 1 where more of a metric is worse, and -1 where it is better.

    Raises
    ------
    ValueError
        Nobody says it of a function, or something else than the truth of a name.
    """
    if better not in (None, "higher", "lower"):
        raise ValueError(f"{asks}: better must be 'higher' or 'lower', got {better!r}")
    known = metric_of(metric).direction
    if better is None and not known:
        raise ValueError(
            f"{asks}: pass better='higher' or better='lower' to say which values of the metric "
            "are good"
        )
    said = {"higher": -1, "lower": 1, None: known}[better]
    if known and said != known:
        right = "lower" if known > 0 else "higher"
        raise ValueError(f"{asks}: of metric={metric!r} {right} values are better, got {better!r}")
    return said


class Meter(NamedTuple):
    """Measures how far models are from a float model.

    Attributes
    ----------
    model
        The float model.
    data
        What they are run on.
    metric
        What is measured, beside the noise.
    """

    model: Module
    data: Batches
    metric: Metric

    def measured(self, other: Module) -> Measured:
        """Run a model on all data."""
        top = bottom = noise = signal = Fraction(0)
        for batch in self.data:
            reference = called(self.model, batch.inputs)
            output = reference if other is self.model else called(other, batch.inputs)
            part = self.metric.part(output, batch.target, reference)
            top, bottom = top + part.top, bottom + part.bottom
            error = NAMED["sqnr"].part(output, None, reference)
            noise, signal = noise + error.top, signal + error.bottom
        value = top / bottom if bottom else Fraction(0)
        return Measured(value, noise / signal if signal else noise)


class Measurer:
    """Measures a model with any choice of bits, each choice once.

    Parameters
    ----------
    asks
        Who asks, for messages.
    model
        A float model in evaluation mode.
    data, calibration
        Batches for the metric, and for the observers; the same ones if None.
    metric
        As for :func:`pyqref.ledger`.
    qconfig
        For 8 bits.
    checkpoint
        File of the measurements.
    progress
        As for :func:`~pyqref.quantization.calibrate`.
    """

    def __init__(
        self,
        asks: str,
        model: Module,
        data: Tensor | Iterable[Any],
        calibration: Tensor | Iterable[Any] | None,
        metric: str | Callable[..., Any],
        qconfig: object,
        checkpoint: str | PathLike[str] | None,
        progress: Progress,
    ) -> None:
        check_model(asks, model)
        self.asks, self.model = asks, model
        self.meter = Meter(model, Batches(data), metric_of(metric))
        self.metric, self.data = self.meter.metric, self.meter.data
        self.calibration = self.data if calibration is None else Batches(calibration)
        self.first: Batch = next(iter(self.data))
        self.mapping = base_mapping(qconfig)
        everything, self.left = find_units(asks, model, self.mapping, self.first.inputs)
        self.everything = everything
        #: Units with a quantized form.
        self.units = {
            name: each
            for name, each in everything.items()
            if each.kind in ("static", "dynamic", "weight only")
        }
        for name, each in everything.items():
            if each.kind == "custom":
                self.left[name] = "it is quantized only as a custom module"
        self.costs = Costs(self.units, _samples(self.first))
        options = (self.metric.name, self.mapping)
        sources = (self.data, self.calibration)
        fingerprint = fingerprint_of(model, sources, options) if checkpoint is not None else []
        self.memory = Memory(asks, checkpoint, fingerprint)
        self.report = Report(asks, progress, "measurements")

    def whole(self, chosen: Mapping[str, Width]) -> Measured:
        """The measurement of a choice for the whole model; units that are missing stay float."""
        chosen = self.costs.effective(chosen)
        return self._known(self.key(chosen), lambda: self.build(chosen))

    def key(self, chosen: Mapping[str, Width]) -> str:
        """A choice as text."""
        given = ((name, chosen.get(name, FLOAT)) for name in self.units)
        return " ".join(f"{name}={width}" for name, width in given if width != FLOAT)

    def single(self, unit: Unit, width: Width) -> Measured:
        """The measurement of a model in which one unit alone has these bits."""
        if width == FLOAT:
            return self.whole({})

        def build() -> Module:
            qconfig = narrowed(unit.qconfig, width)
            return alone(self.model, unit, qconfig, self.calibration, self.mapping.global_qconfig)

        return self._known(f"alone {unit.name}={width}", build)

    def build(self, chosen: Mapping[str, Width]) -> Module:
        """The quantized model of a choice; the float model itself where nothing is quantized."""
        if not any(width != FLOAT for width in chosen.values()):
            return self.model
        return quantized(self.model, mapping_of(self.units, chosen), self.calibration)

    def _known(self, key: str, build: Callable[[], Module]) -> Measured:
        if key not in self.memory.known:
            self.memory.add(key, self.meter.measured(build()))
        self.report.add()
        return self.memory.known[key]


def _samples(batch: Batch) -> int:
    shape: tuple[int, ...] = tuple(getattr(batch.inputs[0], "shape", ()))
    return shape[0] if shape and shape[0] else 1
