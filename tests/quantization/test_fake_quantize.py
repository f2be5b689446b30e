"""Fake quantizers: the documented formula, the gradient, the switches."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest
from quantization.samples import normal

import pyqref
from pyqref import quantization as q
from pyqref.quantization.quantize_fx import prepare_qat_fx

NAMES = [
    name
    for name in dir(q)
    if name.startswith(("default_", "fused_"))
    and not name.startswith("default_qconfig")
    and ("fake_quant" in name)
]


def test_documented_formula() -> None:
    """``eq-fake-quantize``: (clamp(round(x / scale + zp), quant_min, quant_max) - zp) * scale."""
    x, scale, zero_point = np.float32([-3, -0.3, 0.2, 0.7, 40]), 0.25, 3
    rounded = np.clip(np.rint(x / scale + zero_point), 0, 15)
    expected = (rounded - zero_point) * scale
    y = pyqref.fake_quantize_per_tensor_affine(pyqref.from_numpy(x), scale, zero_point, 0, 15)
    assert expected.tolist() == y.tolist()


def test_ties_with_an_odd_zero_point() -> None:
    """Documented: zp is added before rounding; torch: after."""
    x = pyqref.tensor([0.5, 1.5, 2.5])
    assert [1.0, 1.0, 3.0] == pyqref.fake_quantize_per_tensor_affine(x, 1.0, 1, 0, 255).tolist()
    pyqref.backends.quantized.conventions = "torch"
    assert [0.0, 2.0, 2.0] == pyqref.fake_quantize_per_tensor_affine(x, 1.0, 1, 0, 255).tolist()


def test_fake_quantization_is_quantization_and_back() -> None:
    """Under the documented convention: dequantize(quantize(x)), bit for bit."""
    x = normal(1000)
    quantized = pyqref.quantize_per_tensor(x, 0.03, 77, pyqref.quint8)
    y = pyqref.fake_quantize_per_tensor_affine(x, 0.03, 77, 0, 255)
    assert quantized.dequantize().tolist() == y.tolist()


def test_gradient_passes_inside_the_range_only() -> None:
    """``eq-straight-through``: the ends of the range are inside."""
    x = pyqref.tensor([-1.6, -1.4, 0.0, 3.0, 3.4, 3.6], requires_grad=True)
    y = pyqref.fake_quantize_per_tensor_affine(x, 1.0, 1, 0, 4)
    y.backward(pyqref.arange(1.0, 7.0))
    assert [0.0, 2.0, 3.0, 4.0, 5.0, 0.0] == x.grad.tolist()


def test_gradient_per_channel() -> None:
    x = pyqref.tensor([[10.0, 1.0], [10.0, 1.0]], requires_grad=True)
    scale, zero_point = pyqref.tensor([1.0, 2.0]), pyqref.tensor([0, 0], dtype=pyqref.int32)
    pyqref.fake_quantize_per_channel_affine(x, scale, zero_point, 0, 0, 7).sum().backward()
    assert [[0.0, 1.0], [1.0, 1.0]] == x.grad.tolist()


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_per_channel_is_per_tensor_for_each_channel(axis: int) -> None:
    """``eq-fake-quantize-channel``, away from ties."""
    x = normal(3, 3, 3)
    scale = pyqref.tensor([0.1, 0.07, 0.3])
    zero_point = pyqref.tensor([3, 0, 250], dtype=pyqref.int32)
    whole = pyqref.fake_quantize_per_channel_affine(x, scale, zero_point, axis, 0, 255)
    for index in range(3):
        part = pyqref.fake_quantize_per_tensor_affine(
            x.select(axis, index), scale[index].item(), zero_point[index].item(), 0, 255
        )
        assert part.tolist() == whole.select(axis, index).tolist()


def test_scale_and_zero_point_may_be_tensors() -> None:
    x = normal(5)
    expected = pyqref.fake_quantize_per_tensor_affine(x, 0.5, 2, 0, 255)
    scale, zero_point = pyqref.tensor([0.5]), pyqref.tensor([2], dtype=pyqref.int32)
    found = pyqref.fake_quantize_per_tensor_affine(x, scale, zero_point, 0, 255)
    assert expected.tolist() == found.tolist()


@pytest.mark.parametrize(
    ("arguments", "error", "match"),
    [
        ((0.0, 0, 0, 255), ValueError, "scale must be positive and finite"),
        ((-0.1, 0, 0, 255), ValueError, "scale must be positive and finite"),
        ((float("nan"), 0, 0, 255), ValueError, "scale must be positive and finite"),
        ((float("inf"), 0, 0, 255), ValueError, "scale must be positive and finite"),
        ((0.1, 300, 0, 255), ValueError, r"zero_point must be in \[0, 255\], got 300"),
        ((0.1, 0, 5, 2), ValueError, "quant_min must not exceed quant_max"),
        (([0.1, 0.2], 0, 0, 255), ValueError, "scale must have one element"),
    ],
)
def test_bad_parameters_per_tensor(
    arguments: tuple[object, ...], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        pyqref.fake_quantize_per_tensor_affine(normal(3), *arguments)


def test_bad_input() -> None:
    with pytest.raises(TypeError, match="input must be a Tensor, got list"):
        pyqref.fake_quantize_per_tensor_affine([1.0], 0.1, 0, 0, 255)
    with pytest.raises(TypeError, match="floating point dtype"):
        pyqref.fake_quantize_per_tensor_affine(pyqref.tensor([1]), 0.1, 0, 0, 255)


def test_bad_parameters_per_channel() -> None:
    one, zero = pyqref.ones(3), pyqref.zeros(3, dtype=pyqref.int32)
    with pytest.raises(ValueError, match=r"scale must have shape \(2,\)"):
        pyqref.fake_quantize_per_channel_affine(normal(2, 3), one, zero, 0, 0, 255)
    with pytest.raises(IndexError, match=r"axis must be in \[-2, 1\], got 5"):
        pyqref.fake_quantize_per_channel_affine(normal(2, 3), one, zero, 5, 0, 255)
    with pytest.raises(IndexError, match="axis 0 is none of the input, which has no dimensions"):
        pyqref.fake_quantize_per_channel_affine(pyqref.tensor(1.0), one, zero, 0, 0, 255)
    with pytest.raises(ValueError, match="axis 0 is none of the tensor, which has no dimensions"):
        pyqref.quantize_per_channel(pyqref.tensor(1.0), one, zero, 0, pyqref.quint8)


def test_infinity_saturates() -> None:
    x = pyqref.tensor([-np.inf, -1e20, 1e20, np.inf])
    y = pyqref.fake_quantize_per_tensor_affine(x, 1.0, 128, 0, 255)
    assert [-128.0, -128.0, 127.0, 127.0] == y.tolist()


def test_empty_input() -> None:
    x = pyqref.zeros(0, 3)
    assert (0, 3) == tuple(pyqref.fake_quantize_per_tensor_affine(x, 1.0, 0, 0, 255).shape)
    for name in NAMES:
        assert (0, 3) == tuple(getattr(q, name)()(pyqref.zeros(0, 3)).shape)


@pytest.mark.parametrize("name", NAMES)
def test_every_default_can_be_made_and_run(name: str) -> None:
    fake_quantize = getattr(q, name)()
    y = fake_quantize(normal(4, 6))
    assert (4, 6) == tuple(y.shape)


@pytest.mark.parametrize("make", [q.FakeQuantize, q.FusedMovingAvgObsFakeQuantize])
def test_switches(make: type) -> None:
    """fake_quant_enabled controls the error; statistics are still updated; and the reverse."""
    fake_quantize = make()
    x = normal(50)
    fake_quantize.disable_fake_quant()
    assert x.tolist() == fake_quantize(x).tolist()
    assert x.min().item() == fake_quantize.activation_post_process.min_val.item()
    fake_quantize.enable_fake_quant()
    fake_quantize.disable_observer()
    assert x.tolist() != fake_quantize(x).tolist()
    low = fake_quantize.activation_post_process.min_val.item()
    fake_quantize(x * 100)
    assert low == fake_quantize.activation_post_process.min_val.item()
    fake_quantize.enable_observer()
    fake_quantize(x * 100)
    assert low != fake_quantize.activation_post_process.min_val.item()


def test_switches_of_a_whole_model() -> None:
    model = pyqref.nn.Sequential(q.FakeQuantize(), pyqref.nn.Sequential(q.FakeQuantize()))
    model.apply(q.disable_fake_quant)
    model.apply(q.disable_observer)
    flags = [b.item() for name, b in model.named_buffers() if name.endswith("enabled")]
    assert [0, 0, 0, 0] == flags
    model.apply(q.enable_fake_quant)
    model.apply(q.enable_observer)
    flags = [b.item() for name, b in model.named_buffers() if name.endswith("enabled")]
    assert [1, 1, 1, 1] == flags


def test_eval_mode_goes_on_observing() -> None:
    """Only disable_observer stops it."""
    fake_quantize = q.FakeQuantize().eval()
    fake_quantize(pyqref.tensor([-1.0, 1.0]))
    assert -1.0 == fake_quantize.activation_post_process.min_val.item()


def test_fused_chooses_parameters_in_double() -> None:
    """``eq-choose-qparams-dynamic``: symmetric int8 divides by 128 below and 127 above zero."""
    fake_quantize = q.default_fused_wt_fake_quant()
    fake_quantize(pyqref.tensor([-127.0, 127.0]))
    assert [1.0] == fake_quantize.scale.tolist()
    # convert asks the observer, which divides by 127.5
    assert [np.float32(127) / np.float32(127.5)] == fake_quantize.calculate_qparams()[0].tolist()


def test_fused_with_fake_quantization_off_keeps_the_scale() -> None:
    fake_quantize = q.default_fused_act_fake_quant()
    fake_quantize.disable_fake_quant()
    fake_quantize(normal(9))
    assert [1.0] == fake_quantize.scale.tolist()


@pytest.mark.parametrize(
    "name", ["default_fused_act_fake_quant", "default_fused_per_channel_wt_fake_quant"]
)
def test_fused_that_never_observed_says_so(name: str) -> None:
    """The scale is then 0.1 as in torch, but with a warning."""
    fake_quantize = getattr(q, name)()
    fake_quantize.disable_observer()
    with pytest.warns(q.UncalibratedWarning, match="seen no data and is disabled: scale 0.1"):
        fake_quantize(pyqref.ones(2, 3))
    assert {np.float32(0.1)} == set(fake_quantize.scale.numpy())


@pytest.mark.parametrize("make", [q.FakeQuantize, q.FusedMovingAvgObsFakeQuantize])
def test_nan_is_refused_by_name(make: type) -> None:
    model = pyqref.nn.Sequential(make())
    with pytest.raises(ValueError, match=r"MovingAverageMinMaxObserver at '0.activation.*1 nan"):
        model(pyqref.tensor([np.nan, 1.0]))


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"quant_min": -1, "quant_max": 10}, ValueError, r"must be in \[0, 255\] for"),
        ({"quant_min": 10, "quant_max": 1}, ValueError, "must not exceed"),
        ({"quant_min": 1}, ValueError, "both or neither"),
        ({"quant_min": 0, "quant_max": 255, "dtype": pyqref.qint8}, ValueError, r"\[-128, 127\]"),
    ],
)
def test_bad_ranges(options: dict[str, object], error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        q.FakeQuantize(**options)


def test_wrong_observers_are_refused() -> None:
    with pytest.raises(TypeError, match="moving average observer, got MinMaxObserver"):
        q.FusedMovingAvgObsFakeQuantize(observer=q.MinMaxObserver)
    with pytest.raises(TypeError, match="FixedQParamsObserver, got MinMaxObserver"):
        q.FixedQParamsFakeQuantize(observer=q.MinMaxObserver)


def test_range_is_reduced_with_the_observers() -> None:
    """quant_max follows reduce_range: 0..255 becomes 0..127."""
    assert (0, 127) == (q.default_fake_quant().quant_min, q.default_fake_quant().quant_max)


@pytest.mark.parametrize("name", NAMES)
def test_state_survives_a_round_trip(name: str) -> None:
    """Per channel the loading module takes the number of channels from the state."""
    first, second = getattr(q, name)(), getattr(q, name)()
    first(normal(4, 6))
    second.load_state_dict(first.state_dict())
    assert first.scale.tolist() == second.scale.tolist()
    x = normal(4, 6, seed=1)
    for each in (first, second):
        each.disable_observer()
    assert first(x).tolist() == second(x).tolist()


def test_state_dict_keys_are_those_of_torch() -> None:
    expected = [
        "fake_quant_enabled",
        "observer_enabled",
        "scale",
        "zero_point",
        "activation_post_process.eps",
        "activation_post_process.min_val",
        "activation_post_process.max_val",
    ]
    assert expected == list(q.FakeQuantize().state_dict())


def test_the_observer_has_its_documented_name() -> None:
    """Documented: FakeQuantize.observer, the module that collects statistics."""
    fake_quantize = q.FakeQuantize()
    assert fake_quantize.activation_post_process is fake_quantize.observer


def test_deepcopy_is_independent() -> None:
    fake_quantize = q.FakeQuantize()
    twin = copy.deepcopy(fake_quantize)
    fake_quantize(normal(5))
    assert [1.0] == twin.scale.tolist()


def test_fused_function_changes_its_state_in_place() -> None:
    """``torch.fused_moving_avg_obs_fake_quant``: per row the state gets the number of rows."""
    on = pyqref.tensor([1])
    low, high = pyqref.tensor([]), pyqref.tensor([])
    scale, zero_point = pyqref.tensor([1.0]), pyqref.tensor([0], dtype=pyqref.int32)
    x = pyqref.tensor([[1.0, 2.0], [-1.0, 3.0]])
    pyqref.fused_moving_avg_obs_fake_quant(
        x, on, on, low, high, scale, zero_point, 0.01, 0, 255, 0, True, False
    )
    assert ([1.0, -1.0], [2.0, 3.0]) == (low.tolist(), high.tolist())
    assert [0, 64] == zero_point.tolist()


def test_inside_no_grad_nothing_is_recorded() -> None:
    x = pyqref.tensor([1.0], requires_grad=True)
    with pyqref.no_grad():
        assert not q.FakeQuantize()(x).requires_grad


class PowersOfTwo(q.MovingAverageMinMaxObserver):
    """An observer with parameters of its own."""

    def calculate_qparams(self) -> Any:
        scale, zero_point = super().calculate_qparams()
        return pyqref.tensor(2.0) ** pyqref.log2(scale).ceil(), zero_point


@pytest.mark.parametrize("part", ["activation", "weight"])
def test_parameters_that_training_does_not_use_are_told(part: str) -> None:
    """The fused form chooses them itself, convert asks the observer; FakeQuantize asks it, too."""
    parts = {"activation": q.default_fake_quant, "weight": q.default_weight_fake_quant}
    types = {"activation": (pyqref.quint8, 0, 255), "weight": (pyqref.qint8, -128, 127)}
    grid = dict(zip(("dtype", "quant_min", "quant_max"), types[part], strict=True))
    fused = q.FusedMovingAvgObsFakeQuantize.with_args(observer=PowersOfTwo, **grid)
    qconfig = q.QConfig(**{**parts, part: fused})
    model = pyqref.nn.Sequential(pyqref.nn.Linear(2, 2)).train()
    model[0].qconfig = qconfig
    told = rf"prepare_qat: qconfig of 0, {part}: calculate_qparams of PowersOfTwo has no effect"
    with pytest.warns(q.NoEffectWarning, match=told):
        q.prepare_qat(model)
    with pytest.raises(q.QuantizationError, match=told):
        q.prepare_qat(model, inplace=True, strict=True)
    assert type(model[0]) is pyqref.nn.Linear
    mapping = q.QConfigMapping().set_global(qconfig)
    example = (pyqref.randn(3, 2),)
    with pytest.warns(q.NoEffectWarning, match=r"prepare_qat_fx: qconfig of 0.*FakeQuantize\.with"):
        prepare_qat_fx(pyqref.nn.Sequential(pyqref.nn.Linear(2, 2)), mapping, example)
    model[0].qconfig = q.QConfig(**{**parts, part: q.FakeQuantize.with_args(observer=PowersOfTwo)})
    q.prepare_qat(model, strict=True)


def test_a_fused_fake_quantizer_by_itself_tells_once() -> None:
    """Its first call says it; one whose forward is its own is left alone."""

    class Alone(PowersOfTwo):
        pass

    with pytest.warns(q.NoEffectWarning, match="calculate_qparams of Alone has no effect"):
        q.FusedMovingAvgObsFakeQuantize(observer=Alone)(pyqref.randn(3))
    q.FusedMovingAvgObsFakeQuantize(observer=Alone)(pyqref.randn(3))

    class Own(q.FusedMovingAvgObsFakeQuantize):
        def forward(self, x: Any) -> Any:
            return x

        def calculate_qparams(self) -> Any:
            return pyqref.ones(1), pyqref.zeros(1)

    Own()(pyqref.randn(3))
