"""Clipping gradients, vectors of parameters, folding batch normalization."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn, quantization
from pyqref.nn import utils


def parameters() -> list[nn.Parameter]:
    members = [nn.Parameter(pyqref.zeros(2)), nn.Parameter(pyqref.zeros(1, 1))]
    members[0].grad = pyqref.tensor([3.0, 0.0])
    members[1].grad = pyqref.tensor([[-4.0]])
    return members


def test_clip_grad_norm() -> None:
    """The norm before is returned; after, it is max_norm / (1 + 1e-6 / norm)."""
    members = [*parameters(), nn.Parameter(pyqref.zeros(1))]
    assert 5.0 == utils.clip_grad_norm_(members, 2.5).item()
    after = utils.get_total_norm([members[0].grad, members[1].grad]).item()
    # The 1e-6 in the denominator, and two roundings of float32.
    assert abs(2.5 - after) <= 2.5 * (1e-6 + 2 * 2.0**-24)
    assert 4.0 == utils.clip_grad_norm_(parameters(), 9.0, math.inf).item()
    assert 7.0 == utils.clip_grad_norm_(parameters()[0:2], 9.0, 1).item()


def test_clip_does_not_enlarge() -> None:
    """Gradients below the norm are left."""
    members = parameters()
    utils.clip_grad_norm_(members, 100.0)
    assert [3.0, 0.0] == members[0].grad.tolist()
    assert 0.0 == utils.clip_grad_norm_([], 1.0).item()


def test_clip_nonfinite() -> None:
    """A norm that is no number is an error on demand."""
    member = parameters()[0]
    member.grad = pyqref.tensor([math.nan, 1.0])
    with pytest.raises(RuntimeError, match="non-finite"):
        utils.clip_grad_norm_(member, 1.0, error_if_nonfinite=True)
    assert math.isnan(utils.clip_grad_norm_(member, 1.0).item())


def test_clip_grad_value() -> None:
    """Every element is clamped."""
    members = parameters()
    utils.clip_grad_value_(members, 2.0)
    assert ([2.0, 0.0], [[-2.0]]) == (members[0].grad.tolist(), members[1].grad.tolist())


def test_vectors() -> None:
    """Gradients flow through the vector; a vector of another length changes nothing."""
    members = [nn.Parameter(pyqref.ones(2)), nn.Parameter(pyqref.ones(1, 2))]
    vector = utils.parameters_to_vector(members)
    (vector * pyqref.arange(4)).sum().backward()
    assert [[2.0, 3.0]] == members[1].grad.tolist()
    utils.vector_to_parameters(pyqref.arange(4).float(), members)
    assert ([0.0, 1.0], [[2.0, 3.0]]) == (members[0].tolist(), members[1].tolist())
    with pytest.raises(ValueError, match="4, got 5"):
        utils.vector_to_parameters(pyqref.zeros(5), members)
    with pytest.raises(TypeError, match="got: list"):
        utils.vector_to_parameters([1.0], members)
    assert [0.0, 1.0] == members[0].tolist()


# A product, a quotient and a root of float32 on numbers below 8: ten roundings.
FOLDING = 10 * 8 * 2.0**-24


def batch_norm(kind: type, channels: int, affine: bool = True) -> nn.Module:
    rng = np.random.default_rng(0)
    layer = kind(channels, affine=affine)
    layer.running_mean.copy_(pyqref.from_numpy(rng.standard_normal(channels)))
    layer.running_var.copy_(pyqref.from_numpy(rng.random(channels) + 0.5))
    if affine:
        layer.weight.data.copy_(pyqref.from_numpy(rng.standard_normal(channels)))
        layer.bias.data.copy_(pyqref.from_numpy(rng.standard_normal(channels)))
    return layer.eval()


def output_bound(layer: nn.Module, norm: nn.Module, x: pyqref.Tensor) -> Any:
    """Twice eq-fold-output-error, from the same layers with the sizes of all that they hold.

    The sum over the terms of an output is at most K = rows * taps long.
    """
    deviation = (norm.running_var + norm.eps).sqrt()
    gamma = pyqref.ones_like(deviation) if norm.weight is None else norm.weight.detach().abs()
    beta = pyqref.zeros_like(deviation) if norm.bias is None else norm.bias.detach().abs()
    sizes = copy.deepcopy(layer)
    for parameter in sizes.parameters():
        parameter.data = parameter.data.abs()
    channels = (1, -1, *(1,) * (x.dim() - 2))
    terms = sizes(x.abs()).detach() + norm.running_mean.abs().reshape(channels)
    terms = terms * (gamma / deviation).reshape(channels) + beta.reshape(channels)
    roundings = layer.weight[0].numel() * len(layer.weight) + 8
    # Twice the bound, and as much again for the roundings of the sizes themselves.
    return 2 * (terms * 2 * roundings * 2.0**-24)


@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("kind", ["Conv", "ConvTranspose"])
def test_eq_fold_weight__and_bias_of_conv(
    kind: str, dimensions: int, groups: int, bias: bool, affine: bool
) -> None:
    """eq-fold-output-error: the folded convolution computes what both did, group by group.

    Four inputs; four outputs (as many as inputs, depthwise with four groups) and eight.
    """
    for outputs in (4, 8):
        pyqref.manual_seed(0)
        made = getattr(nn, f"{kind}{dimensions}d")
        layer = made(4, outputs, 2, groups=groups, bias=bias).eval()
        norm = batch_norm(getattr(nn, f"BatchNorm{dimensions}d"), outputs, affine)
        fused = utils.fuse_conv_bn_eval(layer, norm, kind == "ConvTranspose")
        x = pyqref.randn(2, 4, *(3,) * dimensions)
        expected, actual = norm(layer(x)), fused(x)
        assert bool(((expected - actual).abs() <= output_bound(layer, norm, x)).all())
        assert fused is not layer
        assert fused.weight.shape == layer.weight.shape
        assert bias is (layer.bias is not None)
        whole = nn.Sequential(layer, norm).eval()
        assert pyqref.equal(actual, quantization.fuse_modules(whole, ["0", "1"])(x))
        assert pyqref.equal(actual, quantization.quantize_fx.fuse_fx(whole)(x))


def test_eq_fold_weight__and_bias_of_linear() -> None:
    """eq-fold-weight, eq-fold-bias: the folded linear layer computes what both did."""
    pyqref.manual_seed(0)
    layer, norm = nn.Linear(3, 4).eval(), batch_norm(nn.BatchNorm1d, 4)
    x = pyqref.rand(5, 3)
    expected, actual = norm(layer(x)), utils.fuse_linear_bn_eval(layer, norm)(x)
    assert float((expected - actual).abs().max()) <= FOLDING


def test_folding_without_gamma() -> None:
    """A normalization without affine parameters has gamma 1 and beta 0."""
    layer, norm = nn.Linear(3, 4).eval(), nn.BatchNorm1d(4, affine=False, eps=0.0).eval()
    fused = utils.fuse_linear_bn_eval(layer, norm)
    assert pyqref.equal(layer.weight, fused.weight)
    assert pyqref.equal(layer.bias, fused.bias)


def test_folding_errors() -> None:
    """Training mode, missing statistics and other widths are refused."""
    layer, norm = nn.Linear(3, 4).eval(), nn.BatchNorm1d(4)
    with pytest.raises(AssertionError, match="Fusion only for eval"):
        utils.fuse_linear_bn_eval(layer, norm)
    with pytest.raises(AssertionError, match="track_running_stats=False"):
        utils.fuse_linear_bn_eval(layer, nn.BatchNorm1d(4, track_running_stats=False).eval())


def test_one_channel_behind_a_linear_layer() -> None:
    """A batch norm of inputs (N, 1, K) has one channel; the bias gets one number a feature."""
    layer, norm = nn.Linear(3, 4, bias=False).eval(), batch_norm(nn.BatchNorm1d, 1)
    x = pyqref.rand(5, 1, 3)
    fused = utils.fuse_linear_bn_eval(layer, norm)
    assert float((norm(layer(x)) - fused(x)).abs().max()) <= FOLDING
    assert fused.bias.shape == (4,)


@pytest.mark.parametrize(
    ("layer", "norm"),
    [
        (nn.Conv2d(4, 4, 1), nn.BatchNorm2d(5)),
        (nn.Conv2d(4, 4, 1), nn.BatchNorm2d(1)),
        (nn.Conv1d(4, 1, 1), nn.BatchNorm1d(4)),
        (nn.ConvTranspose2d(4, 4, 1), nn.BatchNorm2d(8)),
        (nn.ConvTranspose3d(4, 4, 1, groups=2), nn.BatchNorm3d(2)),
        (nn.Linear(3, 4), nn.BatchNorm1d(5)),
    ],
)
def test_folding_refuses_other_channels(layer: nn.Module, norm: nn.Module) -> None:
    """The numbers of both sides, and in models the paths; a transposed flag must be true."""
    model = nn.Sequential(layer, norm).eval()
    outputs = getattr(layer, "out_channels", 4)
    message = f"{outputs}, got num_features={norm.num_features}"
    transposed = getattr(layer, "transposed", None)
    options = () if transposed is None else (transposed,)
    fold = utils.fuse_linear_bn_eval if transposed is None else utils.fuse_conv_bn_eval
    with pytest.raises(ValueError, match=message):
        fold(layer, norm, *options)
    with pytest.raises(ValueError, match=rf"cannot fuse 0 .*{message}"):
        quantization.fuse_modules(model, ["0", "1"])
    with pytest.raises(ValueError, match=rf"cannot fuse 0 .*{message}"):
        quantization.quantize_fx.fuse_fx(model)
    if transposed is not None:
        with pytest.raises(ValueError, match=f"transpose must be {transposed}"):
            utils.fuse_conv_bn_eval(layer, norm, not transposed)


@pytest.mark.parametrize("what", ["conv_w", "conv_b", "bn_rv", "bn_w", "bn_b"])
@pytest.mark.parametrize("transpose", [False, True])
def test_folding_weights_of_other_sizes(what: str, transpose: bool) -> None:
    """Each argument must have the channels of the running mean."""
    names = ("conv_b", "bn_rm", "bn_rv", "bn_w", "bn_b")
    arguments = {"conv_w": pyqref.ones(4, 4, 1), **{each: pyqref.ones(4) for each in names}}
    arguments[what] = pyqref.ones(3, 3, 1) if what == "conv_w" else pyqref.ones(3)
    with pytest.raises(ValueError, match=r"does not fit|must have the shape of bn_rm"):
        utils.fuse_conv_bn_weights(**arguments, bn_eps=1e-5, transpose=transpose)
