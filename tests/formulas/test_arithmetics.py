"""The arithmetics of other systems, rounding by rounding, against exact rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import clamp, f32, rational, rne, single

from pyqref.arithmetic import FBGEMM, ONNX, ONNXQDQ, Float64, Layer, OneDNN, TensorRT, get

S_X, S_W, S_Y, BIAS = 0.1, 0.0237, 0.311, np.float32(0.777)


SAMPLE = range(-4000, 6000, 7)


def integers_of(model, bias=BIAS, layer=None):
    """Return a model's integers for the sample."""
    sums = np.array(SAMPLE)[:, None]
    place = Layer("linear") if layer is None else layer
    bias = None if bias is None else np.float32([bias])
    return model.requantize(sums, bias, S_X, S_W, S_Y, 11, 0, 255, place)[:, 0].tolist()


def test_eq_requantize_double__exact():
    """Exact fractions of the given scales, but for results within 1e-9 of a tie."""
    scale = rational(S_X) * rational(S_W)
    values = [(scale * a + rational(BIAS)) / rational(S_Y) for a in SAMPLE]
    assert all(abs(abs(value % 1 - Fraction(1, 2))) > Fraction(1, 10**9) for value in values)
    assert [clamp(rne(value) + 11, 0, 255) for value in values] == integers_of(Float64())


@pytest.mark.parametrize("kind", ["linear", "conv"])
def test_eq_requantize_onednn__exact(kind):
    """Each rounding in its place: reciprocals twice, product, bias, reciprocal, zero point."""
    inverse = single(1 / S_X)
    s_x = f32(1 / inverse)
    s_w = single(S_W) if kind == "conv" else f32(1 / single(1 / S_W))
    s_y = f32(1 / f32(1 / f32(1 / rational(S_Y))))
    unit = f32(s_x * s_w)
    expected = []
    for a in SAMPLE:
        real = f32(f32(a * unit) + rational(BIAS))
        expected.append(clamp(rne(f32(f32(real * s_y) + 11)), 0, 255))
    assert expected == integers_of(OneDNN(), layer=Layer(kind))


@pytest.mark.parametrize("per_channel", [False, True])
def test_eq_dynamic_onednn__exact(per_channel):
    """Reciprocals twice, of doubles but for the scales of channels; then product and bias."""
    s_x = f32(1 / single(1 / S_X))
    s_w = f32(1 / f32(1 / single(S_W))) if per_channel else f32(1 / single(1 / S_W))
    expected = [f32(f32(a * f32(s_x * s_w)) + rational(BIAS)) for a in SAMPLE]
    scale = np.array([S_W]) if per_channel else S_W
    got = OneDNN().dequantize(np.array(SAMPLE)[:, None], np.float32([BIAS]), S_X, scale)
    assert expected == [rational(each) for each in got[:, 0]]


def test_eq_requantize_onnx__exact():
    """The bias is an integer; the zero point comes after the rounding."""
    unit = f32(single(S_X) * single(S_W))
    multiplier = f32(unit / single(S_Y))
    bias = rne(f32(rational(BIAS) / unit))
    expected = [clamp(rne(f32(f32(Fraction(a + bias)) * multiplier)) + 11, 0, 255) for a in SAMPLE]
    assert expected == integers_of(ONNX())


def test_eq_requantize_qdq__exact():
    """The real sum is rounded once, the bias is that of an integer, and the scale divides."""
    unit = single(S_X) * single(S_W)
    bias = f32(rne(f32(rational(BIAS) / f32(unit))) * f32(unit))
    expected = []
    for a in SAMPLE:
        real = f32(f32(a * unit) + bias)
        expected.append(clamp(rne(f32(real / single(S_Y))) + 11, 0, 255))
    assert expected == integers_of(ONNXQDQ())


def test_eq_requantize_tensorrt__exact():
    """The result is real, with a real bias; the scale divides."""
    unit = f32(single(S_X) * single(S_W))
    expected = []
    for a in SAMPLE:
        real = f32(f32(a * unit) + rational(BIAS))
        expected.append(clamp(rne(f32(real / single(S_Y))) + 11, 0, 255))
    assert expected == integers_of(TensorRT())


def test_the_integer_only_models_differ_where_they_round():
    """-10 and 10 times a quarter: -2.5 and 2.5 go away, up or to the even integer."""
    results = {}
    for name in ("tflite", "tflite-ruy", "tflite-single", "cmsis-nn", "onnx", "float64"):
        sums = np.array([[-10], [10]])
        results[name] = get(name).requantize(sums, None, 0.5, 0.5, 1.0, 0, -128, 127)[:, 0].tolist()
    assert {
        "tflite": [-3, 3],
        "tflite-ruy": [-2, 3],
        "tflite-single": [-2, 3],
        "cmsis-nn": [-3, 3],
        "onnx": [-2, 2],
        "float64": [-2, 2],
    } == results
    assert [-2, 2] == FBGEMM().requantize(
        np.array([[-10], [10]]), None, 0.5, 0.5, 1.0, 0, -128, 127
    )[:, 0].tolist()
