"""Activations at infinite and denormal numbers, nan and both zeros, with such parameters too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.nn import functional as F

INF, NAN = float("inf"), float("nan")
#: Denormal numbers, the largest one and those where exponentials overflow or vanish.
NUMBERS = [INF, -INF, NAN, 0.0, -0.0, 1e-45, -1e-45, 1e-20, -1e-20, 0.5, -0.5, 1, -1, 20, -20]
NUMBERS += [3.4e38, -3.4e38]
PARAMETERS = [0.0, INF, -INF, NAN, 1e-30, 1e30, -1.0, 0.5, 1.0, 2.0]
#: How many parameters each takes. Without: silu and mish, whose last bits at -100 differ, and
#: what torch refuses or leaves open.
FUNCTIONS = {"celu": 1, "elu": 1, "selu": 0, "leaky_relu": 1, "softplus": 1, "threshold": 2}
FUNCTIONS |= {"gelu": 0, "hardswish": 0, "hardsigmoid": 0, "relu6": 0, "relu": 0, "tanhshrink": 0}
FUNCTIONS |= {"logsigmoid": 0, "sigmoid": 0, "tanh": 0}


#: Where torch's processors and libraries disagree: values, or slopes, at a number.
OPEN = [(name, 1, NAN) for name in ("celu", "elu", "selu", "hardswish")]
OPEN += [("gelu", 0, INF), ("gelu", 0, 3.4e38)]


def _results(namespace: Any, functional: Any, name: str, arguments: tuple[float, ...]) -> Any:
    x = namespace.tensor(NUMBERS, requires_grad=True)
    y = getattr(functional, name)(x, *arguments)
    y.sum().backward()
    return y.detach().numpy(), x.grad.numpy()


@pytest.mark.parametrize("alpha", [INF, -INF, NAN])
def test_exponential_units_are_zero_at_zero(alpha: float) -> None:
    """The first case of elu and celu is ``x < 0``, so alpha does not reach zero."""
    for function in (F.elu, F.celu):
        y = function(pyqref.tensor([0.0, -0.0, 2.0]), alpha)
        assert ["0.0", "-0.0", "2.0"] == [str(each) for each in y.tolist()]


def test_nan_has_the_gradient_of_what_it_becomes() -> None:
    """Threshold lets nan pass, so its slope there is 1; that of a curve is nan."""
    for name, slope in (("hardswish", NAN), ("selu", NAN), ("elu", NAN), ("celu", NAN)):
        x = pyqref.tensor([NAN], requires_grad=True)
        getattr(F, name)(x).backward()
        np.testing.assert_equal(x.grad.numpy(), np.float32([slope]), err_msg=name)
    x = pyqref.tensor([NAN, 1.0, -1.0], requires_grad=True)
    F.threshold(x, 0.0, 5.0).sum().backward()
    assert [1.0, 1.0, 0.0] == x.grad.tolist()


@pytest.mark.parametrize("name", [name for name, count in FUNCTIONS.items() if count])
def test_numbers_of_numpy_are_those_of_python(name: str) -> None:
    """The result has the dtype of the tensor, and the same bits."""
    numbers = (0.3,) * FUNCTIONS[name]
    expected = _results(pyqref, F, name, numbers)
    actual = _results(pyqref, F, name, tuple(map(np.float64, numbers)))
    for each, other in zip(expected, actual, strict=True):
        assert np.float32 == other.dtype
        np.testing.assert_array_equal(each, other)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_as_torch_does(name: str) -> None:
    """Nan, infinities and signs of zeros are torch's; other numbers within 1e-5 of themselves.

    Float32 functions of either library are right to some units of 6e-8 of what they return, and
    these are made of at most three.
    """
    torch = pytest.importorskip("torch")
    choices = (
        np.stack(np.meshgrid(*[PARAMETERS] * FUNCTIONS[name]), -1) if FUNCTIONS[name] else None
    )
    every = (
        [()] if choices is None else [tuple(each) for each in choices.reshape(-1, FUNCTIONS[name])]
    )
    for arguments in every:
        if name == "celu" and arguments == (0.0,):
            continue  # both refuse it
        theirs = _results(torch, torch.nn.functional, name, arguments)
        ours = _results(pyqref, F, name, arguments)
        for name_of_open, part, number in OPEN:
            if name == name_of_open:
                theirs[part][NUMBERS.index(number)] = ours[part][NUMBERS.index(number)]
        for expected, actual in zip(theirs, ours, strict=True):
            np.testing.assert_allclose(actual, expected, 1e-5, 1e-37, err_msg=f"{name}{arguments}")
        if name == "gelu":
            continue  # torch gives 0, and pyqref -0, below -0.0
        whole = np.isfinite(theirs[0]) & (ours[0] == 0) & (theirs[0] == 0)
        np.testing.assert_array_equal(np.signbit(ours[0])[whole], np.signbit(theirs[0])[whole])
