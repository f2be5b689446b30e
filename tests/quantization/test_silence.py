"""Nothing is silent: what has no effect warns by path with a remedy; ``strict=True`` refuses."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import pytest
from quantization.samples import normal

import pyqref
from pyqref import nn
from pyqref import quantization as q


def network() -> nn.Module:
    pyqref.manual_seed(0)
    layers = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
    return q.QuantWrapper(layers).eval()


def with_qconfig(qconfig: Any = q.default_qconfig) -> nn.Module:
    model = network()
    model.qconfig = qconfig
    return model


def calibrated(model: nn.Module) -> nn.Module:
    prepared = q.prepare(model)
    prepared(normal(5, 4))
    return prepared


class Other(nn.Linear):
    pass


class Swapped(nn.Linear):
    @classmethod
    def from_float(cls, mod: Any, **options: Any) -> Swapped:
        return cls(mod.in_features, mod.out_features)


def misspelled(strict: bool) -> Any:
    return q.prepare(network(), {"modul.0": q.default_qconfig}, strict=strict)


def nothing_to_observe(strict: bool) -> Any:
    return q.prepare(network(), strict=strict)


def unused_custom_class(strict: bool) -> Any:
    custom = {"float_to_observed_custom_module_class": {Other: Other}}
    return q.prepare(with_qconfig(), prepare_custom_config_dict=custom, strict=strict)


def misspelled_exclusion(strict: bool) -> Any:
    custom = {"non_traceable_module_name": ["module.9"]}
    return q.prepare(with_qconfig(), prepare_custom_config_dict=custom, strict=strict)


def absent_exclusion(strict: bool) -> Any:
    custom = {"non_traceable_module_class": [Other]}
    return q.prepare(with_qconfig(), prepare_custom_config_dict=custom, strict=strict)


def training_without_qconfig(strict: bool) -> Any:
    return q.prepare_qat(network().train(), strict=strict)


def uncalibrated(strict: bool) -> Any:
    return q.convert(q.prepare(with_qconfig()), strict=strict)


def unused_entry(strict: bool) -> Any:
    mapping = {**q.get_default_static_quant_module_mappings(), Other: Swapped}
    return q.convert(calibrated(with_qconfig()), mapping, strict=strict)


def unused_entry_of_training(strict: bool) -> Any:
    model = with_qconfig(q.default_qat_qconfig).train()
    mapping = {**q.get_default_qat_module_mappings(), Other: Swapped}
    return q.prepare_qat(model, mapping, strict=strict)


def layer_alone(strict: bool) -> Any:
    layer = nn.Linear(4, 4).eval()
    layer.qconfig = q.default_qconfig
    return q.convert(calibrated(layer), strict=strict)


def unquantizable(strict: bool) -> Any:
    return q.quantize_dynamic(
        nn.Sequential(nn.Linear(4, 4), nn.GELU()), {nn.Linear, nn.GELU}, strict=strict
    )


def nothing_to_quantize(strict: bool) -> Any:
    return q.quantize_dynamic(nn.Sequential(nn.ReLU()), strict=strict)


def constant_weight(strict: bool) -> Any:
    model = nn.Sequential(nn.Linear(2, 2))
    model[0].weight.data.fill_(0.25)
    return q.quantize_dynamic(model, strict=strict)


def in_one_call(strict: bool) -> Any:
    return q.quantize(with_qconfig(), lambda model: None, [], strict=strict)


def training_in_one_call(strict: bool) -> Any:
    return q.quantize_qat(network(), lambda model: None, [], strict=strict)


class Reuses(nn.Module):
    """One FloatFunctional for two sums."""

    def __init__(self) -> None:
        super().__init__()
        self.sum = nn.quantized.FloatFunctional()

    def forward(self, x: Any) -> Any:
        return self.sum.add(self.sum.add(x, x), x)


def shared_observer(strict: bool) -> Any:
    model = q.QuantWrapper(Reuses()).eval()
    model.qconfig = q.default_qconfig
    return q.quantize(model, lambda prepared: prepared(normal(3, 4)), [], strict=strict)


def ignored_setting(strict: bool) -> Any:
    model = nn.Sequential(nn.Embedding(4, 4, max_norm=1.0)).eval()
    model.qconfig = q.float_qparams_weight_only_qconfig
    return q.convert(q.prepare(model), strict=strict)


SILENCES: dict[Callable[[bool], Any], tuple[Any, str]] = {
    misspelled: (q.NoMatchWarning, r"'modul.0' fits no submodule; did you mean .*'module.0'"),
    nothing_to_observe: (q.NotQuantizedWarning, r"no module got a qconfig.*assign model.qconfig"),
    unused_custom_class: (q.UnusedMappingWarning, r"entry for Other .*the model has none"),
    misspelled_exclusion: (q.NoMatchWarning, r"'module.9' fits no submodule"),
    absent_exclusion: (q.UnusedMappingWarning, r"the model has no Other"),
    training_without_qconfig: (q.NotQuantizedWarning, r"no module got a qconfig"),
    uncalibrated: (q.UncalibratedWarning, r"module\.0\.activation.*run the prepared model"),
    unused_entry: (q.UnusedMappingWarning, r"Other in mapping .*the model has no Other.*leave"),
    unused_entry_of_training: (q.UnusedMappingWarning, r"prepare_qat: the entry for Other"),
    layer_alone: (q.NotQuantizedWarning, r"a Linear alone: put it into QuantWrapper"),
    unquantizable: (q.NotQuantizedWarning, r"cannot quantize 1 \(GELU\)"),
    nothing_to_quantize: (q.NotQuantizedWarning, r"nothing was quantized"),
    constant_weight: (q.ConstantChannelWarning, r"0\.weight \(Linear\): 0.25 everywhere .* 0,"),
    shared_observer: (q.SharedObserverWarning, r"module\.sum .* used more than once.*of its own"),
    ignored_setting: (q.NoEffectWarning, r"max_norm has no effect"),
    in_one_call: (q.UncalibratedWarning, r"saw no data"),
    training_in_one_call: (q.NotQuantizedWarning, r"no module got a qconfig"),
}


@pytest.mark.parametrize("case", SILENCES, ids=lambda case: case.__name__)
def test_a_warning_names_path_and_remedy(case: Callable[[bool], Any]) -> None:
    category, match = SILENCES[case]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        case(False)
    found = [each for each in caught if issubclass(each.category, category)]
    assert found
    assert found[0].filename == __file__, "the warning must point at the user's line"
    assert re.search(match, str(found[0].message))


@pytest.mark.parametrize("case", SILENCES, ids=lambda case: case.__name__)
def test_strict_refuses(case: Callable[[bool], Any]) -> None:
    category, match = SILENCES[case]
    with pytest.raises(q.QuantizationError, match=match) as caught:
        case(True)
    assert caught.value.category is category


def test_every_warning_has_one_base() -> None:
    for category, _ in SILENCES.values():
        assert issubclass(category, q.QuantizationWarning)
        assert issubclass(category, UserWarning)


def test_strict_is_silent_where_all_is_well() -> None:
    model = q.convert(calibrated(with_qconfig()), strict=True)
    assert nn.quantized.Linear is type(model.module[0])
    q.quantize(with_qconfig(), lambda model: model(normal(3, 4)), [], strict=True)
    q.quantize_dynamic(network(), {nn.Linear}, strict=True)


def test_a_strict_failure_in_place_leaves_the_model_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(2, 2))
    model[1].weight.data.fill_(0.25)
    with pytest.raises(q.QuantizationError):
        q.quantize_dynamic(model, inplace=True, strict=True)
    assert [nn.Linear, nn.Linear] == [type(each) for each in model]


@pytest.mark.parametrize("value", [0.3, -0.3, 0.7, 1e-3, 1.4])
def test_a_constant_channel_is_named(value: float) -> None:
    """Documented: scale 1.0, zero point 0. Channel 1 cannot be held by them."""
    model = nn.Sequential(nn.Linear(4, 3))
    model[0].weight.data[1] = value
    with pytest.warns(q.ConstantChannelWarning, match=f"{value:g} everywhere, in channel 1 became"):
        quantized = q.quantize_dynamic(model, {nn.Linear: q.per_channel_dynamic_qconfig})
    assert 1.0 == quantized[0].weight().q_per_channel_scales()[1].item()
    pyqref.backends.quantized.conventions = "torch"
    quantized = q.quantize_dynamic(model, {nn.Linear: q.per_channel_dynamic_qconfig}, strict=True)
    kept = quantized[0].weight().dequantize()[1, 0].item()
    assert abs(kept - value) <= abs(value) / 127


def test_a_depthwise_layer_of_single_weights_is_named() -> None:
    """Per channel, every channel of a depthwise 1x1 convolution has one element."""
    model = q.QuantWrapper(nn.Conv2d(3, 3, 1, groups=3)).eval()
    model.module.weight.data.copy_(pyqref.tensor([0.3, 1.0, 0.6]).reshape(3, 1, 1, 1))
    model.qconfig = q.default_per_channel_qconfig
    prepared = q.prepare(model)
    prepared(normal(1, 3, 2, 2))
    with pytest.warns(q.ConstantChannelWarning, match=r"in channel 0 \(and 1 more\) became 0"):
        q.convert(prepared)


def test_constant_recurrent_weights_are_named() -> None:
    model = nn.Sequential(nn.LSTM(2, 3))
    model[0].weight_hh_l0.data.fill_(0.2)
    with pytest.warns(q.ConstantChannelWarning, match=r"0\.weight_hh_l0 \(LSTM\): 0.2 everywhere"):
        q.quantize_dynamic(model)


def test_trained_weights_are_judged_with_their_batch_norm() -> None:
    """0.25 everywhere, folded with a factor of 4, is 1.0, which scale 1.0 holds."""
    for variance, is_held in ((1 / 16, True), (1.0, False)):
        model = nn.Sequential(nn.Conv2d(1, 1, 2), nn.BatchNorm2d(1)).train()
        model[0].weight.data.fill_(0.25)
        model = q.fuse_modules_qat(model, ["0", "1"])
        model.qconfig = q.default_qat_qconfig
        prepared = q.prepare_qat(model)
        prepared(normal(2, 1, 4, 4))
        prepared[0].bn.running_var.fill_(variance)
        prepared.eval()
        if is_held:
            q.convert(prepared, strict=True)
        else:
            with pytest.raises(q.QuantizationError, match=r"0\.weight \(ConvBn2d\): 0\.2"):
                q.convert(prepared, strict=True)


@pytest.mark.parametrize("value", [0.0, 1.0, -2.0])
def test_a_constant_channel_that_is_held_is_silent(value: float) -> None:
    model = nn.Sequential(nn.Linear(4, 3))
    model[0].weight.data[1] = value
    q.quantize_dynamic(model, {nn.Linear: q.per_channel_dynamic_qconfig}, strict=True)


def test_an_entry_whose_modules_have_no_qconfig_is_named() -> None:
    model = network()
    model.module.add_module("own", Other(2, 2))
    model.qconfig, model.module.own.qconfig = q.default_qconfig, None
    mapping = {**q.get_default_static_quant_module_mappings(), Other: Swapped}
    with pytest.warns(q.UnusedMappingWarning, match=r"module\.own had no qconfig"):
        q.convert(calibrated(model), mapping)


def test_a_subclass_is_named() -> None:
    model = nn.Sequential(Other(4, 4))
    mapping = {**q.get_default_dynamic_quant_module_mappings(), nn.Linear: Swapped, Other: Swapped}
    with pytest.warns(q.UnusedMappingWarning, match=r"Linear .*only subclasses of it \(.*\)"):
        q.quantize_dynamic(model, {Other}, mapping=mapping)


def test_arithmetic_with_a_number_needs_no_range() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant, self.functional = q.QuantStub(), nn.quantized.FloatFunctional()

        def forward(self, x: Any) -> Any:
            return self.functional.mul_scalar(self.quant(x), 2.0)

    model = Model().eval()
    model.qconfig = q.default_qconfig
    quantized = q.convert(calibrated(model), strict=True)
    assert quantized(normal(5, 4)).is_quantized


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nn.quantized.Linear(4, 6).set_weight_bias(weight(), normal(5)), "bias"),
        (
            lambda: nn.quantized.functional.linear(
                pyqref.quantize_per_tensor(normal(2, 4), 0.1, 0, pyqref.quint8), weight(), normal(5)
            ),
            "bias",
        ),
        (
            lambda: pyqref.quantize_per_channel(
                normal(2, 4), pyqref.ones(4), pyqref.zeros(4), 2, pyqref.qint8
            ),
            "axis",
        ),
        (lambda: q.PerChannelMinMaxObserver(ch_axis=3)(normal(2, 4)), "ch_axis"),
    ],
    ids=["bias of a layer", "bias of a function", "axis of a tensor", "axis of an observer"],
)
def test_what_cannot_be_is_an_error(make: Callable[[], Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError, RuntimeError, IndexError), match=message):
        make()


def weight() -> Any:
    return pyqref.quantize_per_tensor(normal(6, 4), 0.1, 0, pyqref.qint8)
