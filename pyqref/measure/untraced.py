"""Sensitivities of the layers of a model that cannot be recorded as a graph."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from .. import nn
from .._typing import Tensor
from ..explaining.metrics import Batch, Batches, metric_of
from ..explaining.running import called
from ..quantization import QConfigMapping
from ..quantization.diagnostics import NotQuantizedWarning, warn
from ..quantization.mixed_precision.building import alone
from ..quantization.mixed_precision.measuring import Meter
from ..quantization.mixed_precision.memory import Measured
from ..quantization.mixed_precision.unit import Unit
from ..quantization.mixed_precision.units import base_mapping, find_units
from .layers import plain_layers

__all__ = ["as_number", "layers_alone"]


def as_number(measured: Measured, metric: object) -> float:
    """A measurement in the unit of its metric; noise in dB."""
    if metric != "sqnr":
        return float(measured.value)
    return math.inf if measured.noise == 0 else 10 * math.log10(float(1 / measured.noise))


def layers_alone(
    model: nn.Module,
    qconfig: object,
    data: Tensor | Iterable[Any],
    calibration: Tensor | Iterable[Any] | None,
    layers: Sequence[str] | None,
    metric: str | Callable[[Any, Any], Any],
    error: Exception,
) -> dict[str, float]:
    """Quantize each layer alone, as the one layer of a graph, and measure the whole model.

    Parameters
    ----------
    model, qconfig, data, calibration, layers, metric
        Of :func:`~pyqref.measure.sensitivity`.
    error
        Why the model cannot be traced.
    """
    meter = Meter(model, Batches(data), metric_of(metric))
    batches = meter.data if calibration is None else Batches(calibration)
    mapping = base_mapping(qconfig)
    names = plain_layers(model) if layers is None else list(layers)
    found: dict[str, float] = {}
    left: list[str] = []
    for name in names:
        inputs = _inputs(model, name, batches)
        unit = _unit(model.get_submodule(name), mapping, inputs)
        if unit is None:
            left.append(name)
            continue
        layer = _Alone(model.get_submodule(name)).eval()
        quantized = alone(layer, unit, unit.qconfig, inputs, mapping.global_qconfig)
        changed = copy.deepcopy(model)
        parent, _, last = name.rpartition(".")
        setattr(changed.get_submodule(parent), last, quantized)
        found[name] = as_number(meter.measured(changed), metric)
    what = ", ".join(["functions in forward", *left])
    reason = str(error).splitlines()[0]
    warn(
        f"sensitivity: the model cannot be traced, and is measured without {what}: {reason}",
        NotQuantizedWarning,
    )
    return found


class _Alone(nn.Module):
    """A model with one layer and one input."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer = layer

    def forward(self, x: Any) -> Any:
        return self.layer(x)


def _inputs(model: nn.Module, name: str, batches: Batches) -> list[Batch]:
    """The inputs with which a layer is called."""
    heard: list[Batch] = []
    handle = model.get_submodule(name).register_forward_pre_hook(
        lambda _, given: heard.append(Batch(given, None))
    )
    try:
        for batch in batches:
            called(model, batch.inputs)
    finally:
        handle.remove()
    return heard


def _unit(layer: nn.Module, mapping: QConfigMapping, inputs: list[Batch]) -> Unit | None:
    """The layer as a part of a graph; None if it does not run with one input alone."""
    if not inputs or any(len(each.inputs) != 1 for each in inputs):
        return None
    model = _Alone(layer).eval()
    units, _ = find_units("sensitivity", model, mapping, inputs[0].inputs)
    return next(iter(units.values()), None)
