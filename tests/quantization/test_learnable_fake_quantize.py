"""Scales and zero points that learn: functions, module, workflow, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization._learnable_fake_quantize import _LearnableFakeQuantize

PER_TENSOR = pyqref._fake_quantize_learnable_per_tensor_affine
PER_CHANNEL = pyqref._fake_quantize_learnable_per_channel_affine


def learner(**options: Any) -> _LearnableFakeQuantize:
    return _LearnableFakeQuantize(q.MovingAverageMinMaxObserver, 0, 255, **options)


@pytest.mark.parametrize("dtype", [pyqref.float16, pyqref.float32, pyqref.float64])
@pytest.mark.parametrize("axis", [None, 0, -1])
def test_values_are_those_of_plain_fake_quantization(dtype: Any, axis: int | None) -> None:
    """eq-fake-quantize with the rounded zero point, and its gradient of x, for every dtype."""
    numbers = np.random.default_rng(0).standard_normal((3, 4)) * 3
    x, plain = (pyqref.tensor(numbers, dtype=dtype).requires_grad_() for _ in range(2))
    channels = 1 if axis is None else x.shape[axis]
    scale = pyqref.linspace(0.1, 0.3, channels).requires_grad_()
    zero_point = pyqref.linspace(2.4, 5.6, channels).requires_grad_()
    fixed = scale.detach(), zero_point.detach().round().int()
    if axis is None:
        y = PER_TENSOR(x, scale, zero_point, 0, 15)
        expected = pyqref.fake_quantize_per_tensor_affine(plain, *fixed, 0, 15)
    else:
        y = PER_CHANNEL(x, scale, zero_point, axis, 0, 15)
        expected = pyqref.fake_quantize_per_channel_affine(plain, *fixed, axis, 0, 15)
    assert pyqref.equal(expected, y)
    assert y.dtype is dtype
    y.sum().backward()
    expected.sum().backward()
    assert pyqref.equal(plain.grad, x.grad)
    assert scale.grad.shape == zero_point.grad.shape == (channels,)
    assert scale.grad.dtype is zero_point.grad.dtype is pyqref.float32


def test_one_axis_and_whole_tensor_agree() -> None:
    """Inputs of one axis, of which each number is a channel; torch gives the wrong shape."""
    x = pyqref.tensor([0.3, 9.0])
    scale = pyqref.ones(2).requires_grad_()
    PER_CHANNEL(x, scale, pyqref.zeros(2), 0, 0, 3).sum().backward()
    assert pyqref.tensor([0.0 - 0.3, 3.0]).tolist() == scale.grad.tolist()


def test_no_gradient_is_worked_out_unasked() -> None:
    """Each argument by itself; none where nothing is recorded; empty inputs give zero."""
    x = pyqref.tensor([0.3, 9.0])
    scale = pyqref.ones(1).requires_grad_()
    zero_point = pyqref.zeros(1).requires_grad_()
    PER_TENSOR(x, scale.detach(), zero_point, 0, 3).sum().backward()
    assert (None, [-1.0]) == (scale.grad, zero_point.grad.tolist())
    with pyqref.no_grad():
        assert not PER_TENSOR(x, scale, zero_point, 0, 3).requires_grad
    PER_TENSOR(pyqref.zeros(0, 2), scale, zero_point, 0, 3).sum().backward()
    assert [0.0] == scale.grad.tolist()


def test_a_step_before_backward_is_noticed() -> None:
    """The scale is saved, so that changing it in place before backward is an error."""
    scale = pyqref.ones(1).requires_grad_()
    y = PER_TENSOR(pyqref.ones(3), scale, pyqref.zeros(1), 0, 3)
    with pyqref.no_grad():
        scale.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"scale": 0.1}, TypeError, "scale must be a Tensor, got float"),
        ({"zero_point": 0}, TypeError, "zero_point must be a Tensor, got int"),
        ({"scale": pyqref.tensor([True])}, TypeError, "scale must hold numbers, got pyqref.bool"),
        ({"scale": pyqref.zeros(1)}, ValueError, r"scale must be positive .*clamp_\(min=1e-7\)"),
        ({"scale": pyqref.tensor([math.nan])}, ValueError, "scale must be finite"),
        ({"zero_point": pyqref.tensor([math.inf])}, ValueError, "zero_point must be finite"),
        ({"quant_min": 9}, ValueError, "quant_min must not exceed quant_max"),
        ({"grad_factor": "1"}, TypeError, "grad_factor"),
        ({"self": pyqref.tensor([1])}, TypeError, "floating point dtype"),
    ],
)
def test_refusals(change: dict[str, Any], error: type, message: str) -> None:
    """Both functions name the argument and themselves."""
    arguments: dict[str, Any] = {
        "self": pyqref.ones(1, 1),
        "scale": pyqref.ones(1),
        "zero_point": pyqref.zeros(1),
        "quant_min": 0,
        "quant_max": 7,
        **change,
    }
    with pytest.raises(error, match=f"_fake_quantize_learnable_per_tensor_affine: .*{message}"):
        PER_TENSOR(**arguments)
    if change.get("self") is None:
        with pytest.raises(error, match=f"learnable_per_channel_affine: .*{message}"):
            PER_CHANNEL(**arguments, axis=0)


def test_refused_shapes() -> None:
    """One element for a tensor, as many as channels, an axis that there is."""
    x, two = pyqref.ones(2, 3), pyqref.ones(2)
    with pytest.raises(ValueError, match=r"scale must have one element, got \(2,\)"):
        PER_TENSOR(x, two, pyqref.zeros(1), 0, 7)
    with pytest.raises(ValueError, match=r"scale must have shape \(3,\)"):
        PER_CHANNEL(x, two, two, 1, 0, 7)
    with pytest.raises(IndexError, match=r"axis must be in \[-2, 1\], got 2"):
        PER_CHANNEL(x, two, two, 2, 0, 7)


@pytest.mark.parametrize("which", ["scale", "zero_point"])
@pytest.mark.parametrize("name", ["tensor", "channel", "fused"])
def test_plain_functions_refuse_what_learns(name: str, which: str) -> None:
    """A gradient that would silently be None is an error that names the learnable one."""
    grid = {"scale": pyqref.ones(1), "zero_point": pyqref.zeros(1)}
    grid[which] = nn.Parameter(grid[which])
    x, pair = pyqref.ones(1, 2), tuple(grid.values())
    on, low, high = pyqref.tensor([1]), pyqref.zeros(1), pyqref.ones(1)
    calls: dict[str, Any] = {
        "tensor": lambda: pyqref.fake_quantize_per_tensor_affine(x, *pair, 0, 7),
        "channel": lambda: pyqref.fake_quantize_per_channel_affine(x, *pair, 0, 0, 7),
        "fused": lambda: pyqref.fused_moving_avg_obs_fake_quant(
            x, on, on, low, high, *pair, 0.1, 0, 7
        ),
    }
    with pytest.raises(RuntimeError, match=r"no gradient with respect to scale.*[lL]earnable"):
        calls[name]()
    if name != "fused":
        with pyqref.no_grad():
            assert [[1.0, 1.0]] == calls[name]().tolist()


def test_a_scale_that_left_its_range_is_put_back() -> None:
    """A step of an optimizer may make the scale negative: eps then."""
    made = learner().enable_param_learning()
    made.scale.data.fill_(-3.0)
    _ = made(pyqref.ones(2))
    assert [made.eps.item()] == made.scale.tolist()


def test_symmetric_unsigned_keeps_the_middle() -> None:
    """The zero point of the observer's scheme, with which negative numbers are kept."""
    made = learner(qscheme=pyqref.per_tensor_symmetric)
    y = made(pyqref.tensor([-1.0, 1.0]))
    assert made.activation_post_process.calculate_qparams()[1].item() == made.zero_point.item()
    assert abs(y[0].item() + 1.0) <= made.scale.item()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quant_min": 7, "quant_max": 7}, "quant_min must be less than quant_max"),
        ({"scale": 0.0}, "scale must be positive and finite, got 0.0"),
        ({"zero_point": math.nan}, "zero_point must be finite"),
        ({"channel_len": 0}, "channel_len must be the number of channels"),
        ({"channel_len": 3}, "channel_len=3 needs a per-channel scheme"),
        ({"quant_min": -9, "quant_max": 0, "use_grad_scaling": True}, "must be positive, got 0"),
        ({"quant_min": -9, "quant_max": 7}, r"must be in \[0, 255\] for pyqref.quint8"),
        ({"quant_min": 0, "quant_max": 256}, "may hold 256 integers"),
    ],
)
def test_module_refusals(options: dict[str, Any], message: str) -> None:
    """Options that no quantizer can have are refused."""
    with pytest.raises(ValueError, match=message):
        _LearnableFakeQuantize(q.MinMaxObserver, **options)
    with pytest.raises(TypeError, match="observer must be an observer class or recipe, got None"):
        _LearnableFakeQuantize(None)


def test_channels_are_counted_beforehand() -> None:
    """Without channel_len, and with another number of channels than the data has."""
    options: dict[str, Any] = {"quant_min": -8, "quant_max": 7, "dtype": pyqref.qint8}
    with pytest.raises(ValueError, match="channel_len must be the number of channels"):
        _LearnableFakeQuantize(q.PerChannelMinMaxObserver, **options)
    made = _LearnableFakeQuantize(q.PerChannelMinMaxObserver, channel_len=2, **options)
    with pytest.raises(ValueError, match=r"found 3 channels, but .*channel_len=2"):
        made(pyqref.ones(3, 2))


def test_prints_its_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    """Scale and zero point, a line each."""
    learner(scale=0.5, zero_point=2.0).observe_quant_params()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "_LearnableFakeQuantize Scale: tensor([0.5000])"
    assert lines[1] == "_LearnableFakeQuantize Zero Point: tensor([2.])"


def learnable_qconfig(channels: int) -> q.QConfig:
    return q.QConfig(
        activation=_LearnableFakeQuantize.with_args(
            observer=q.MovingAverageMinMaxObserver,
            quant_min=0,
            quant_max=255,
            use_grad_scaling=True,
        ),
        weight=_LearnableFakeQuantize.with_args(
            observer=q.MovingAveragePerChannelMinMaxObserver,
            quant_min=-128,
            quant_max=127,
            dtype=pyqref.qint8,
            qscheme=pyqref.per_channel_symmetric,
            channel_len=channels,
            use_grad_scaling=True,
        ),
    )


@pytest.mark.parametrize("graph", [False, True])
def test_training_with_learned_steps(graph: bool) -> None:
    """Static estimate, then learning: scales move, the loss falls, and convert takes them."""
    pyqref.manual_seed(0)
    rng = np.random.default_rng(1)
    x = pyqref.from_numpy(rng.standard_normal((64, 6), np.float32))
    wanted = x @ pyqref.from_numpy(rng.standard_normal((6, 4), np.float32))
    layer = nn.Linear(6, 4)
    if graph:
        mapping = q.QConfigMapping().set_global(learnable_qconfig(4))
        prepared = q.quantize_fx.prepare_qat_fx(nn.Sequential(layer).train(), mapping, (x,))
    else:
        model = nn.Sequential(q.QuantStub(), layer, q.DeQuantStub()).train()
        model.qconfig = learnable_qconfig(4)
        prepared = q.prepare_qat(model)
    prepared(x)
    learners = [each for each in prepared.modules() if isinstance(each, _LearnableFakeQuantize)]
    assert 3 == len(learners)
    before = [each.scale.detach().clone() for each in learners]
    for each in learners:
        each.enable_param_learning()
    optimizer = pyqref.optim.SGD(prepared.parameters(), lr=0.05)
    losses = []
    for _ in range(30):
        loss = ((prepared(x) - wanted) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    moved = [not pyqref.equal(a, each.scale) for a, each in zip(before, learners, strict=True)]
    assert [True] * 3 == moved
    prepared.eval()
    expected = prepared(x)
    converted = (q.quantize_fx.convert_fx if graph else q.convert)(prepared)
    weight = next(
        each.weight()
        for each in converted.modules()
        if hasattr(each, "scale") and callable(getattr(each, "weight", None))
    )
    scales = next(each.scale for each in learners if each.scale.numel() == 4)
    assert scales.tolist() == weight.q_per_channel_scales().float().tolist()
    # Half a step more or less where a tie of the accumulator falls the other way.
    step = float(max(each.scale.item() for each in learners if each.scale.numel() == 1))
    assert float((converted(x) - expected).abs().max()) <= step * 1.001
