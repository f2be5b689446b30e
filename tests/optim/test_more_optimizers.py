"""The equations of the adaptive optimisers and of LBFGS, for single numbers in double."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn, optim
from pyqref.optim.line_search import cubic_minimum, strong_wolfe

# In double the orders of operations differ by a few units of 2**-52 a step; 10 steps of at most 1.
ROUNDING = 10 * 32 * 2.0**-52
GRADIENTS = np.random.default_rng(3).standard_normal(10).tolist()


def agrees(name: str, settings: dict[str, Any], step: Callable[..., float]) -> None:
    """Ten steps of an optimiser are those of ``step(p, g, t, state)``."""
    parameter = nn.Parameter(pyqref.tensor([0.7], dtype=pyqref.float64))
    optimizer = getattr(optim, name)([parameter], **settings)
    p, state = 0.7, dict.fromkeys("vumsab", 0.0)
    for t, g in enumerate(GRADIENTS, 1):
        parameter.grad = pyqref.tensor([g], dtype=pyqref.float64)
        optimizer.step()
        p = step(p, g, t, state)
        assert abs(p - parameter.item()) <= ROUNDING


def test_eq_adagrad() -> None:
    """eq-adagrad, with decay of the learning rate and a first sum."""

    def step(p: float, g: float, t: int, state: dict[str, float]) -> float:
        state["s"] += g * g
        return p - 0.1 / (1 + (t - 1) * 0.2) * g / (math.sqrt(state["s"] + 0.5) + 1e-10)

    agrees("Adagrad", {"lr": 0.1, "lr_decay": 0.2, "initial_accumulator_value": 0.5}, step)


def test_eq_rmsprop() -> None:
    """eq-rmsprop, centered and with momentum."""

    def step(p: float, g: float, t: int, state: dict[str, float]) -> float:
        state["v"] = 0.75 * state["v"] + 0.25 * g * g
        state["a"] += 0.25 * (g - state["a"])
        size = math.sqrt(state["v"] - state["a"] ** 2) + 1e-8
        state["b"] = 0.5 * state["b"] + g / size
        return p - 0.01 * state["b"]

    agrees("RMSprop", {"lr": 0.01, "alpha": 0.75, "momentum": 0.5, "centered": True}, step)


def test_eq_adadelta() -> None:
    """eq-adadelta."""

    def step(p: float, g: float, t: int, state: dict[str, float]) -> float:
        state["v"] = 0.9 * state["v"] + 0.1 * g * g
        d = math.sqrt(state["u"] + 1e-6) / math.sqrt(state["v"] + 1e-6) * g
        state["u"] = 0.9 * state["u"] + 0.1 * d * d
        return p - d

    agrees("Adadelta", {}, step)


def test_eq_adamax() -> None:
    """eq-adamax."""

    def step(p: float, g: float, t: int, state: dict[str, float]) -> float:
        state["m"] += 0.1 * (g - state["m"])
        state["u"] = max(0.75 * state["u"], abs(g) + 1e-8)
        return p - 0.1 / (1 - 0.9**t) * state["m"] / state["u"]

    agrees("Adamax", {"lr": 0.1, "betas": (0.9, 0.75)}, step)


def moments(g: float, state: dict[str, float]) -> None:
    state["m"] += 0.1 * (g - state["m"])
    state["v"] = 0.75 * state["v"] + 0.25 * g * g


def test_eq_nadam() -> None:
    """eq-nadam. The product of the momenta is kept in float32, as in torch."""

    def momentum(t: int) -> float:
        return 0.9 * (1 - 0.5 * 0.96 ** (t * 0.1))

    def step(p: float, g: float, t: int, state: dict[str, float]) -> float:
        moments(g, state)
        state["b"] = np.float32(state["b"] if t > 1 else 1) * np.float32(momentum(t))
        product = float(state["b"])
        size = math.sqrt(state["v"] / (1 - 0.75**t)) + 1e-8
        now = (1 - momentum(t)) * g / (1 - product)
        ahead = momentum(t + 1) * state["m"] / (1 - product * momentum(t + 1))
        return p - 0.1 / size * (now + ahead)

    agrees("NAdam", {"lr": 0.1, "betas": (0.9, 0.75), "momentum_decay": 0.1}, step)


def test_eq_radam() -> None:
    """eq-radam: with beta2 = 0.75 the average, of length 7 at most, is old enough at step 6."""
    most = 2 / 0.25 - 1
    lengths = []

    def step(p: float, g: float, t: int, state: dict[str, float]) -> float:
        moments(g, state)
        rho = most - 2 * t * 0.75**t / (1 - 0.75**t)
        lengths.append(rho)
        change = 0.1 * state["m"] / (1 - 0.9**t)
        if rho > 5:
            r = math.sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho))
            change *= r * math.sqrt(1 - 0.75**t) / (math.sqrt(state["v"]) + 1e-8)
        return p - change

    agrees("RAdam", {"lr": 0.1, "betas": (0.9, 0.75)}, step)
    assert lengths[0] < 5 < lengths[-1]


def test_eq_asgd() -> None:
    """eq-asgd: the parameter and the average, whose rates are kept in float32, as in torch."""
    parameter = nn.Parameter(pyqref.tensor([0.7], dtype=pyqref.float64))
    optimizer = optim.ASGD([parameter], lr=0.1, lambd=0.5, t0=2)
    p, average, eta, mu = 0.7, 0.0, float(np.float32(0.1)), 1.0
    for t, g in enumerate(GRADIENTS, 1):
        parameter.grad = pyqref.tensor([g], dtype=pyqref.float64)
        optimizer.step()
        p = p * (1 - 0.5 * eta) - eta * g
        average += mu * (p - average)
        eta = float(np.float32(0.1 / (1 + 0.5 * 0.1 * t) ** 0.75))
        mu = float(np.float32(1 / max(1, t - 2)))
        assert abs(p - parameter.item()) <= ROUNDING
        assert abs(average - optimizer.state[parameter]["ax"].item()) <= ROUNDING


def test_eq_rprop() -> None:
    """eq-rprop: the step grows, shrinks after a change of sign, and waits then."""
    parameter = nn.Parameter(pyqref.zeros(1))
    optimizer = optim.Rprop([parameter], lr=1.0, etas=(0.5, 2.0), step_sizes=(0.5, 2.0))
    values = []
    for gradient in (1.0, 3.0, 3.0, -1.0, -1.0, 0.0):
        parameter.grad = pyqref.tensor([gradient])
        optimizer.step()
        values.append(parameter.item())
    assert [-1.0, -3.0, -5.0, -5.0, -4.0, -4.0] == values


def test_eq_moving_average_of_weights() -> None:
    """eq-moving-average-of-weights; the first weights are copied."""
    model = nn.Linear(1, 1, bias=False)
    average = optim.swa_utils.AveragedModel(model, avg_fn=optim.swa_utils.get_ema_avg_fn(0.75))
    for value in (4.0, 8.0, 1.0):
        nn.init.constant_(model.weight, value)
        average.update_parameters(model)
    assert 0.75 * (0.75 * 4 + 0.25 * 8) + 0.25 == average.module.weight.item()
    assert 3 == average.n_averaged.item()


def test_eq_cubic_minimum() -> None:
    """eq-cubic-minimum of x**3 - 12 x, at 2; without one in between, a bound or the middle."""

    def at(x: float) -> Any:
        return x, x**3 - 12 * x, None, 3 * x * x - 12

    assert abs(2.0 - cubic_minimum(at(0.0), at(5.0))) <= 16 * 2.0**-52
    assert abs(2.0 - cubic_minimum(at(5.0), at(0.0))) <= 16 * 2.0**-52
    assert 1.5 == cubic_minimum(at(0.0), at(5.0), 0.0, 1.5)
    assert 0.5 == cubic_minimum((0.0, 0.0, None, 1.0), (1.0, 1.0, None, 1.0))


@pytest.mark.parametrize("first", [0.001, 0.5, 1.0, 40.0])
def test_eq_strong_wolfe(first: float) -> None:
    """eq-strong-wolfe holds for the step that is found on a quartic, from any first step."""

    def loss(t: float) -> float:
        return (t - 2) ** 4 + (t - 2) ** 2

    def slope(t: float) -> float:
        return 4 * (t - 2) ** 3 + 2 * (t - 2)

    calls = []

    def along(t: float) -> tuple[float, np.ndarray]:
        calls.append(t)
        return loss(t), np.array([slope(t)])

    start = np.array([slope(0.0)])
    found, gradient, t, count = strong_wolfe(
        along, first, np.ones(1), loss(0.0), start, slope(0.0), 1e-9
    )
    assert len(calls) == count
    assert (loss(t), slope(t)) == (found, gradient.item())
    assert loss(t) <= loss(0.0) + 1e-4 * t * slope(0.0)
    assert abs(slope(t)) <= 0.9 * abs(slope(0.0))


def test_eq_lbfgs() -> None:
    """eq-lbfgs: with as many pairs as dimensions a quadratic function is solved."""
    matrix = pyqref.tensor([[2.0, 0.5], [0.5, 1.0]], dtype=pyqref.float64)
    target = pyqref.tensor([1.0, -2.0], dtype=pyqref.float64)
    parameter = nn.Parameter(pyqref.zeros(2, dtype=pyqref.float64))
    optimizer = optim.LBFGS([parameter], line_search_fn="strong_wolfe", tolerance_change=1e-16)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = parameter @ (matrix @ parameter) / 2 - target @ parameter
        loss.backward()
        return loss

    assert 0.0 == optimizer.step(closure).item()
    # Stops when the gradient is 1e-7 or less; the inverse of the matrix is at most 1.5.
    solution = np.linalg.solve(matrix.numpy(), target.numpy())
    assert np.abs(solution - parameter.detach().numpy()).max() <= 1.5e-7
    with pytest.raises(TypeError, match="needs a closure"):
        optimizer.step()


P = nn.Parameter(pyqref.ones(2))


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: optim.Adadelta([P], rho=1.5), "Invalid rho value: 1.5"),
        (lambda: optim.Adagrad([P], lr_decay=-1), "Invalid lr_decay value: -1"),
        (lambda: optim.Rprop([P], etas=(0.5, 0.9)), "Invalid eta values: 0.5, 0.9"),
        (lambda: optim.LBFGS([{"params": [P]}, {"params": []}]), "parameter groups"),
        (lambda: optim.LBFGS([P], line_search_fn="golden"), "'strong_wolfe', got 'golden'"),
        (lambda: optim.NAdam([P], momentum_decay=-1), "Invalid momentum_decay value"),
        (lambda: optim.swa_utils.get_ema_avg_fn(2), "Invalid decay value 2"),
        (lambda: optim.swa_utils.SWALR(optim.SGD([P]), [0.1, 0.2]), "one rate a group, 1, got 2"),
    ],
)
def test_errors(action: Callable[[], Any], message: str) -> None:
    """Bad settings are refused with their value."""
    with pytest.raises(ValueError, match=message):
        action()
