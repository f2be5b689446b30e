"""Errors of float32 normalization and of its gradients, against those of torch 2.13."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.nn import functional as F

#: Root mean square errors of torch 2.13 on the numbers below, in 2^-24 of the largest number:
#: of the result, and of the gradients of the argument, the weight and the bias.
TORCH = {
    "layer_norm": (0.308, 0.267, 1.228, 0.975),
    "rms_norm": (0.364, 0.208, 0.646),
    "group_norm": (0.507, 0.220, 5.724, 2.206),
    "instance_norm": (0.355, 0.216, 2.005, 2.206),
    "batch_norm": (0.394, 0.201, 1.668, 2.047),
}
#: By which a gradient of batch norm may be worse: its last bits differ, at random.
AT_RANDOM = 1.05


def results(name: str, arrays: list[np.ndarray], dtype: pyqref.dtype) -> list[np.ndarray]:
    """The result, and the gradients."""
    x, weight, bias, grad = (pyqref.tensor(each, dtype=dtype) for each in arrays)
    leaves = [each.requires_grad_() for each in (x, weight, bias)]
    y: Any
    if name == "layer_norm":
        y = F.layer_norm(x, x.shape[1:], weight, bias)
    elif name == "rms_norm":
        y = F.rms_norm(x, x.shape[1:], weight, 1e-5)
    elif name == "group_norm":
        y = F.group_norm(x, 4, weight, bias)
    elif name == "instance_norm":
        y = F.instance_norm(x, weight=weight, bias=bias)
    else:
        y = F.batch_norm(x, None, None, weight, bias, training=True)
    y.backward(grad)
    gradients = [each.grad for each in leaves if each.grad is not None]
    return [each.detach().numpy().astype(np.float64) for each in (y, *gradients)]


@pytest.mark.parametrize("name", TORCH)
def test_errors_are_at_most_torchs(name: str) -> None:
    """On numbers around 3, errors against double are at most those of torch."""
    rng = np.random.default_rng(0)
    shape = (128, 384) if name in ("layer_norm", "rms_norm") else (4, 8, 28, 28)
    x, grad = rng.standard_normal(shape) + 3, rng.standard_normal(shape)
    weight, bias = rng.uniform(0.5, 1.5, shape[1]), rng.standard_normal(shape[1])
    arrays = [each.astype(np.float32) for each in (x, weight, bias, grad)]
    exact, actual = (results(name, arrays, each) for each in (pyqref.float64, pyqref.float32))
    for one, other, bound in zip(exact, actual, TORCH[name], strict=True):
        error = np.sqrt(((other - one) ** 2).mean()) / np.abs(one).max() * 2**24
        assert error <= bound * AT_RANDOM
