"""Errors of models, layer by layer and channel by channel, against numbers worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pyqref
from pyqref import measure, nn
from pyqref.quantization import QConfig, get_default_qconfig


@pytest.fixture
def model():
    """Two layers, in evaluation mode."""
    pyqref.manual_seed(0)
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4)).eval()


@pytest.fixture
def inputs():
    return pyqref.rand(64, 8)


def test_sqnr_of_known_noise():
    """Signal power 25, noise power 0.25: 20 dB."""
    assert 20.0 == measure.sqnr([3.0, 4.0], [3.0, 4.5])


def test_sqnr_of_equal_numbers_and_of_no_signal():
    assert math.inf == measure.sqnr([1.0], [1.0])
    assert -math.inf == measure.sqnr([0.0], [1.0])


def test_sqnr_reads_quantized_tensors():
    x = pyqref.tensor([1.0, 2.2])
    q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    assert 10 * math.log10(5.84 / 0.04) == pytest.approx(measure.sqnr(x, q), abs=1e-4)


def test_sqnr_refuses_other_shapes():
    with pytest.raises(ValueError, match=r"shape \(2,\) of reference, got \(1,\)"):
        measure.sqnr([1.0, 2.0], [1.0])


def test_noises_add_in_power():
    """eq-noise-sum: four equal noises cost 6.02 dB; silence costs nothing."""
    assert 40 - 10 * math.log10(4) == pytest.approx(measure.add_noises([40.0] * 4), abs=1e-12)
    assert 40.0 == pytest.approx(measure.add_noises([40.0, math.inf]), abs=1e-12)
    assert math.inf == measure.add_noises([])


@pytest.mark.parametrize(
    ("m", "seconds"),
    [
        (0, 1024 * 1024 / 1e10),  # the weight is read
        (1, (1024 * 1024 + 2048) / 1e10),  # memory decides
        (512, 512 * 1024 * 1024 * 2 / 1e12),  # the processor decides
    ],
)
def test_eq_roofline__the_slower_of_two(m, seconds):
    assert seconds == measure.roofline(m, 1024, 1024, 1e12, 1e10)


def test_roofline_refuses_sizes_and_speeds_that_cannot_be():
    with pytest.raises(ValueError, match="n must be 0 or more, got -1"):
        measure.roofline(1, 1, -1, 1e12, 1e10)
    with pytest.raises(ValueError, match="bandwidth must be above 0, got 0"):
        measure.roofline(1, 1, 1, 1e12, 0)


@pytest.mark.parametrize("axis", [0, 1])
def test_channel_error_of_known_weights(axis):
    exact = np.array([[3.0, 4.0], [0.6, 0.8]])
    rounded = np.array([[3.0, 4.5], [0.6, 0.8]])
    if axis:
        exact, rounded = exact.T, rounded.T
    errors = measure.channel_error(exact, rounded, axis=axis)
    assert [10.0, 0.0] == pytest.approx(errors.tolist(), abs=1e-12)


@pytest.mark.parametrize("per_channel", [False, True])
def test_channel_error_keeps_its_bound(per_channel):
    """Half a step, and for float32 the small excess of the theory page, 0.00005 steps."""
    weight = pyqref.randn(6, 50)
    if per_channel:
        scales = weight.abs().amax(1) / 127
        zeros = pyqref.zeros(6, dtype=pyqref.int64)
        quantized = pyqref.quantize_per_channel(weight, scales, zeros, 0, pyqref.qint8)
    else:
        scale = float(weight.abs().max()) / 127
        quantized = pyqref.quantize_per_tensor(weight, scale, 0, pyqref.qint8)
    errors = measure.channel_error(weight, quantized)
    bounds = measure.channel_bound(weight, quantized)
    assert np.all(errors <= bounds * 1.0001)


def test_layer_outputs_come_in_the_order_in_which_they_ran(model, inputs):
    outputs = measure.layer_outputs(model, inputs)
    assert ["0", "1", "2"] == list(outputs)
    assert np.array_equal(outputs["2"], model(inputs).detach().numpy())


def test_layer_outputs_leave_no_hooks(model, inputs):
    measure.layer_outputs(model, inputs)
    assert not any(each._forward_hooks for each in model.modules())


class WithSpare(nn.Module):
    """One layer that runs and one that does not."""

    def __init__(self):
        super().__init__()
        self.used, self.spare = nn.Linear(8, 2), nn.Linear(8, 2)

    def forward(self, x):
        return self.used(x)


def test_layer_sqnr_passes_over_layers_that_do_not_run(inputs):
    model = WithSpare()
    assert {"used": math.inf} == measure.layer_sqnr(model, model, inputs)


def test_layer_sqnr_names_layers_that_were_asked_for_and_do_not_run(inputs):
    model = WithSpare()
    with pytest.raises(ValueError, match=r"in both models and give a tensor, got \['spare'\]"):
        measure.layer_sqnr(model, model, inputs, ["used", "spare"])


def test_layer_sqnr_needs_a_layer_in_common(inputs):
    with pytest.raises(ValueError, match="share no layer"):
        measure.layer_sqnr(nn.Linear(8, 2), nn.Linear(8, 2), inputs)


def test_plain_layers_take_fused_ones_as_a_whole():
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU(), nn.Flatten()).eval()
    fused = pyqref.quantization.fuse_modules(model, ["0", "1", "2"])
    assert ["0", "3"] == measure.plain_layers(fused)


def test_sensitivity_leaves_the_model_as_it_is(model, inputs):
    before = model(inputs)
    measure.sensitivity(model, get_default_qconfig("fbgemm"), inputs)
    assert pyqref.equal(before, model(inputs))
    assert not hasattr(model[0], "activation_post_process")


def test_sensitivity_of_a_layer_is_that_of_the_layer_alone(model, inputs):
    """It agrees with rounding input, weight and output of the first layer, fused, by hand."""
    qconfig = get_default_qconfig("qnnpack")
    fused = nn.intrinsic.LinearReLU(model[0], model[1])
    wrapped = pyqref.quantization.QuantWrapper(fused).eval()
    wrapped.qconfig = qconfig
    prepared = pyqref.quantization.prepare(wrapped)
    prepared(inputs)
    first = pyqref.quantization.convert(prepared)(inputs)
    expected = measure.sqnr(model(inputs), model[2](first))
    assert expected == measure.sensitivity(model, qconfig, inputs, layers=["0"])["0"]


def test_sensitivity_with_coarse_weights_is_worse(model, inputs):
    """Two bits leave far more noise than eight."""
    fine = get_default_qconfig("fbgemm")
    observer = pyqref.quantization.MinMaxObserver.with_args(
        dtype=pyqref.qint8, qscheme=pyqref.per_tensor_symmetric, quant_min=-2, quant_max=1
    )
    coarse = QConfig(activation=fine.activation, weight=observer)
    exact = measure.sensitivity(model, fine, inputs)
    rough = measure.sensitivity(model, coarse, inputs)
    assert all(rough[name] < exact[name] - 10 for name in exact)


def test_annotate_names_unknown_modules(model):
    with pytest.raises(AttributeError, match="missing"):
        measure.annotate(model, {"missing": 1.0})
