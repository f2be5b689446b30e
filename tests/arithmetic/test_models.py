"""Every arithmetic keeps these properties: its steps, its use in a whole model, its name."""

from __future__ import annotations

import re
from typing import Any

import hypothesis
import numpy as np
import pytest
from arithmetic.printed import holds
from hypothesis import given
from hypothesis import strategies as st

import pyqref
from pyqref import arithmetic, nn
from pyqref.backends import quantized as settings
from pyqref.nn.quantized.modules.weighted import WeightedQuantizedModule

NAMES = arithmetic.names()
SCALES = st.floats(2.0**-12, 4.0)


@st.composite
def outputs(draw: Any) -> dict[str, Any]:
    """One output of a layer: integers, scales and zero points."""
    depth = draw(st.integers(1, 12))
    integers = st.lists(st.integers(0, 255), min_size=depth, max_size=depth)
    weights = st.lists(st.integers(-128, 127), min_size=depth, max_size=depth)
    scale = draw(SCALES)
    return {
        "x": np.array(draw(integers), np.uint8),
        "x_zero_point": draw(st.integers(0, 255)),
        "weight": np.array(draw(weights), np.int8),
        "weight_zero_point": 0,
        "bias": draw(st.none() | st.floats(-50, 50, width=32)),
        "s_x": draw(SCALES),
        "s_w": np.array([scale]) if draw(st.booleans()) else scale,
        "s_y": draw(SCALES),
        "z_y": draw(st.integers(0, 255)),
        "layer": arithmetic.Layer(draw(st.sampled_from(["linear", "conv"]))),
    }


@pytest.mark.parametrize("name", NAMES)
@hypothesis.settings(max_examples=40)
@given(output=outputs())
def test_steps_end_with_the_integer(name, output):
    """The last record's value is what the stages give on arrays; each step has its label."""
    model = arithmetic.get(name)
    steps = model.steps(**output)
    sums = model.accumulate(
        output["x"][None],
        output["x_zero_point"],
        output["weight"][None],
        0,
        output["layer"],
    )
    bias = None if output["bias"] is None else np.float32([output["bias"]])
    scales = output["s_x"], output["s_w"], output["s_y"]
    integer = model.requantize(sums, bias, *scales, output["z_y"], layer=output["layer"])
    assert steps[-1].value == int(integer[0, 0])
    assert all(type(step.value) in (int, np.float32, np.float64) for step in steps)
    assert all(step.label.startswith("eq-") for step in steps)


@pytest.mark.parametrize("name", NAMES)
@hypothesis.settings(max_examples=40)
@given(output=outputs())
def test_formulas_say_what_was_computed(name, output):
    """Each printed formula, in exact arithmetic and rounded once, gives the printed value."""
    for step in arithmetic.get(name).steps(**output):
        assert holds(step)


def test_decisions_are_told():
    """Ties and clamps are named."""
    texts = {
        name: [
            step.decision
            for step in arithmetic.get(name).requantize_steps(10, None, 0.5, 0.5, 1.0, 0)
            if step.decision
        ]
        for name in ("fbgemm", "tflite", "tflite-ruy", "onednn")
    }
    assert {
        "fbgemm": ["tie, to the even integer"],
        "tflite": ["tie, away from zero"],
        "tflite-ruy": ["tie, upward"],
        "onednn": ["tie, to the even integer, zero point included"],
    } == texts
    (clamped,) = arithmetic.get("onnx").requantize_steps(5000, None, 0.5, 0.5, 1.0, 0)[-1:]
    assert "clamped to 255" == clamped.decision


@pytest.fixture(scope="module")
def network():
    """A converted model of convolutions and a linear layer, and an input."""
    pyqref.manual_seed(0)
    model = nn.Sequential(
        pyqref.quantization.QuantStub(),
        nn.Conv2d(3, 8, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(8, 8, 3, padding=1, groups=8),
        nn.Flatten(),
        nn.Linear(8 * 64, 5),
        pyqref.quantization.DeQuantStub(),
    ).eval()
    x = pyqref.randn(4, 3, 8, 8)
    model.qconfig = pyqref.quantization.get_default_qconfig("onednn")
    prepared = pyqref.quantization.prepare(model)
    prepared(x)
    return pyqref.quantization.convert(prepared), x


@pytest.mark.parametrize("name", NAMES)
def test_use_replaces_the_arithmetic_of_a_model(name, network):
    """A whole model runs in each; none is far from real arithmetic but where sums saturate."""
    model, x = network
    with arithmetic.use("float64"):
        exact = model(x)
    before = model(x)
    with arithmetic.use(name):
        got = model(x)
    assert np.array_equal(before.numpy(), model(x).numpy())
    if not name.endswith("saturating"):
        step = model[5].scale
        assert float((got - exact).abs().max()) <= 2.5 * step


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_engines_are_arithmetics(engine, network):
    """``eq-requantize``: an engine and the arithmetic of its name give the same integers."""
    model, x = network
    settings.engine = engine
    for module in model.modules():
        if isinstance(module, WeightedQuantizedModule):
            module.set_weight_bias(*module._weight_bias())  # packs it for the engine
    by_engine = model(x)
    with arithmetic.use(engine):
        assert np.array_equal(by_engine.numpy(), model(x).numpy())


def test_use_restores_what_was_set_before():
    """The setting comes back after an error, too, and inside another block."""
    with arithmetic.use("qnnpack"):
        with arithmetic.use("tflite") as inner:
            assert settings.arithmetic is inner
            assert settings.engine == "qnnpack"
        assert settings.arithmetic.name == "qnnpack"
        with pytest.raises(RuntimeError, match=r"quantized\.linear"), arithmetic.use("onnx"):
            pyqref.ops.quantized.linear(pyqref.ones(1, 1), None, 1.0, 0)
        assert settings.arithmetic.name == "qnnpack"
    assert settings.arithmetic is None
    assert settings.engine == "x86"


def test_unknown_names_are_refused():
    """The message lists the names; any of them works."""
    with pytest.raises(ValueError, match=r"name must be one of 'fbgemm', .*, got 'tpu'"):
        arithmetic.get("tpu")
    with pytest.raises(ValueError, match="got None"), arithmetic.use(None):  # type: ignore[arg-type]
        pass
    assert [arithmetic.get(name).name for name in NAMES] == NAMES


def test_a_fused_relu_clamps_at_the_zero_point():
    """``low`` is raised to the zero point of the output."""
    layer = nn.intrinsic.quantized.LinearReLU(1, 1)
    weight = pyqref.quantize_per_tensor(pyqref.tensor([[-1.0]]), 1.0, 0, pyqref.qint8)
    layer.set_weight_bias(weight, None)
    layer.scale, layer.zero_point = 1.0, 7
    x = pyqref.quantize_per_tensor(pyqref.tensor([[3.0]]), 1.0, 0, pyqref.quint8)
    for name in NAMES:
        with arithmetic.use(name):
            assert 7 == layer(x).int_repr().item()


def test_an_engine_of_another_system_says_what_to_do(network):
    """The message of the setting names ``use``, which then runs the model."""
    model, x = network
    for name in NAMES:
        if name not in settings.supported_engines:
            advice = re.escape(f"run the model inside 'with pyqref.arithmetic.use({name!r}):'")
            with pytest.raises(RuntimeError, match=advice):
                settings.engine = name
            with arithmetic.use(name):
                model(x)
    assert set(settings._MODELLED) == set(NAMES) - set(settings.supported_engines)
