"""The pieces of the demo, one by one."""

from __future__ import annotations

import io

import numpy as np
import pytest
from export.compiled import COMPILERS, compiled, results

import pyqref
from pyqref import export, nn
from pyqref.demo import bits, dynamic, inspection, qat, static
from pyqref.demo.console import Console
from pyqref.demo.data import load_digits
from pyqref.demo.models import DigitCNN, RowLSTM
from pyqref.demo.plan import Plan
from pyqref.demo.train import predict, train


@pytest.fixture(scope="module")
def digits():
    return load_digits(seed=0).limited(64, 32)


@pytest.fixture(scope="module")
def cnn(digits):
    """A CNN trained just enough to have sensible batch norms."""
    pyqref.manual_seed(0)
    model = DigitCNN(stem=4, width=8)
    return train(model, digits.train_images, digits.train_labels, epochs=1, lr=5e-3)


def test_split_is_stratified_and_disjoint():
    digits = load_digits(seed=0)
    assert (1347, 450) == (len(digits.train_images), len(digits.test_images))
    shares = np.bincount(digits.test_labels.numpy(), minlength=10)
    assert shares.max() - shares.min() <= 3
    assert (0.0, 1.0) == (float(digits.train_images.min()), float(digits.train_images.max()))


def test_split_follows_the_seed():
    first, second, third = (load_digits(seed).test_labels.numpy() for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, third)


def test_training_lowers_the_loss(digits):
    pyqref.manual_seed(0)
    losses = []
    train(
        DigitCNN(4, 8),
        digits.train_images,
        digits.train_labels,
        epochs=3,
        lr=5e-3,
        after_epoch=losses.append,
    )
    assert losses[-1] < losses[0]


def test_fusing_folds_every_batch_norm(cnn):
    """The fused model is the same function, within rounding."""
    fused = static.fused(cnn)
    assert not any(isinstance(each, nn.BatchNorm2d) for each in fused.modules())
    images = load_digits().test_images[:8]
    exact = predict(cnn, images).numpy()
    bound = 1e-5 * np.abs(exact).max()
    assert np.abs(predict(fused, images).numpy() - exact).max() <= bound


@pytest.mark.skipif(not COMPILERS, reason="neither gcc nor clang is installed")
def test_static_model_in_c(cnn, digits, tmp_path):
    """The program in C gives the logits of every test image in every bit."""
    model = static.quantize_static(
        cnn, digits.calibration_images, engine="qnnpack", weights="per tensor", observer="MinMax"
    )
    x = digits.test_images
    made = export.c(model, tmp_path / "cnn.c", "float-multiplier", example_inputs=x[:1])
    integers = model.quant(x).int_repr().numpy()
    (found,) = results(made, compiled(made, COMPILERS[0], ["-O1"]), integers)
    head = model.head
    logits = (found.astype(np.int64) - head.zero_point).astype(np.float32) * np.float32(head.scale)
    assert made.engine == "qnnpack"
    assert np.array_equal(predict(model, x).numpy(), logits)


def test_static_model_has_integer_layers(cnn, digits):
    model = static.quantize_static(
        cnn, digits.train_images, engine="fbgemm", weights="per channel", observer="MinMax"
    )
    assert pyqref.qint8 is model.head.weight().dtype
    assert pyqref.per_channel_affine is model.head.weight().qscheme()


def test_use_engine_restores_it_after_an_error():
    before = pyqref.backends.quantized.engine

    def fail():
        with static.use_engine("qnnpack"):
            raise KeyError(pyqref.backends.quantized.engine)

    with pytest.raises(KeyError, match="qnnpack"):
        fail()
    assert before == pyqref.backends.quantized.engine


def test_dynamic_model_keeps_the_float_interface(digits):
    pyqref.manual_seed(0)
    model = RowLSTM(hidden=8).eval()
    small = dynamic.quantize_recurrent(model, engine="qnnpack", dtype=pyqref.qint8)
    with static.use_engine("qnnpack"):
        assert (4, 10) == tuple(predict(small, digits.test_images[:4]).shape)


def test_fine_tuning_converts_to_the_fake_quantized_function(cnn, digits):
    """Integers and fake quantization agree in all but a few roundings: at least 20 dB."""
    from pyqref.demo.measure import sqnr

    student = qat.fine_tuned(cnn, digits, engine="fbgemm", epochs=1)
    model = qat.converted(student, engine="fbgemm")
    with static.use_engine("fbgemm"):
        converted = predict(model, digits.test_images)
    assert sqnr(predict(student, digits.test_images), converted) >= 20


def test_two_bits_leave_four_values(cnn, digits):
    model = bits.fake_quantized(cnn, digits.train_images, bits=2, weights="per tensor")
    outputs = inspection.activations(model, digits.test_images, ["stem.conv"])
    assert len(np.unique(outputs["stem.conv"])) <= 4


def test_observer_ranges_of_known_data():
    """MinMax covers the data; the histogram observer never chooses more."""
    values = np.linspace(0, 1, 640, dtype=np.float32).reshape(-1, 1)
    chosen = inspection.observer_ranges(values)
    assert 1.0 == pytest.approx(chosen["MinMax"][1], abs=1e-6)
    assert chosen["Histogram"][1] <= chosen["MinMax"][1]
    assert 0.0 == chosen["MinMax"][0]


def test_layer_errors_of_the_model_itself_are_infinite(cnn, digits):
    fused = static.fused(cnn)
    errors = inspection.layer_errors(fused, fused, digits.test_images)
    assert DigitCNN.LAYERS == list(errors)
    assert {np.inf} == set(errors.values())


def test_channel_errors_are_smaller_per_channel(cnn, digits):
    fused = static.fused(cnn)
    errors = {
        weights: inspection.channel_errors(
            fused,
            static.quantize_static(
                cnn, digits.train_images, engine="fbgemm", weights=weights, observer="MinMax"
            ),
            "widen.conv",
        )
        for weights in ("per tensor", "per channel")
    }
    assert (8,) == errors["per channel"].shape
    assert errors["per channel"].mean() < errors["per tensor"].mean()


def test_console_prints_a_line_a_stage():
    stream = io.StringIO()
    with Console(stream).stage("Count", 2) as step:
        step("one")
        step("two")
    line = stream.getvalue()
    assert line.startswith("Count")
    assert line.endswith("two\n")
    assert 1 == line.count("\n")


def test_plan_is_smaller_when_quick():
    whole, quick = Plan(), Plan(quick=True)
    assert quick.cnn_epochs < whole.cnn_epochs
    assert set(quick.bits) < set(whole.bits)
    assert 7 == Plan(epochs=7, quick=True).cnn_epochs
