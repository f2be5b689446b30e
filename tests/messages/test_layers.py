"""Following the messages about float layers, losses and their helpers works."""

from __future__ import annotations

import math
from typing import Any

from bad_input.engine import floats, quint8
from messages.following import says

import pyqref
from pyqref import nn
from pyqref.nn import functional as F
from pyqref.quantization import FusedMovingAvgObsFakeQuantize, MovingAverageMinMaxObserver


def test_a_dtype_that_a_function_cannot_take() -> None:
    """float() and to() convert it."""
    x = pyqref.ones(2, 3, dtype=pyqref.int64)
    with says("use {}.float()"):
        F.cosine_similarity(x, floats(2, 3))
    F.cosine_similarity(x.float(), floats(2, 3))
    layer = nn.LSTM(3, 2)
    with says("Convert input: input.to(weight.dtype)"):
        layer(floats(1, 2, 3).double())
    layer(floats(1, 2, 3).double().to(layer.weight_ih_l0.dtype))


def test_losses() -> None:
    """Reductions by name, targets of the same size, logits in the place of probabilities."""
    x, wrong = floats(2, 3), floats(2, 1)
    with says("use reduction='{}' instead.") as told:
        F.mse_loss(x, x, size_average=False)
    F.mse_loss(x, x, reduction=told.text.partition("reduction='")[2].partition("'")[0])
    with says("use 'none', 'mean' or 'sum'"):
        F.mse_loss(x, x, reduction="average")
    for reduction in ("none", "mean", "sum"):
        F.mse_loss(x, x, reduction=reduction)
    with says("use binary_cross_entropy_with_logits for values that are no probabilities"):
        F.binary_cross_entropy(3 * x, x.abs())
    F.binary_cross_entropy_with_logits(3 * x, x.abs())
    for loss in (F.mse_loss, F.binary_cross_entropy):
        with says("ensure they have the same size."):
            loss(x.abs(), wrong.abs())
        loss(x.abs(), wrong.abs().expand(2, 3))


def test_functions() -> None:
    """Modes, deprecated names and implicit dimensions have what the message names."""
    x = floats(1, 2, 6)
    with says("use constant, reflect, replicate or circular"):
        F.pad(x, (1, 1), mode="mirror")
    for mode in ("constant", "reflect", "replicate", "circular"):
        F.pad(x, (1, 1), mode=mode)
    with says("leave some of them"):
        F.pad(x, (-3, -3), mode="replicate")
    F.pad(x, (-3, -2), mode="replicate")
    with says("Use `nn.functional.interpolate` instead."):
        F.upsample(x, 4)
    F.interpolate(x, 4)
    for function in (F.softmax, F.log_softmax):
        with says("Change the call to include dim=X as an argument."):
            function(x)
        function(x, dim=0)
    with says("use one of {}"):
        nn.init.kaiming_uniform_(floats(3, 3), mode="fan")
    for mode in ("fan_in", "fan_out"):
        nn.init.kaiming_uniform_(floats(3, 3), mode=mode)


def test_state_dicts() -> None:
    """Quantized weights, extra state, arguments and hooks find their place."""
    layer = nn.Linear(3, 2)
    state = {"weight": quint8(2, 3), "bias": floats(2)}
    with says("dequantize() it, or load it into a quantized module"):
        layer.load_state_dict(state)
    layer.load_state_dict({**state, "weight": state["weight"].dequantize()})
    quantized = nn.quantized.Linear(3, 2)
    quantized.load_state_dict(quantized.state_dict())

    with says("name them: destination=, prefix=, keep_vars="):
        layer.state_dict({}, "layer.", False)
    layer.state_dict(destination={}, prefix="layer.", keep_vars=False)

    class Counting(nn.Module):
        def get_extra_state(self) -> Any:
            return pyqref.tensor(3)

        def set_extra_state(self, state: Any) -> None:
            self.count = int(state)

    with says("define get_extra_state to give it one"):
        layer.get_extra_state()
    with says("define set_extra_state to load one"):
        layer.set_extra_state(3)
    counting = Counting()
    counting.load_state_dict(counting.state_dict())
    assert 3 == counting.count

    state = {"weight": floats(2, 3), "bias": floats(2)}
    handle = layer.register_load_state_dict_post_hook(lambda module, keys: ["bias"])
    with says("change the incompatible keys in place instead"):
        layer.load_state_dict(state)
    handle.remove()
    layer.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    layer.load_state_dict({"weight": state["weight"]})


def test_parameters() -> None:
    """A function of another tensor is computed in forward; a name that is taken is another."""
    base = nn.Parameter(floats(3))
    layer, doubled = nn.Module(), nn.Parameter(floats(3), requires_grad=False)
    doubled.mul_(base)
    with says("compute the value in the forward() method"):
        layer.register_parameter("doubled", doubled)

    class Doubled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.base = base

        def forward(self, x: Any) -> Any:
            return x * (self.base * 2)

    Doubled()(floats(3))
    with says("use another name"):
        nn.ParameterDict()["update"] = base
    nn.ParameterDict()["an_update"] = base


def test_gradients_without_a_finite_norm() -> None:
    """error_if_nonfinite=False scales them all the same."""
    weight = nn.Parameter(floats(3))
    weight.grad = pyqref.tensor([math.inf, 1.0, 3e38])
    with says("set `error_if_nonfinite=False`"):
        nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=True)
    nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=False)
    assert [0.0, 0.0] == weight.grad[1:].tolist()


def test_sequences_that_are_not_sorted() -> None:
    """enforce_sorted=False sorts them."""
    pack = nn.utils.rnn.pack_padded_sequence
    with says("pass `enforce_sorted=False` to have it sorted."):
        pack(floats(3, 2, 1), [2, 3])
    pack(floats(3, 2, 1), [2, 3], enforce_sorted=False)


def test_a_symmetric_range_of_two_integers() -> None:
    """An affine scheme takes two integers."""

    def fake_quantize(scheme: pyqref.qscheme) -> pyqref.Tensor:
        made = FusedMovingAvgObsFakeQuantize(
            MovingAverageMinMaxObserver, 0, 1, dtype=pyqref.quint8, qscheme=scheme
        )
        return made(floats(3))

    with says("use an affine scheme"):
        fake_quantize(pyqref.per_tensor_symmetric)
    fake_quantize(pyqref.per_tensor_affine)
