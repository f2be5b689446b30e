"""What messages of quantization in graph mode advise to do works."""

from __future__ import annotations

import copy
from typing import Any

from bad_input.engine import floats
from messages.following import says

from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization import quantize_fx as fx

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
    """Evaluation mode, entries that match, and no equalization."""
    model = network()
    with says("call model.eval() first"):
        fx.fuse_fx(network().train())
    fx.fuse_fx(network().train().eval())
    with says("correct it or leave it out"):
        fx.prepare_fx(model, copy.deepcopy(MAPPING).set_module_name("one", None), (X,))
    fx.prepare_fx(model, copy.deepcopy(MAPPING).set_module_name("1", None), (X,))
    with says("leave it out"):
        fx.prepare_fx(model, MAPPING, (X,), _equalization_config={"": None})
    fx.prepare_fx(model, MAPPING, (X,))


def test_convert_fx() -> None:
    """Of a prepared model, once, after calibration."""
    model = network()
    with says("call prepare_fx first"):
        fx.convert_fx(model)
    with says("run the prepared model on calibration data first"):
        fx.convert_fx(fx.prepare_fx(model, MAPPING, (X,)))
    prepared = fx.prepare_fx(model, MAPPING, (X,))
    prepared(X)
    again = copy.deepcopy(prepared)
    fx.convert_fx(prepared)
    with says("convert a copy.deepcopy of the prepared model each time"):
        fx.convert_fx(prepared)
    fx.convert_to_reference_fx(copy.deepcopy(again))
    fx.convert_fx(copy.deepcopy(again))


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
