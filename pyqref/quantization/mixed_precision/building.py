"""From a choice of bits to a QConfigMapping, and to a quantized model."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

from pyqref._typing import QConfigLike
from pyqref.autograd import no_grad
from pyqref.dtypes import quint8
from pyqref.explaining.metrics import Batch
from pyqref.explaining.running import called
from pyqref.nn import MultiheadAttention
from pyqref.nn import quantizable as nnqa
from pyqref.nn import quantized as nnq
from pyqref.nn.modules import Module
from pyqref.quantization.backend_config import (
    BackendPatternConfig,
    DTypeConfig,
    ObservationType,
    get_native_backend_config,
)
from pyqref.quantization.fx.custom_config import ConvertCustomConfig, PrepareCustomConfig
from pyqref.quantization.fx.observed import is_observer_node
from pyqref.quantization.merging import watchers
from pyqref.quantization.qconfig_mapping import QConfigMapping
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx
from pyqref.tensor.fake_quantize import (
    fake_quantize_per_channel_affine,
    fake_quantize_per_tensor_affine,
)

from .costs import Costs
from .unit import Unit
from .widths import Width, narrowed

__all__ = ["alone", "mapping_of", "quantized"]


def mapping_of(units: Mapping[str, Unit], chosen: Mapping[str, Width]) -> QConfigMapping:
    """The mapping that gives each unit its bits, and leaves all else float.

    Parameters
    ----------
    units
        By name.
    chosen
        Their widths. A unit that follows is quantized if what it reads is.
    """
    mapping = QConfigMapping()
    costs = Costs(units, 1)
    for unit in units.values():
        if unit.follows:
            qconfig = None if costs.gives(unit.name, chosen) is None else unit.qconfig
        else:
            qconfig = narrowed(unit.qconfig, chosen[unit.name]) if unit.name in chosen else None
        if qconfig is not None:
            _set(mapping, unit, qconfig)
    return mapping


def _set(mapping: QConfigMapping, unit: Unit, qconfig: Any) -> QConfigMapping:
    level, key = unit.entry
    if level == "module_name":
        return mapping.set_module_name(key, qconfig)
    if level == "object_type":
        return mapping.set_object_type(key, qconfig)
    path, kind, index = key
    return mapping.set_module_name_object_type_order(path, kind, index, qconfig)


def quantized(model: Module, mapping: QConfigMapping, calibration: Iterable[Batch]) -> Module:
    """Prepare, calibrate and convert a copy of a model."""
    prepared = prepare_fx(model, mapping, _first(calibration))
    return convert_fx(_calibrated(prepared, calibration))


def _first(calibration: Iterable[Batch]) -> tuple[Any, ...]:
    return next(iter(calibration)).inputs


def _calibrated(prepared: Any, calibration: Iterable[Batch]) -> Any:
    if any(True for _ in watchers(prepared)):
        for batch in calibration:
            called(prepared, batch.inputs)
    return prepared


def alone(
    model: Module,
    unit: Unit,
    qconfig: QConfigLike | None,
    calibration: Iterable[Batch],
    usual: QConfigLike | None = None,
) -> Module:
    """A model in which one unit is quantized and all else is float.

    Parameters
    ----------
    model
        The float model, which stays as it is.
    unit
        The unit, which may be in its reference form.
    qconfig
        Its observers.
    calibration
        What they see.
    usual
        The QConfig whose observer finds the grid of the input, where that of the output is fixed.
    """
    if unit.kind in ("reference", "weights"):
        model = _with_rounded_weights(model, unit, qconfig)
    if unit.kind == "weights":
        return model
    mapping = _set(QConfigMapping(), unit, qconfig)
    first = _first(calibration)
    if unit.kind == "custom":
        observed: Any = nnqa.MultiheadAttention
        custom = PrepareCustomConfig().set_float_to_observed_mapping(MultiheadAttention, observed)
        prepared = prepare_fx(model, mapping, first, prepare_custom_config=custom)
        back = ConvertCustomConfig().set_observed_to_quantized_mapping(
            observed, nnq.MultiheadAttention
        )
        return convert_fx(_calibrated(prepared, calibration), convert_custom_config=back)
    back_end = _with_reference_form(unit.target) if unit.kind == "reference" else None
    prepared = prepare_fx(model, mapping, first, backend_config=back_end)
    if unit.fixed and usual is not None:
        _observe_inputs(prepared, unit, usual)
    return convert_fx(_calibrated(prepared, calibration), backend_config=back_end)


def _observe_inputs(prepared: Any, unit: Unit, usual: Any) -> None:
    """Give the inputs of a unit with a fixed grid observers that find one."""
    modules = dict(prepared.named_modules())
    for node in prepared.graph.nodes:
        if is_observer_node(node, modules) and any(
            unit.name in (user.name, user.target) or unit.entry[1] == user.target
            for user in node.users
        ):
            setattr(prepared, node.target, usual.activation())


def _with_reference_form(target: Any) -> Any:
    """The native back end, and a pattern for one operation that it has no kernel for."""
    config = BackendPatternConfig(target).add_dtype_config(
        DTypeConfig(input_dtype=quint8, output_dtype=quint8)
    )
    different = ObservationType.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT
    back_end = copy.deepcopy(get_native_backend_config())
    return back_end.set_backend_pattern_config(config.set_observation_type(different))


def _with_rounded_weights(model: Module, unit: Unit, qconfig: Any) -> Module:
    """A copy of a model in which the weights of one module are those of the grid."""
    if unit.entry[0] != "module_name":
        return model
    model = copy.deepcopy(model)
    with no_grad():
        for parameter in model.get_submodule(unit.entry[1]).parameters():
            if parameter.ndim > 1:
                parameter.copy_(_rounded(parameter, qconfig.weight()))
    return model


def _rounded(weight: Any, observer: Any) -> Any:
    observer(weight)
    scale, zero_point = observer.calculate_qparams()
    ends = observer.quant_min, observer.quant_max
    if scale.numel() == 1:
        return fake_quantize_per_tensor_affine(weight, float(scale), int(zero_point), *ends)
    zeros = zero_point.to(dtype=scale.dtype).int()
    return fake_quantize_per_channel_affine(weight, scale, zeros, observer.ch_axis, *ends)
