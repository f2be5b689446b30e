"""The equations of the optimisers, in double and against the definition."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

import pyqref
from pyqref import nn, optim
from pyqref.optim.optimizer import required


def parameters() -> list[nn.Parameter]:
    rng = np.random.default_rng(0)
    shapes = [(3, 4), (5,)]
    return [
        nn.Parameter(pyqref.from_numpy(rng.standard_normal(shape).astype(np.float32)))
        for shape in shapes
    ]


def run(optimizer: optim.Optimizer, steps: int = 20) -> list[np.ndarray]:
    """Steps with recorded gradients; the parameters after them."""
    rng = np.random.default_rng(1)
    members = [p for group in optimizer.param_groups for p in group["params"]]
    for _ in range(steps):
        for parameter in members:
            gradient = rng.standard_normal(tuple(parameter.shape)).astype(np.float32)
            parameter.grad = pyqref.from_numpy(gradient)
        optimizer.step()
    return [parameter.detach().numpy().copy() for parameter in members]


SETTINGS = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.5, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
    ("Adam", {"lr": 0.01, "weight_decay": 0.1, "amsgrad": True}),
    ("Adam", {"lr": 0.01, "maximize": True}),
    ("AdamW", {"lr": 0.01, "betas": (0.5, 0.9)}),
]


def test_eq_sgd__by_hand() -> None:
    """Equation eq-sgd with numbers that are exact in binary."""
    parameter = nn.Parameter(pyqref.tensor([1.0]))
    optimizer = optim.SGD([parameter], lr=0.5, momentum=0.5)
    values = []
    for _ in range(3):
        parameter.grad = pyqref.tensor([1.0])
        optimizer.step()
        values.append(parameter.item())
    # b = 1, 1.5, 1.75
    assert [0.5, -0.25, -1.125] == values


def test_eq_sgd__nesterov_by_hand() -> None:
    """The look-ahead adds mu * b to the gradient."""
    parameter = nn.Parameter(pyqref.tensor([1.0]))
    optimizer = optim.SGD([parameter], lr=0.5, momentum=0.5, nesterov=True)
    values = []
    for _ in range(2):
        parameter.grad = pyqref.tensor([1.0])
        optimizer.step()
        values.append(parameter.item())
    # g + mu*b = 1.5, 1.75
    assert [0.25, -0.625] == values


def reference_adam(lr, betas, eps, decay, decoupled, gradients, start) -> float:
    """Equations eq-adam and eq-adamw for one number, in double."""
    p, m, v = start, 0.0, 0.0
    for t, g in enumerate(gradients, 1):
        if decoupled:
            p *= 1 - lr * decay
        else:
            g += decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        m_hat, v_hat = m / (1 - betas[0] ** t), v / (1 - betas[1] ** t)
        p -= lr * m_hat / (math.sqrt(v_hat) + eps)
    return p


# In double the orders of operations differ by a few units of 2**-52 a step; 10 steps.
ROUNDING = 10 * 8 * 2.0**-52


@pytest.mark.parametrize("decoupled", [False, True])
def test_eq_adam__eq_adamw(decoupled: bool) -> None:
    """eq-adam, eq-adamw: ten steps agree with the definition."""
    kind = optim.AdamW if decoupled else optim.Adam
    parameter = nn.Parameter(pyqref.tensor([0.7], dtype=pyqref.float64))
    optimizer = kind([parameter], lr=0.1, weight_decay=0.3)
    gradients = np.random.default_rng(0).standard_normal(10).tolist()
    for gradient in gradients:
        parameter.grad = pyqref.tensor([gradient], dtype=pyqref.float64)
        optimizer.step()
    expected = reference_adam(0.1, (0.9, 0.999), 1e-8, 0.3, decoupled, gradients, 0.7)
    assert abs(expected - parameter.item()) <= ROUNDING


@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_state_dict_round_trip(name: str, settings: dict) -> None:
    """Training goes on from a saved state with the same numbers."""
    kind = getattr(optim, name)
    straight = run(kind(parameters(), **settings), 8)
    rng = np.random.default_rng(1)
    members = parameters()
    optimizer = kind(members, **settings)
    for step in range(8):
        if step == 4:
            state = copy.deepcopy(optimizer.state_dict())
            members = [nn.Parameter(p.detach().clone()) for p in members]
            optimizer = kind(members, lr=9.0)
            optimizer.load_state_dict(state)
        for parameter in members:
            gradient = rng.standard_normal(tuple(parameter.shape)).astype(np.float32)
            parameter.grad = pyqref.from_numpy(gradient)
        optimizer.step()
    for expected, actual in zip(straight, members, strict=True):
        assert np.array_equal(expected, actual.detach().numpy())


def test_closure_is_called_with_gradients_recorded() -> None:
    """The closure runs first, under enable_grad, and its value is returned."""
    parameter = nn.Parameter(pyqref.tensor([2.0]))
    optimizer = optim.SGD([parameter], lr=0.25)

    def closure():
        optimizer.zero_grad()
        loss = (parameter * parameter).sum()
        loss.backward()
        return loss

    with pyqref.no_grad():
        loss = optimizer.step(closure)
    assert 4.0 == loss.item()
    assert [1.0] == parameter.tolist()


def test_parameters_without_gradient_stay() -> None:
    """A parameter without gradient is not changed and gets no state."""
    first, second = parameters()
    optimizer = optim.Adam([first, second])
    first.grad = pyqref.ones_like(first)
    before = second.tolist()
    optimizer.step()
    assert before == second.tolist()
    assert [first] == list(optimizer.state)


def test_groups_have_their_own_settings() -> None:
    """Settings of a group override the defaults; groups can be added later."""
    first, second = parameters()
    optimizer = optim.SGD([{"params": [first], "lr": 1.0}], lr=0.1)
    optimizer.add_param_group({"params": second})
    assert [1.0, 0.1] == [group["lr"] for group in optimizer.param_groups]
    assert 0.5 == optim.SGD([first], lr=pyqref.tensor(0.5)).param_groups[0]["lr"]


def test_named_parameters() -> None:
    """Names are kept in the groups."""
    optimizer = optim.SGD(nn.ParameterList(parameters()).named_parameters(), lr=0.1)
    assert ["0", "1"] == optimizer.state_dict()["param_groups"][0]["param_names"]


def test_zero_grad() -> None:
    """Gradients are dropped, or filled with zeros."""
    first, _ = parameters()
    first.grad = pyqref.ones_like(first)
    optimizer = optim.SGD([first])
    optimizer.zero_grad(set_to_none=False)
    assert 0.0 == first.grad.sum().item()
    optimizer.zero_grad()
    assert first.grad is None


def test_step_hooks() -> None:
    """Hooks run around each step and can be taken away."""
    calls = []
    optimizer = optim.SGD(parameters())
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: calls.append("pre"))
    handle = optimizer.register_step_post_hook(lambda opt, args, kwargs: calls.append("post"))
    optimizer.step()
    handle.remove()
    optimizer.step()
    assert ["pre", "post", "pre"] == calls


def test_step_is_seen_by_the_graph() -> None:
    """A parameter that was saved for backward and then stepped is detected."""
    parameter = nn.Parameter(pyqref.ones(1))
    loss = (parameter * parameter).sum()
    parameter.grad = pyqref.ones(1)
    optim.SGD([parameter]).step()
    with pytest.raises(RuntimeError, match="modified"):
        loss.backward()


P = nn.Parameter(pyqref.ones(2))


@pytest.mark.parametrize(
    ("action", "error", "message"),
    [
        (lambda: optim.SGD([]), ValueError, "empty parameter list"),
        (lambda: optim.SGD(P), TypeError, "iterable of Tensors or dicts"),
        (lambda: optim.SGD([3]), TypeError, "one of the params is int"),
        (lambda: optim.SGD([P * 2]), ValueError, "non-leaf"),
        (lambda: optim.SGD([{"params": {P}}]), TypeError, "ordered collections"),
        (lambda: optim.SGD([P], lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda: optim.SGD([P], lr=math.nan), ValueError, "Invalid learning rate: nan"),
        (lambda: optim.SGD([P], momentum=-1), ValueError, "Invalid momentum value: -1"),
        (lambda: optim.SGD([P], weight_decay=-1), ValueError, "Invalid weight_decay value"),
        (lambda: optim.SGD([P], nesterov=True), ValueError, "Nesterov momentum requires"),
        (lambda: optim.Adam([P], betas=(2, 0)), ValueError, "index 0: 2"),
        (lambda: optim.AdamW([P], betas=(0, 1.0)), ValueError, "index 1: 1.0"),
        (lambda: optim.Adam([P], eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda: optim.SGD([{"params": [P]}, {"params": [P]}]), ValueError, "more than one"),
        (lambda: optim.SGD([P, ("a", P)]), ValueError, "with/without names"),
        (lambda: optim.SGD([P]).add_param_group(3), TypeError, "must be a dict"),
        (lambda: optim.SGD([P], differentiable=True), RuntimeError, "differentiable=True"),
        (lambda: optim.Adam([P], capturable=True), RuntimeError, "capturable=True"),
        (lambda: optim.Optimizer([P], {"lr": required}), ValueError, "lr"),
    ],
)
def test_errors(action, error, message) -> None:
    """Bad parameters and settings are refused with their value."""
    with pytest.raises(error, match=message):
        action()


def test_settings_without_effect_warn() -> None:
    """``foreach`` and duplicate parameters are warned of."""
    with pytest.warns(UserWarning, match="foreach=True has no effect"):
        optim.SGD([P], foreach=True)
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([P, P])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s["param_groups"].append({"params": []}), "different number"),
        (lambda s: s["param_groups"][0]["params"].pop(), "match the size"),
        (lambda s: s.pop("state"), "keys 'state'"),
        (lambda s: s["state"][0].update(exp_avg=pyqref.zeros(1)), "exp_avg"),
    ],
)
def test_bad_state_leaves_the_optimizer(change, message) -> None:
    """A state that does not fit is refused and changes nothing."""
    optimizer = optim.Adam(parameters(), lr=0.5)
    run(optimizer, 1)
    before = optimizer.state_dict()
    other = optim.Adam(parameters(), lr=0.25)
    run(other, 3)
    state = copy.deepcopy(other.state_dict())
    change(state)
    with pytest.raises(ValueError, match=message):
        optimizer.load_state_dict(state)
    after = optimizer.state_dict()
    assert before["param_groups"] == after["param_groups"]
    for number, values in before["state"].items():
        for name, value in values.items():
            assert pyqref.equal(value, after["state"][number][name])


def test_old_state_gets_new_settings() -> None:
    """Settings that a saved state does not have yet keep their defaults."""
    optimizer = optim.SGD([P], lr=0.5, maximize=True)
    optimizer.load_state_dict({"state": {}, "param_groups": [{"params": [0], "lr": 0.25}]})
    assert (0.25, True) == tuple(optimizer.param_groups[0][key] for key in ("lr", "maximize"))


def test_repr() -> None:
    """Groups with their settings, as torch prints them."""
    text = repr(optim.SGD([P], lr=0.1))
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n")
    assert text.endswith("    weight_decay: 0\n)")
