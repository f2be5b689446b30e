"""Following the messages of quantization in graph mode works."""

from __future__ import annotations

import copy
from typing import Any

from bad_input.engine import floats
from messages.following import says

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization import default_qconfig
from pyqref.quantization import quantize_fx as fx
from pyqref.quantization.fx._equalize import default_equalization_qconfig

X = floats(4, 3)
MAPPING = q.get_default_qconfig_mapping("x86")


def network() -> Any:
    return nn.Sequential(nn.Linear(3, 3), nn.ReLU()).eval()


def test_fusing_for_training_what_only_evaluation_can() -> None:
    """Evaluation mode, or the native back end, which does not fuse the three."""
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.LeakyReLU())
    qat = q.get_default_qat_qconfig_mapping("onednn")
    onednn = q.backend_config.get_onednn_backend_config()
    native = q.backend_config.get_native_backend_config()
    with says(
        "call model.eval() and prepare_fx, or pass backend_config=get_native_backend_config()"
    ):
        fx.prepare_qat_fx(model.train(), qat, (X,), backend_config=onednn)
    fx.prepare_qat_fx(model, qat, (X,), backend_config=native)(X)
    mapping = q.get_default_qconfig_mapping("onednn")
    fx.prepare_fx(model.eval(), mapping, (X,), backend_config=onednn)(X)


def test_prepare_fx() -> None:
    """Evaluation mode, entries that match, and what equalizes."""
    model = network()
    with says("call model.eval() first"):
        fx.fuse_fx(network().train())
    fx.fuse_fx(network().train().eval())
    with says("correct it or leave it out"):
        fx.prepare_fx(model, copy.deepcopy(MAPPING).set_module_name("one", None), (X,))
    fx.prepare_fx(model, copy.deepcopy(MAPPING).set_module_name("1", None), (X,))
    columns = {"": default_equalization_qconfig}
    with says("write default_equalization_qconfig"):
        fx.prepare_fx(model, MAPPING, (X,), _equalization_config={"": default_qconfig})
    with says("pass it in a QConfigMapping as _equalization_config"):
        fx.prepare_fx(model, columns, (X,))
    with says("give it default_equalization_qconfig for linear or convolution layers"):
        fx.prepare_fx(model, MAPPING, (X,), _equalization_config={"": None})
    prepared = fx.prepare_fx(model, MAPPING, (X,), _equalization_config=columns)
    with says("give the layer batches"):
        prepared(X[0])
    prepared(X)


def test_convert_fx() -> None:
    """A prepared model converts after calibration, and as often as one likes."""
    model = network()
    with says("call prepare_fx first"):
        fx.convert_fx(model)
    with says("run the prepared model on calibration data first"):
        fx.convert_fx(fx.prepare_fx(model, MAPPING, (X,)))
    prepared = fx.prepare_fx(model, MAPPING, (X,))
    prepared(X)
    converted = fx.convert_fx(prepared)
    with says("convert the model that prepare_fx returned once more, which stays as it was"):
        fx.convert_to_reference_fx(converted)
    fx.convert_to_reference_fx(prepared)(X)
    assert converted(X).equal(fx.convert_fx(prepared)(X))


def test_a_model_that_is_prepared_already() -> None:
    """It is calibrated or trained, and converted; another begins with the float model."""
    model, qat = network(), q.get_default_qat_qconfig_mapping()
    prepared = fx.prepare_fx(model, MAPPING, (X,))
    with says(
        "run it on calibration data, or train it, and pass it to convert_fx, or call {} on the "
        "float model"
    ) as told:
        fx.prepare_fx(prepared, MAPPING, (X,))
    assert "or call prepare_fx on the float model" in told.text
    prepared(X)
    converted = fx.convert_fx(prepared)
    trained = fx.prepare_qat_fx(network().train(), qat, (X,))
    trained(X).sum().backward()
    fx.convert_fx(trained.eval())
    with says("call {} on the float model"):
        fx.prepare_fx(converted, MAPPING, (X,))
    fx.prepare_fx(model, MAPPING, (X,))


def test_calibration_in_training_mode() -> None:
    """eval() before calibration, or training."""

    def model() -> Any:
        return nn.Sequential(nn.Linear(3, 3), nn.Dropout())

    prepared = fx.prepare_fx(model().eval(), MAPPING, (X,))
    with says("call eval() on it before calibration, or use prepare_qat_fx to train it"):
        prepared.train()(X)
    prepared = fx.prepare_fx(model().eval(), MAPPING, (X,)).train()
    prepared.eval()(X)
    fx.prepare_qat_fx(model().train(), q.get_default_qat_qconfig_mapping(), (X,))(X)


def test_example_inputs() -> None:
    """Such as the model is called with, in a tuple."""
    model = network()
    with says("give the inputs that the model is called with, as a tuple such as (x,)"):
        fx.prepare_fx(model, MAPPING, (X, X))
    with says("give an input as the model is called with"):
        fx.prepare_fx(model, MAPPING, (X[:, :2],))
    fx.prepare_fx(model, MAPPING, (X,))(X)


def test_layers_left_in_the_reference_form() -> None:
    """Two batch norms are made one, or stay float."""

    def convert(mapping: Any, *norms: Any) -> Any:
        prepared = fx.prepare_fx(nn.Sequential(nn.Linear(3, 2), *norms).eval(), mapping, (X,))
        prepared(X)
        return fx.convert_fx(prepared)

    with says(
        "change that (two batch norms in a row can be one), or set the qconfigs of these layers to "
        "None"
    ):
        convert(MAPPING, nn.BatchNorm1d(2), nn.BatchNorm1d(2))
    assert nn.quantized.Linear is type(convert(MAPPING, nn.BatchNorm1d(2)).get_submodule("0"))
    mapping = copy.deepcopy(MAPPING)
    for name in "012":
        mapping.set_module_name(name, None)
    convert(mapping, nn.BatchNorm1d(2), nn.BatchNorm1d(2), nn.Linear(2, 2))


def test_a_float_tensor_for_a_quantized_input() -> None:
    """It is quantized, or the float model prepared without the index."""

    def convert(custom: Any) -> Any:
        prepared = fx.prepare_fx(network(), MAPPING, (X,), custom)
        prepared(X)
        return fx.convert_fx(prepared)

    converted = convert(q.fx.custom_config.PrepareCustomConfig().set_input_quantized_indexes([0]))
    with says(
        "pass pyqref.quantize_per_tensor({}, scale, zero_point, pyqref.quint8), or leave {} out of "
        "input_quantized_indexes and prepare the float model again"
    ):
        converted(X)
    converted(pyqref.quantize_per_tensor(X, 0.01, 100, pyqref.quint8))
    convert(None)(X)


def test_a_quantized_output_without_a_quantized_qconfig() -> None:
    """The mapping has one for it."""
    custom = q.fx.custom_config.PrepareCustomConfig().set_output_quantized_indexes([0])
    mapping = q.QConfigMapping().set_global(None).set_module_name("0", q.default_qconfig)
    with says("set one in the qconfig_mapping"):
        fx.prepare_fx(nn.Sequential(nn.Linear(3, 3), nn.Softshrink()).eval(), mapping, (X,), custom)
    prepared = fx.prepare_fx(network(), MAPPING, (X,), custom)
    prepared(X)
    assert fx.convert_fx(prepared)(X).is_quantized


def test_a_module_that_is_called_twice() -> None:
    """A copy of it has its own grid."""

    class Twice(nn.Module):
        def __init__(self, second: bool) -> None:
            super().__init__()
            self.one = nn.Linear(3, 3)
            self.two = copy.deepcopy(self.one) if second else self.one

        def forward(self, x: Any) -> Any:
            return self.two(10 * self.one(x))

    def convert(second: bool) -> Any:
        prepared = fx.prepare_fx(Twice(second).eval(), MAPPING, (X,))
        prepared(X)
        return fx.convert_fx(prepared)

    with says("call a copy of the module instead if this loses accuracy"):
        convert(False)
    convert(True)(X)
