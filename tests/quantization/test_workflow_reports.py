"""``prepare`` and ``convert`` name the module or the key in reports and refusals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from quantization.samples import Model, model_with_qconfig, normal

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization.diagnostics import NoMatchWarning
from pyqref.quantization.observer import UncalibratedWarning


@pytest.fixture
def model() -> Model:
    return model_with_qconfig()


@pytest.mark.parametrize(
    ("key", "match"),
    [
        ("frist", "the name 'frist' fits no submodule; did you mean 'first'"),
        (nn.Conv2d, "the type pyqref.nn.modules.conv.Conv2d fits no submodule"),
    ],
)
def test_a_key_that_fits_nothing_is_reported(model: Model, key: Any, match: str) -> None:
    with pytest.warns(NoMatchWarning, match=match):
        q.prepare(model, {key: q.default_qconfig})


def test_a_key_of_another_kind_is_refused(model: Model) -> None:
    with pytest.raises(TypeError, match="name of a submodule or a module type, got 3"):
        q.prepare(model, {3: q.default_qconfig})
    with pytest.raises(TypeError, match="form of graph mode"):
        q.prepare(model, {"object_type": [(nn.Linear, q.default_qconfig)]})


def test_prepare_without_any_qconfig_is_reported() -> None:
    with pytest.warns(UserWarning, match="no module got a qconfig"):
        q.prepare(nn.Sequential(nn.Linear(1, 1)))


def test_convert_without_calibration_is_reported(model: Model) -> None:
    """One warning with the paths of all observers that never ran."""
    prepared = q.prepare(model)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        q.convert(prepared)
    (warning,) = caught
    assert UncalibratedWarning is warning.category
    for path in ("quant", "first", "second", "sum"):
        assert f"{path}.activation_post_process" in str(warning.message)
    assert "last" not in str(warning.message)


def test_convert_names_only_the_observers_that_never_ran(model: Model) -> None:
    prepared = q.prepare(model)
    prepared.quant(normal(5, 4))
    with pytest.warns(UncalibratedWarning) as caught:
        q.convert(prepared)
    assert "quant." not in str(caught[0].message)
    assert "first." in str(caught[0].message)


def test_calibration_with_empty_batches_only_is_reported(model: Model) -> None:
    prepared = q.prepare(model)
    prepared(pyqref.zeros(0, 4))
    with pytest.warns(UncalibratedWarning, match=r"quant.activation_post_process"):
        q.convert(prepared)


def test_nan_in_calibration_names_the_module(model: Model) -> None:
    prepared = q.prepare(model)
    with pytest.raises(ValueError, match=r"MinMaxObserver at 'quant.activation_post_process'"):
        prepared(pyqref.full((1, 4), np.nan))


def test_a_leaf_alone_is_reported() -> None:
    """Only submodules are swapped."""
    layer = nn.Linear(2, 2).eval()
    layer.qconfig = q.default_qconfig
    prepared = q.prepare(layer)
    prepared(normal(3, 2))
    with pytest.warns(UserWarning, match="a Linear alone: put it into QuantWrapper"):
        assert nn.Linear is type(q.convert(prepared))


def test_a_float_functional_used_twice_is_reported(model: Model) -> None:
    """Its observer would mix two tensors; two passes are no reuse."""

    class Twice(Model):
        def forward(self, x: Any) -> Any:
            x = self.quant(x)
            return self.dequant(self.sum.add(self.sum.add(x, x), x))

    twice = Twice().eval()
    twice.qconfig = q.default_qconfig
    prepared = q.prepare(twice)
    with pytest.warns(
        q.SharedObserverWarning, match=r"sum .FloatFunctional. is used more than once"
    ):
        prepared(normal(3, 4))
    once = q.prepare(model)
    once(normal(3, 4))
    once(normal(3, 4))


def test_a_quantized_layer_given_floats_names_itself(model: Model) -> None:
    prepared = q.prepare(model)
    prepared(normal(5, 4))
    quantized = q.convert(prepared)
    quantized.quant = nn.Identity()
    with pytest.raises(RuntimeError, match=r"first \(QuantizedLinear\).*QuantStub is missing"):
        quantized(normal(5, 4))


def test_prepare_qat_needs_training_mode(model: Model) -> None:
    with pytest.raises(ValueError, match=r"training mode: call model\.train\(\)"):
        q.prepare_qat(model)


def test_transposed_convolution_per_channel_is_refused() -> None:
    model = nn.Sequential(nn.ConvTranspose2d(1, 1, 1))
    model.qconfig = q.get_default_qconfig("fbgemm")
    with pytest.raises(ValueError, match=r"0 \(ConvTranspose2d\): weights per channel"):
        q.prepare(model)


def test_observer_state_that_does_not_fit(model: Model) -> None:
    prepared = q.prepare(model)
    state = dict(q.get_observer_state_dict(prepared))
    state["nowhere.activation_post_process.min_val"] = state.pop(
        "quant.activation_post_process.min_val"
    )
    with pytest.raises(RuntimeError, match=r"missing keys.*quant.*unexpected keys.*nowhere"):
        q.load_observer_state_dict(prepared, state)


@pytest.mark.parametrize(
    "call",
    [
        lambda: q.prepare(nn.Linear, {}),
        lambda: q.prepare_qat(nn.Linear),
        lambda: q.convert(nn.Linear),
        lambda: q.quantize(nn.Linear, q.default_eval_fn, []),
        lambda: q.quantize_qat(nn.Linear, q.default_eval_fn, []),
        lambda: q.quantize_dynamic(nn.Linear),
        lambda: q.fuse_modules(nn.Linear, ["0"]),
    ],
)
def test_what_is_no_module_is_refused(call: Any) -> None:
    with pytest.raises(TypeError, match=r"must be a Module, got.*call it: Linear\(\)"):
        call()


def test_unknown_custom_settings_are_refused(model: Model) -> None:
    """They would have no effect."""
    with pytest.raises(ValueError, match=r"prepare_custom_config_dict: keys.*got \['typo'\]"):
        q.prepare(model, prepare_custom_config_dict={"typo": 1})
    with pytest.raises(ValueError, match=r"convert_custom_config_dict: keys.*got \['typo'\]"):
        q.convert(model, convert_custom_config_dict={"typo": 1})
    with pytest.raises(ValueError, match=r"fuse_custom_config_dict: keys.*got \['typo'\]"):
        q.fuse_modules(model, ["first", "relu"], fuse_custom_config_dict={"typo": 1})


def test_a_layer_that_cannot_be_converted_is_named(model: Model) -> None:
    """A qconfig without ranges, for static quantization."""
    model.second.qconfig = q.default_dynamic_qconfig
    prepared = q.prepare(model)
    prepared(normal(5, 4))
    with pytest.raises(RuntimeError, match=r"convert: second \(Linear\).*PlaceholderObserver"):
        q.convert(prepared)
