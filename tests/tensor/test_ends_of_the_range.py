"""Functions of floats where squares, powers or differences would leave float32, and beyond it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.nn import functional as F

INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("name", "a", "b", "expected"),
    [
        ("hypot", 3e30, 4e30, 5e30),
        ("hypot", 3e-30, 4e-30, 5e-30),
        ("hypot", INF, NAN, INF),
        ("logaddexp", INF, INF, INF),
        ("logaddexp", -INF, -INF, -INF),
        ("logaddexp", -INF, 2.0, 2.0),
        ("logaddexp", 1000.0, 1000.0, 1000.0 + math.log(2)),
        ("xlogy", 0.0, 0.0, 0.0),
        ("xlogy", 0.0, INF, 0.0),
        ("xlogy", 0.0, NAN, NAN),
        ("xlogy", 2.0, 0.0, -INF),
    ],
)
def test_of_two(name: str, a: float, b: float, expected: float) -> None:
    """The true value, rounded, as in torch."""
    y = getattr(pyqref, name)(pyqref.tensor([a]), pyqref.tensor([b]))
    np.testing.assert_array_max_ulp(np.float32([expected]), y.numpy(), maxulp=1)


@pytest.mark.parametrize(
    ("name", "x", "expected"),
    [
        ("erfc", 5.0, math.erfc(5)),
        ("erfc", 9.0, math.erfc(9)),
        ("erfc", -5.0, 2.0),
        ("erfc", INF, 0.0),
        ("exp2", 127.0, 2.0**127),
        ("exp2", -126.0, 2.0**-126),
        ("exp2", 20.0, 2.0**20),
    ],
)
def test_of_one(name: str, x: float, expected: float) -> None:
    """The true value, rounded: powers of two are exact."""
    assert [np.float32(expected)] == getattr(pyqref, name)(pyqref.tensor([x])).tolist()


@pytest.mark.parametrize(
    ("exponent", "of_number", "of_tensor"),
    [
        (0.5, [-0.0, NAN, 2.0], [0.0, INF, 2.0]),
        (-0.5, [-INF, NAN, 0.5], [INF, 0.0, 0.5]),
    ],
)
def test_roots_and_powers_of_a_half(
    exponent: float, of_number: list[float], of_tensor: list[float]
) -> None:
    """A number asks for the root, a tensor of one number for the power, as in torch."""
    x = pyqref.tensor([-0.0, -INF, 4.0])
    for given, expected in ((exponent, of_number), (pyqref.tensor(exponent), of_tensor)):
        np.testing.assert_array_equal(np.float32(expected), pyqref.pow(x, given).numpy())
        assert np.signbit(np.float32(expected[0])) == np.signbit(pyqref.pow(x, given).numpy()[0])


def test_gradient_of_a_power_of_one_and_a_half() -> None:
    """The power below it is one of a half."""
    for exponent, expected in ((1.5, -0.0), (pyqref.tensor(1.5), 0.0)):
        x = pyqref.tensor([-0.0], requires_grad=True)
        pyqref.pow(x, exponent).backward(pyqref.ones(1))
        grad: Any = x.grad
        assert math.copysign(1.0, expected) == math.copysign(1.0, grad.item())


@pytest.mark.parametrize(
    ("name", "a", "b", "of_a", "of_b"),
    [
        ("atan2", 0.0, 0.0, 0.0, 0.0),
        ("atan2", 1e-30, 0.0, 0.0, 0.0),
        ("atan2", 0.0, 2.0, 0.5, 0.0),
        ("maximum", NAN, 1.0, 1.0, 1.0),
        ("minimum", 1.0, NAN, 1.0, 1.0),
        ("maximum", 2.0, 2.0, 0.5, 0.5),
        ("minimum", 1.0, 2.0, 1.0, 0.0),
        ("maximum", INF, 2.0, 1.0, 0.0),
        ("fmax", 2.0, 2.0, 1.0, 0.0),
        ("fmin", 2.0, 2.0, 1.0, 0.0),
        ("fmin", NAN, 2.0, 0.0, 1.0),
        ("fmax", 2.0, NAN, 1.0, 0.0),
        ("clamp_min", 2.0, NAN, 0.0, 0.0),
        ("clamp_max", 2.0, NAN, 0.0, 0.0),
        ("xlogy", 0.0, 0.0, 0.0, NAN),
        ("xlogy", 0.0, -1.0, 0.0, 0.0),
        ("xlogy", 0.0, INF, INF, 0.0),
        ("xlogy", 2.0, 1.0, 0.0, 2.0),
        ("remainder", INF, 2.0, 1.0, NAN),
    ],
)
def test_gradients_of_two(name: str, a: float, b: float, of_a: float, of_b: float) -> None:
    """The gradients are those of torch."""
    x, y = (pyqref.tensor([each], requires_grad=True) for each in (a, b))
    getattr(pyqref, name)(x, y).sum().backward()
    grads: list[Any] = [x.grad, y.grad]
    for expected, grad in zip((of_a, of_b), grads, strict=True):
        np.testing.assert_array_equal(np.float32([expected]), grad.numpy())


@pytest.mark.parametrize(
    ("low", "high", "of_x", "of_low", "of_high"),
    [(0.0, 4.0, 0, 1, 0), (0.0, 0.0, 0, 0, 0), (0.0, -2.0, 0, 0, 1), (-2.0, 4.0, 1, 0, 0)],
)
def test_gradients_of_clamp(low: float, high: float, of_x: int, of_low: int, of_high: int) -> None:
    """It goes to one of the three, or where both bounds are above, to none; as in torch."""
    leaves = [pyqref.tensor([each], requires_grad=True) for each in (-1.0, low, high)]
    pyqref.clamp(*leaves).backward(pyqref.tensor([INF]))
    grads: list[Any] = [each.grad for each in leaves]
    expected = [[INF if each else 0.0] for each in (of_x, of_low, of_high)]
    assert expected == [each.tolist() for each in grads]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (F.relu6, [0.0, 0.0, INF, 0.0]),
        (F.hardtanh, [0.0, INF, INF, 0.0]),
        (F.hardshrink, [INF, 0.0, 0.0, INF]),
        (F.softshrink, [INF, 0.0, 0.0, INF]),
        (lambda x: F.threshold(x, 0.3, 0.0), [0.0, 0.0, INF, INF]),
        (lambda x: x.clamp(-1, 1), [0.0, INF, INF, 0.0]),
        (lambda x: x.max(), [0.0, 0.0, 0.0, INF]),
        (lambda x: x.min(), [INF, 0.0, 0.0, 0.0]),
        (lambda x: x.median(), [0.0, INF, 0.0, 0.0]),
    ],
)
def test_gradients_that_are_infinite(function: Any, expected: list[float]) -> None:
    """They pass or they do not: where they do not it is 0, no product of 0 and infinity."""
    x = pyqref.tensor([-7.0, 0.0, 0.4, 7.0], requires_grad=True)
    y = function(x)
    y.backward(pyqref.full_like(y, INF))
    grad: Any = x.grad
    assert expected == grad.tolist()


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (pyqref.abs, [0.0, 1.0]),
        (F.elu, [NAN, 1.0]),
        (F.celu, [NAN, 1.0]),
        (lambda x: F.l1_loss(x, pyqref.zeros(2), reduction="sum"), [0.0, 1.0]),
        (pyqref.max, [1.0, 0.0]),
        (pyqref.amax, [NAN, NAN]),
        (pyqref.amin, [NAN, NAN]),
        (lambda x: x.median(0).values, [1.0, 0.0]),
        (lambda x: x.quantile(0.5), [1.0, 0.0]),
        (lambda x: x.norm(1), [0.0, 1.0]),
        (lambda x: x.norm(INF), [0.0, 0.0]),
    ],
)
def test_gradients_beside_nan(function: Any, expected: list[float]) -> None:
    """Gradients are torch's; for ELU and CELU those of its vectors, not of its last elements."""
    x = pyqref.tensor([NAN, 2.0], requires_grad=True)
    function(x).sum().backward()
    grad: Any = x.grad
    np.testing.assert_array_equal(np.float32(expected), grad.numpy())


@pytest.mark.parametrize("keepdim", [False, True])
def test_median_of_rows_with_nan(keepdim: bool) -> None:
    """It is nan, where the first nan is; other rows have theirs."""
    x = pyqref.tensor([[3.0, NAN, NAN], [5.0, 4.0, 6.0]], requires_grad=True)
    values, indices = x.median(1, keepdim)
    assert (2, 1) == tuple(values.shape) if keepdim else (2,) == tuple(values.shape)
    np.testing.assert_array_equal(np.float32([NAN, 5.0]), values.detach().numpy().reshape(-1))
    assert [1, 0] == indices.reshape(-1).tolist()
    values.sum().backward()
    grad: Any = x.grad
    assert [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]] == grad.tolist()
    value, index = pyqref.tensor(NAN).median(0)
    assert math.isnan(value.item())
    assert 0 == index.item()


@pytest.mark.parametrize("p", [0.5, 1.5, 2.0, 3.0])
def test_gradient_of_a_norm_at_zero(p: float) -> None:
    """It is 0 there, and 1 at the only other number, whose absolute value is the norm."""
    x = pyqref.tensor([0.0, -3.0], requires_grad=True)
    x.norm(p).backward()
    grad: Any = x.grad
    np.testing.assert_allclose([0.0, -1.0], grad.numpy(), rtol=1e-6)


def test_gradients_of_kl_div_at_the_ends() -> None:
    """A product of logarithm and target, each with its own slope: 0 / 0 at a target of 0."""
    x = pyqref.tensor([0.0, INF, 1.0, 2.0], requires_grad=True)
    target = pyqref.tensor([INF, 1.0, 0.0, 1.0], requires_grad=True)
    F.kl_div(x, target, reduction="sum").backward()
    grads: list[Any] = [x.grad, target.grad]
    np.testing.assert_array_equal(np.float32([-INF, -1.0, 0.0, -1.0]), grads[0].numpy())
    np.testing.assert_array_equal(np.float32([NAN, -INF, NAN, -1.0]), grads[1].numpy())


def test_gradient_of_logit_at_nan() -> None:
    """It is nan; only what is clamped has none."""
    x = pyqref.tensor([NAN, 0.05, 0.5], requires_grad=True)
    pyqref.logit(x, 0.1).sum().backward()
    grad: Any = x.grad
    np.testing.assert_array_equal(np.float32([NAN, 0.0, 4.0]), grad.numpy())


def test_gradient_of_relu_at_nan() -> None:
    """It passes where the result is not 0."""
    x = pyqref.tensor([NAN, -1.0, 0.0, 2.0], requires_grad=True)
    pyqref.relu(x).backward(pyqref.tensor([3.0, INF, NAN, 4.0]))
    grad: Any = x.grad
    assert [3.0, 0.0, 0.0, 4.0] == grad.tolist()


def test_xlogy_of_a_tensor_and_a_number() -> None:
    """The number may stand on either side."""
    x = pyqref.tensor([0.0, 1.0])
    assert [0.0, -INF] == pyqref.xlogy(x, 0.0).tolist()
    assert [-INF, 0.0] == pyqref.xlogy(1, x).tolist()


def test_gradient_of_xlogy_at_zero() -> None:
    """``log(b)`` where there is one, and 0 where there is none."""
    a = pyqref.tensor([0.0, 0.0], requires_grad=True)
    pyqref.xlogy(a, pyqref.tensor([1.0, 0.0])).sum().backward()
    grad: Any = a.grad
    assert [0.0, 0.0] == grad.tolist()
