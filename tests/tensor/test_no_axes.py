"""Tensors of one number, without axes: NumPy gives scalars for them, which are no memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.nn import functional as F


@pytest.fixture(params=["reference", "fastest"])
def kernel(request: pytest.FixtureRequest) -> Iterator[None]:
    """The equations in NumPy, and what is used on this machine."""
    before = pyqref.kernels.in_use()
    if request.param == "reference":
        pyqref.kernels.use("reference")
    yield
    pyqref.kernels.use(before)


def _fake_quantized(x: Any) -> Any:
    return pyqref.fake_quantize_per_tensor_affine(x, 0.5, 0, 0, 255)


FLOATS = [_fake_quantized, pyqref.logical_not, pyqref.bernoulli, pyqref.relu, pyqref.sigmoid]
INTEGERS = [pyqref.bitwise_not, pyqref.logical_not]
QUANTIZED = [
    pyqref.relu,
    pyqref.sigmoid,
    pyqref.tanh,
    pyqref.flipud,
    F.gelu,
    F.hardsigmoid,
    F.hardtanh,
    F.leaky_relu,
    F.relu6,
    lambda x: pyqref.flip(x, (0,)),
    lambda x: pyqref.threshold(x, 0.5, 1.0),
]


def _is_memory(result: Any) -> bool:
    return type(result._array) is np.ndarray and result.fill_(0.0).item() == 0.0


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("dtype", [pyqref.float16, pyqref.float32, pyqref.float64])
@pytest.mark.parametrize("function", FLOATS)
def test_of_real_numbers(function: Callable[..., Any], dtype: Any) -> None:
    assert _is_memory(function(pyqref.tensor(1.0, dtype=dtype)))


@pytest.mark.parametrize("dtype", [pyqref.bool, pyqref.uint8, pyqref.int64])
@pytest.mark.parametrize("function", INTEGERS)
def test_of_integers(function: Callable[..., Any], dtype: Any) -> None:
    assert _is_memory(function(pyqref.tensor(1, dtype=dtype)))


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("function", QUANTIZED)
def test_of_quantized_numbers(function: Callable[..., Any]) -> None:
    x = pyqref.quantize_per_tensor(pyqref.tensor(1.0), 0.5, 1, pyqref.quint8)
    result = function(x)
    assert _is_memory(result.dequantize())
    result.fill_(0.0)
    assert 0.0 == result.item()


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("dtype", [pyqref.float16, pyqref.float32, pyqref.float64])
def test_gradient_of_a_fake_quantized_number(dtype: Any) -> None:
    """eq-straight-through."""
    x = pyqref.tensor(1.3, dtype=dtype, requires_grad=True)
    _fake_quantized(x).backward()
    assert 1.0 == x.grad.item()
