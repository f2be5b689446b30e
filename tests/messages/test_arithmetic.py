"""Following the messages of the arithmetics of other systems works."""

from __future__ import annotations

import numpy as np
from messages.following import says

import pyqref
from pyqref import arithmetic, nn
from pyqref.arithmetic import TFLite
from pyqref.quantization import (
    DeQuantStub,
    MinMaxObserver,
    QConfig,
    QuantStub,
    convert,
    default_weight_observer,
    get_default_qconfig,
    prepare,
)

X = pyqref.linspace(0.8, 1.0, 16).reshape(2, 8)


def network(qconfig: QConfig) -> nn.Module:
    """Prepared and calibrated: weights and inputs near the ends of their ranges."""
    model = nn.Sequential(QuantStub(), nn.Linear(8, 2)).eval()
    model[1].weight.data = X.clone()
    model.qconfig = qconfig
    prepared = prepare(model)
    prepared(X)
    return prepared


WIDE = QConfig(activation=MinMaxObserver, weight=default_weight_observer)


def test_saturation():
    """The report says what cures it: after any of the three no sum saturates."""
    report = arithmetic.saturation(convert(network(WIDE)), X)
    assert report.wrong
    with says(
        "give activations 7 bits, with reduce_range=True in their observer (as "
        "get_default_qconfig('x86') does), or keep weights within -64..63, with quant_min=-64 and "
        "quant_max=63 in theirs"
    ) as told:
        told(report)
    narrow = default_weight_observer.with_args(quant_min=-64, quant_max=63)
    for qconfig in (
        QConfig(MinMaxObserver.with_args(reduce_range=True), default_weight_observer),
        get_default_qconfig("x86"),
        QConfig(MinMaxObserver, narrow),
    ):
        assert not arithmetic.saturation(convert(network(qconfig)), X).wrong


def test_saturation_of_what_is_not_converted():
    """Converted, and given data, the model has a report."""
    prepared = network(WIDE)
    with says(
        "convert it first, with pyqref.quantization.convert or convert_fx, and give it some data"
    ):
        arithmetic.saturation(prepared, X)
    assert arithmetic.saturation(convert(prepared), X).sums


def test_another_systems_engine():
    """Inside ``use`` the model runs."""
    model = convert(network(WIDE))
    with says("run the model inside 'with pyqref.arithmetic.use({}):' instead"):
        pyqref.backends.quantized.engine = "tflite"
    with arithmetic.use("tflite"):
        assert (2, 2) == tuple(model(X).shape)


class WithFunctions(TFLite):
    """TFLite, and real functions on its grids."""

    def function(self, q, grid, out, function):
        return self.quantize(function((q - np.float32(grid.zero_point)) * grid.scale), out)


def test_what_an_arithmetic_leaves_to_the_engine():
    """The layer is named, and both remedies work: a subclass, or a layer in float."""

    def converted(*layers: nn.Module, floats: tuple[int, ...] = ()) -> nn.Module:
        model = nn.Sequential(QuantStub(), nn.Linear(8, 2), *layers).eval()
        model.qconfig = get_default_qconfig("fbgemm")
        for place in floats:
            model[place].qconfig = None
        prepared = prepare(model)
        prepared(X)
        return convert(prepared)

    model = converted(nn.Sigmoid(), DeQuantStub())
    place = "arithmetic 'tflite' does not define sigmoid in 2 (Sigmoid), which keeps the numbers of"
    with (
        says(place, "set its qconfig to None, so that it stays in float"),
        arithmetic.use("tflite"),
    ):
        model(X)
    with arithmetic.use("tflite", strict=True):
        converted(DeQuantStub(), nn.Sigmoid(), floats=(3,))(X)
    strictly = arithmetic.use("tflite", strict=True)
    with says("define {}() in a subclass of {} and use that"), strictly:
        model(X)
    with arithmetic.use(WithFunctions(), strict=True):
        model(X)
