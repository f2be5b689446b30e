"""Clipping gradients, vectors of parameters, folding batch normalization."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pyqref
from pyqref import nn
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


def batch_norm(kind: type, channels: int) -> nn.Module:
    rng = np.random.default_rng(0)
    layer = kind(channels)
    layer.running_mean.copy_(pyqref.from_numpy(rng.standard_normal(channels)))
    layer.running_var.copy_(pyqref.from_numpy(rng.random(channels) + 0.5))
    layer.weight.data.copy_(pyqref.from_numpy(rng.standard_normal(channels)))
    layer.bias.data.copy_(pyqref.from_numpy(rng.standard_normal(channels)))
    return layer.eval()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_eq_fold_weight__and_bias_of_conv(bias: bool, transpose: bool) -> None:
    """eq-fold-weight, eq-fold-bias: the folded convolution computes what both did."""
    pyqref.manual_seed(0)
    kind = nn.ConvTranspose2d if transpose else nn.Conv2d
    layer = kind(3, 4, 3, bias=bias).eval()
    norm = batch_norm(nn.BatchNorm2d, 4)
    fused = utils.fuse_conv_bn_eval(layer, norm, transpose)
    x = pyqref.rand(2, 3, 5, 5)
    expected, actual = norm(layer(x)), fused(x)
    assert float((expected - actual).abs().max()) <= FOLDING
    assert fused is not layer
    assert bias is (layer.bias is not None)


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
    with pytest.raises(AssertionError, match="4 and 5"):
        utils.fuse_linear_bn_eval(layer, nn.BatchNorm1d(5).eval())
    with pytest.raises(AssertionError, match="track_running_stats=False"):
        utils.fuse_linear_bn_eval(layer, nn.BatchNorm1d(4, track_running_stats=False).eval())
