"""The report says where a model would saturate, and its advice cures this."""

from __future__ import annotations

import numpy as np
import pytest

import pyqref
from pyqref import arithmetic, nn
from pyqref.quantization import (
    HistogramObserver,
    MinMaxObserver,
    QConfig,
    QuantStub,
    convert,
    default_weight_observer,
    get_default_qconfig,
    get_default_qconfig_mapping,
    prepare,
)
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx


def network() -> nn.Sequential:
    """A convolution and a linear layer, whose weights use their whole range often."""
    pyqref.manual_seed(0)
    model = nn.Sequential(
        QuantStub(), nn.Conv2d(4, 8, 3, padding=1), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 3)
    )
    for layer in (model[1], model[4]):
        layer.weight.data = layer.weight.data.sign() * layer.weight.abs().max()
    return model.eval()


X = pyqref.rand(6, 4, 6, 6, generator=pyqref.Generator().manual_seed(1)) + 1.0


def converted(qconfig: QConfig) -> nn.Module:
    """The network, calibrated and converted."""
    model = network()
    model.qconfig = qconfig
    prepared = prepare(model)
    prepared(X)
    return convert(prepared)


#: 8-bit activations and weights over their whole range.
WIDE = QConfig(activation=MinMaxObserver, weight=default_weight_observer)


def test_the_report_counts_what_saturates():
    """Layers, channels, shares: as one computes them from the integers of a layer."""
    model = converted(WIDE)
    report = arithmetic.saturation(model, [X[:4], X[4:]])
    assert ["1", "4"] == [each.path for each in report.layers]
    linear = report.layers[1]
    inner = nn.Sequential(*list(model)[:4])
    q = inner(X)
    packed = model[4]._packed_params._packed_params
    (weight,), _ = arithmetic.weight_rows(packed)
    row = q.int_repr().numpy(), q.q_zero_point(), weight, 0
    exact = arithmetic.get("fbgemm").accumulate(*row)
    wrong = (arithmetic.get("x86-saturating").accumulate(*row) != exact).sum(axis=0)
    assert wrong.any()
    assert np.array_equal(wrong, linear.wrong)
    assert (exact.size, int(wrong.sum()) / exact.size) == (linear.sums, linear.share)
    assert [int(n) for n in np.flatnonzero(wrong)] == linear.channels
    with arithmetic.use("x86-saturating"):
        got = model[4](q)
    change = np.abs(got.int_repr().numpy().astype(int) - model[4](q).int_repr().numpy())
    assert (np.count_nonzero(change), change.max()) == (linear.changed, linear.largest_change)


def test_the_model_is_left_as_it_was():
    """It computes what it computed before, and no arithmetic stays in use."""
    model = converted(WIDE)
    before = model(X).int_repr().numpy()
    arithmetic.saturation(model, X)
    assert pyqref.backends.quantized.arithmetic is None
    assert np.array_equal(before, model(X).int_repr().numpy())


@pytest.mark.parametrize(
    "qconfig",
    [
        get_default_qconfig("x86"),
        QConfig(
            activation=HistogramObserver.with_args(reduce_range=True),
            weight=default_weight_observer,
        ),
        QConfig(
            activation=MinMaxObserver,
            weight=default_weight_observer.with_args(quant_min=-64, quant_max=63),
        ),
    ],
    ids=["default of x86", "reduce_range", "weights in -64..63"],
)
def test_what_it_advises_cures(qconfig):
    """``eq-pair-sum``: inputs of 7 bits, or weights within -64..63, and no sum saturates."""
    wide = arithmetic.saturation(converted(WIDE), X)
    for word in (
        "reduce_range=True",
        "get_default_qconfig('x86')",
        "quant_min=-64",
        "quant_max=63",
    ):
        assert word in wide.advice
    assert wide.wrong > 100
    cured = arithmetic.saturation(converted(qconfig), X)
    assert 0 == cured.wrong
    assert cured.sums == wide.sums
    assert f"None of {cured.sums} sums saturates on x86 processors without VNNI." == str(cured)


def test_graph_mode_and_engines():
    """Paths are those of the graph's modules; a model of qnnpack keeps its numbers."""
    pyqref.backends.quantized.engine = "qnnpack"
    mapping = get_default_qconfig_mapping("qnnpack")
    prepared = prepare_fx(network()[1:].eval(), mapping, (X,))
    prepared(X)
    model = convert_fx(prepared)
    before = model(X).numpy()
    report = arithmetic.saturation(model, (X,))
    assert ["1", "4"] == [each.path for each in report.layers]
    assert np.array_equal(before, model(X).numpy())


def test_what_is_no_quantized_model_is_refused():
    """A float model says: convert it first. The converted one gives a report."""
    with pytest.raises(ValueError, match="no quantized linear layer or convolution ran"):
        arithmetic.saturation(network(), X)
    with pytest.raises(TypeError, match="model must be a module, got"):
        arithmetic.saturation(3, X)
    assert arithmetic.saturation(converted(WIDE), X).sums
