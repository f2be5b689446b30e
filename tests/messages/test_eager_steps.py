"""Following the messages about steps of the eager workflow that were missed works."""

from __future__ import annotations

from typing import Any

from bad_input.engine import floats
from messages.following import says

import pyqref
from pyqref import nn
from pyqref import quantization as q

X = floats(4, 3)


class OwnLinear(nn.Linear):
    """A layer of the user's own."""


class QuantizedOwnLinear(nn.quantized.Linear):
    """Its quantized form."""

    @classmethod
    def from_float(cls, mod: Any, **options: Any) -> Any:
        layer = nn.Linear(mod.in_features, mod.out_features)
        layer.load_state_dict({"weight": mod.weight, "bias": mod.bias})
        layer.qconfig = mod.qconfig
        layer.activation_post_process = mod.activation_post_process
        return super().from_float(layer, **options)


class QuantizedNorm(nn.RMSNorm):
    """A quantized layer of the user's own, which computes with real numbers."""

    @classmethod
    def from_float(cls, mod: Any, **options: Any) -> Any:
        made = cls(mod.normalized_shape)
        made.scale, made.zero_point = mod.activation_post_process.calculate_qparams()
        return made

    def forward(self, x: Any) -> Any:
        y = super().forward(x.dequantize())
        return pyqref.quantize_per_tensor(
            y, self.scale.item(), self.zero_point.item(), pyqref.quint8
        )


def wrapped(*layers: Any, qconfig: Any = q.default_qconfig) -> Any:
    model = q.QuantWrapper(nn.Sequential(*layers)).eval()
    model.qconfig = qconfig
    return model


def calibrated(model: Any, x: Any = X) -> Any:
    prepared = q.prepare(model)
    prepared(x)
    return prepared


def test_a_model_that_was_not_prepared() -> None:
    """The result of prepare can be calibrated and converted."""
    model = wrapped(nn.Linear(3, 2))
    with says(
        "call prepared = prepare(model), which returns a copy unless inplace=True, run it on "
        "calibration data and convert it"
    ):
        q.convert(model)
    prepared = q.prepare(model)
    prepared(X)
    assert nn.quantized.Linear is type(q.convert(prepared).module[0])
    q.prepare(model, inplace=True)
    model(X)
    assert nn.quantized.Linear is type(q.convert(model).module[0])


def test_layers_without_a_quantized_form() -> None:
    """An entry of the mapping, or no qconfig."""
    defaults = q.get_default_static_quant_module_mappings()
    own, norm = wrapped(OwnLinear(3, 2)), wrapped(nn.RMSNorm(3))
    with says(
        "give mapping an entry for the subclass, with a quantized class whose from_float takes it",
        "pass allow_list=get_default_qconfig_propagation_list() | {",
        "set qconfig to None where this is intended",
    ) as told:
        q.convert(calibrated(own))
    assert "_list() | {OwnLinear} to prepare, so that it is observed, or set" in told.text
    prepared = q.prepare(own, allow_list=q.get_default_qconfig_propagation_list() | {OwnLinear})
    prepared(X)
    converted = q.convert(prepared, {**defaults, OwnLinear: QuantizedOwnLinear})
    assert QuantizedOwnLinear is type(converted.module[0])
    converted(X)
    with says(
        "give mapping an entry for it, with a class of your own whose from_float takes it",
        "set qconfig to None where this is intended",
    ):
        q.convert(calibrated(norm))
    prepared = q.prepare(norm, allow_list=q.get_default_qconfig_propagation_list() | {nn.RMSNorm})
    prepared(X)
    q.convert(prepared, {**defaults, nn.RMSNorm: QuantizedNorm})(X)
    for model in (own, norm):
        model.module[0].qconfig = None
        q.convert(calibrated(model))


def test_layers_that_are_quantized_in_another_way() -> None:
    """Fused, for calibration only, or dynamically."""
    layers, names = (nn.Linear(3, 2), nn.BatchNorm1d(2)), ["module.0", "module.1"]
    with says("fuse them with fuse_modules"):
        q.convert(calibrated(wrapped(*layers)))
    q.convert(calibrated(q.fuse_modules(wrapped(*layers), names)))(X)
    group = q.fuse_modules_qat(wrapped(*layers).train(), names)
    with says("make it with fuse_modules to calibrate only"):
        q.convert(calibrated(group.eval()))

    cell = nn.GRUCell(3, 2)
    with says("this type is quantized only by quantize_dynamic; use that for it"):
        q.convert(calibrated(wrapped(cell)))
    dynamic = q.quantize_dynamic(nn.Sequential(cell), {nn.GRUCell})
    assert nn.quantized.dynamic.GRUCell is type(dynamic[0])


def test_observers_where_fake_quantizers_are_needed() -> None:
    """The qconfigs that are named train; prepare calibrates."""
    model = wrapped(nn.Linear(3, 2)).train()
    with says(
        "use get_default_qat_qconfig('x86') or default_qat_qconfig, or prepare to calibrate "
        "without training"
    ):
        q.prepare_qat(model)
    q.convert(calibrated(model))
    for model.qconfig in (q.get_default_qat_qconfig("x86"), q.default_qat_qconfig):
        q.prepare_qat(model)(X)


def test_calibration_in_training_mode() -> None:
    """Evaluation mode before prepare, or training with fake quantizers."""
    model = wrapped(nn.Linear(3, 2), nn.Dropout()).train()
    with says("call model.eval() before prepare, or use prepare_qat to train"):
        q.prepare(model)
    prepared = q.prepare(model.eval())
    prepared.train()(X)
    with says("call model.eval() before prepare and calibrate again"):
        q.convert(prepared.eval())
    model.eval()
    q.convert(calibrated(model))
    model.train().qconfig = q.default_qat_qconfig
    q.prepare_qat(model)(X)


def test_fusing_after_prepare() -> None:
    """The float model is fused."""
    model, names = wrapped(nn.Linear(3, 2), nn.ReLU()), ["module.0", "module.1"]
    with says("fuse the float model first, then prepare"):
        q.fuse_modules(q.prepare(model), names)
    converted = q.convert(calibrated(q.fuse_modules(model, names)))
    assert nn.intrinsic.quantized.LinearReLU is type(converted.module[0])


def test_switches_of_a_model_without_fake_quantizers() -> None:
    """prepare_qat and prepare_qat_fx put some in."""
    model = wrapped(nn.Linear(3, 2), qconfig=None)
    with says(
        "call prepare_qat or prepare_qat_fx first, with a qconfig such as "
        "get_default_qat_qconfig('x86')"
    ):
        model.apply(q.disable_fake_quant)
    qconfig = q.get_default_qat_qconfig("x86")
    mapping = q.QConfigMapping().set_global(qconfig)
    q.quantize_fx.prepare_qat_fx(model.train(), mapping, (X,)).apply(q.disable_fake_quant)
    model.qconfig = qconfig
    q.prepare_qat(model).apply(q.disable_fake_quant)


def test_parameters_that_the_fused_fake_quantizer_does_not_use() -> None:
    """FakeQuantize asks the observer in training and in convert."""

    class Doubling(q.MovingAverageMinMaxObserver):
        def calculate_qparams(self) -> Any:
            scale, zero_point = super().calculate_qparams()
            return 2 * scale, zero_point

    def prepare(activation: Any) -> Any:
        qconfig = q.QConfig(activation=activation, weight=q.default_weight_fake_quant)
        prepared = q.prepare_qat(wrapped(nn.Linear(3, 2), qconfig=qconfig).train())
        prepared(X)
        return prepared

    with says("use FakeQuantize.with_args(observer={}, ...), which asks it in both") as told:
        prepare(q.FusedMovingAvgObsFakeQuantize.with_args(observer=Doubling))
    assert "FakeQuantize.with_args(observer=Doubling, ...)" in told.text
    prepared = prepare(q.FakeQuantize.with_args(observer=Doubling))
    trained = prepared.module[0].activation_post_process.scale
    assert trained.item() == q.convert(prepared.eval()).module[0].scale


def test_ranges_that_an_operation_does_not_keep() -> None:
    """Whole ranges, or the reference model."""

    class Twice(nn.Module):
        def forward(self, x: Any) -> Any:
            return x + x

    def prepare(**ends: int) -> Any:
        observer = q.MinMaxObserver.with_args(dtype=pyqref.quint8, **ends)
        qconfig = q.QConfig(activation=observer, weight=q.default_weight_observer)
        mapping = q.QConfigMapping().set_global(qconfig)
        prepared = q.quantize_fx.prepare_fx(Twice().eval(), mapping, (X,))
        prepared(X)
        return prepared

    with says(
        "leave quant_min and quant_max of the activation observer out, or evaluate the reference "
        "model, which keeps the ranges: convert_to_reference_fx"
    ):
        q.quantize_fx.convert_fx(prepare(quant_min=0, quant_max=15))
    q.quantize_fx.convert_fx(prepare())(X)
    kept = q.quantize_fx.convert_to_reference_fx(prepare(quant_min=0, quant_max=15))(9 * X)
    assert kept.abs().max().item() <= 2.2


def test_a_fused_copy_that_was_thrown_away() -> None:
    """The copy takes the name of the model, or the model itself is fused."""
    layers, names = (nn.Linear(3, 2), nn.ReLU()), ["module.0", "module.1"]
    model = wrapped(*layers)
    q.fuse_modules(model, names)
    with says("call model = fuse_modules(model, ...), or pass inplace=True"):
        q.prepare(model)
    model = wrapped(*layers)
    model = q.fuse_modules(model, names)
    calibrated(model)
    other = wrapped(*layers)
    q.fuse_modules(other, names, inplace=True)
    for each in (model, other):
        assert nn.intrinsic.LinearReLU is type(each.module[0])
    calibrated(other)
