"""All optimisers beside those of torch."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import pyqref

torch = pytest.importorskip("torch")

DECAY = {"weight_decay": 0.1}
SETTINGS: list[tuple[str, dict[str, Any]]] = [
    ("ASGD", {}),
    ("ASGD", {"t0": 3, "lambd": 0.1, **DECAY}),
    ("Adadelta", {}),
    ("Adadelta", {"lr": 0.5, "rho": 0.5, "maximize": True, **DECAY}),
    ("Adagrad", {}),
    ("Adagrad", {"lr_decay": 0.1, "initial_accumulator_value": 0.5, **DECAY}),
    ("Adam", {}),
    ("Adam", {"amsgrad": True, **DECAY}),
    ("AdamW", {}),
    ("Adamax", {}),
    ("Adamax", {"betas": (0.5, 0.75), **DECAY}),
    ("NAdam", {}),
    ("NAdam", {"momentum_decay": 0.1, **DECAY}),
    ("NAdam", {"decoupled_weight_decay": True, **DECAY}),
    ("RAdam", {}),
    ("RAdam", {"betas": (0.9, 0.75), "decoupled_weight_decay": True, **DECAY}),
    ("RMSprop", {}),
    ("RMSprop", {"momentum": 0.9, "centered": True, **DECAY}),
    ("Rprop", {}),
    ("Rprop", {"lr": 0.1, "step_sizes": (0.05, 0.2), "etas": (0.25, 2.0)}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, **DECAY}),
]
STEPS = 12
# Every step rounds a few numbers, in an order that may differ; each error is at most some units
# in the last place of the largest number of a step, and they add up.
ROUNDINGS = 16


def run(library: Any, name: str, settings: dict[str, Any], dtype: type) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    values = rng.standard_normal((5, 7)).astype(dtype)
    parameter = library.nn.Parameter(library.from_numpy(values.copy()))
    optimizer = getattr(library.optim, name)([parameter], **settings)
    for _ in range(STEPS):
        gradient = rng.standard_normal((5, 7)).astype(dtype)
        parameter.grad = library.from_numpy(gradient)
        optimizer.step()
    return parameter.detach().numpy(), optimizer


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("name", "settings"), SETTINGS)
def test_as_torch(name: str, settings: dict[str, Any], dtype: type) -> None:
    """Parameters after 12 steps, and the state with its keys, shapes and types."""
    expected, theirs = run(torch, name, settings, dtype)
    actual, ours = run(pyqref, name, settings, dtype)
    bound = STEPS * ROUNDINGS * np.finfo(dtype).eps * np.abs(expected).max()
    assert np.abs(expected - actual).max() <= bound
    assert theirs.state_dict()["param_groups"] == ours.state_dict()["param_groups"]
    state = ours.state_dict()["state"][0]
    for key, value in theirs.state_dict()["state"][0].items():
        if isinstance(value, torch.Tensor):
            assert (str(value.dtype)[6:], value.shape) == (
                str(state[key].dtype)[7:],
                state[key].shape,
            )
            largest = max(1.0, value.abs().max().item())
            close = np.abs(value.numpy() - state[key].numpy()).max()
            assert close <= STEPS * ROUNDINGS * np.finfo(dtype).eps * largest, key
        else:
            assert (key, value) == (key, state[key])


def rosenbrock(library: Any, settings: dict[str, Any], steps: int) -> tuple[list[Any], Any]:
    parameter = library.nn.Parameter(library.tensor([-1.2, 1.0], dtype=library.float64))
    optimizer = library.optim.LBFGS([parameter], **settings)
    losses = []

    def closure() -> Any:
        optimizer.zero_grad()
        first, second = parameter[0], parameter[1]
        loss = (1 - first) ** 2 + 100 * (second - first**2) ** 2
        loss.backward()
        return loss

    for _ in range(steps):
        losses.append(optimizer.step(closure).item())
    return [*losses, *parameter.tolist()], optimizer.state_dict()


@pytest.mark.parametrize(
    "settings",
    [
        {"line_search_fn": "strong_wolfe"},
        {"line_search_fn": "strong_wolfe", "max_iter": 3, "history_size": 2},
        {"lr": 1e-3, "max_iter": 4},
        {"lr": 0.5, "max_iter": 5, "tolerance_change": 0.01, "line_search_fn": "strong_wolfe"},
    ],
)
def test_lbfgs(settings: dict[str, Any]) -> None:
    """Steps follow torch's path through the valley of Rosenbrock, with as many closure calls."""
    expected, theirs = rosenbrock(torch, settings, 6)
    actual, ours = rosenbrock(pyqref, settings, 6)
    # The first steps of a path in double; rounding grows by the condition number, 2500, once.
    assert np.allclose(expected, actual, rtol=0, atol=2500 * 2.0**-52 * 24.2)
    for key in ("func_evals", "n_iter"):
        assert theirs["state"][0][key] == ours["state"][0][key]
    assert set(theirs["state"][0]) <= {*ours["state"][0], "al"}
    assert theirs["param_groups"] == ours["param_groups"]


SCHEDULES: dict[str, Any] = {
    "constant": lambda s, o: s.ConstantLR(o, 0.25, 3),
    "linear": lambda s, o: s.LinearLR(o, 0.25, 0.75, 4),
    "polynomial": lambda s, o: s.PolynomialLR(o, 5, 2.0),
    "multiplicative": lambda s, o: s.MultiplicativeLR(o, lambda epoch: 0.9),
    "warm restarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 2, 2, 0.01),
    "warm restarts again": lambda s, o: s.CosineAnnealingWarmRestarts(o, 3),
    "triangular": lambda s, o: s.CyclicLR(o, 0.1, 0.5, 3),
    "triangular2": lambda s, o: s.CyclicLR(o, 0.1, [0.5, 0.7], 2, 3, mode="triangular2"),
    "exp_range": lambda s, o: s.CyclicLR(o, 0.1, 0.5, 3, mode="exp_range", gamma=0.9),
    "scale_fn": lambda s, o: s.CyclicLR(o, 0.1, 0.5, 2, scale_fn=lambda x: 1 / x),
    "one cycle": lambda s, o: s.OneCycleLR(o, 0.5, 12),
    "one cycle in three": lambda s, o: s.OneCycleLR(
        o, [0.5, 1.0], epochs=3, steps_per_epoch=4, three_phase=True, anneal_strategy="linear"
    ),
    "chained": lambda s, o: s.ChainedScheduler([s.ConstantLR(o, 0.1, 2), s.ExponentialLR(o, 0.9)]),
    "sequential": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=3), s.StepLR(o, 2), s.ExponentialLR(o, 0.9)], [3, 7]
    ),
    "nested": lambda s, o: s.SequentialLR(
        o,
        [
            s.SequentialLR(o, [s.ConstantLR(o, 0.5, 9), s.ExponentialLR(o, 0.5)], [2]),
            s.CosineAnnealingLR(o, 4),
        ],
        [5],
    ),
}


def schedule(library: Any, make: Any, kind: str) -> tuple[list[Any], dict[str, Any]]:
    groups = [{"params": [library.nn.Parameter(library.ones(1))], "lr": lr} for lr in (0.5, 1.0)]
    if kind == "SGD":
        optimizer = library.optim.SGD(groups, momentum=0.9)
    else:
        optimizer = library.optim.Adam(groups)
    schedule = make(library.optim.lr_scheduler, optimizer)
    seen = []
    for _ in range(12):
        seen.append(
            [
                copy.deepcopy({k: v for k, v in g.items() if k != "params"})
                for g in optimizer.param_groups
            ]
        )
        optimizer.step()
        schedule.step()
        seen.append(list(schedule.get_last_lr()))
    return seen, schedule.state_dict()


def kept(value: Any) -> Any:
    """A state without functions and without what one library remembers beyond the other."""
    if isinstance(value, list | tuple):
        return [kept(each) for each in value]
    if isinstance(value, dict):
        return {k: kept(v) for k, v in value.items() if k not in OWN}
    return value


#: Private parts of a state that say how a library computes, not where a schedule stands.
OWN = {
    "_get_lr_called_within_step",
    "_scale_fn_ref",
    "_scale_fn_custom",
    "lr_lambdas",
    "_is_initial",
    "use_beta1",
}


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.filterwarnings("ignore::UserWarning:torch")
def test_schedules(name: str, kind: str) -> None:
    """Learning rates and momenta of 12 epochs, to the bit, and the state dict."""
    expected, theirs = schedule(torch, SCHEDULES[name], kind)
    actual, ours = schedule(pyqref, SCHEDULES[name], kind)
    for one, other in zip(expected, actual, strict=True):
        assert one == other
    assert kept(theirs) == kept(ours)


def swa(library: Any, **options: Any) -> list[Any]:
    rng = np.random.default_rng(0)
    model = library.nn.Sequential(library.nn.Linear(3, 2), library.nn.BatchNorm1d(2))
    average = library.optim.swa_utils.AveragedModel(model, **options)
    for _ in range(4):
        with library.no_grad():
            for parameter in model.parameters():
                drawn = rng.standard_normal(tuple(parameter.shape)).astype(np.float32)
                parameter.copy_(library.from_numpy(drawn))
            model(library.from_numpy(rng.standard_normal((4, 3)).astype(np.float32)))
        average.update_parameters(model)
    batches = [library.from_numpy(rng.standard_normal((4, 3)).astype(np.float32)) for _ in "ab"]
    kept = {k: v.detach().numpy().copy() for k, v in average.state_dict().items()}
    library.optim.swa_utils.update_bn(batches, average)
    return [kept, {k: v.detach().numpy() for k, v in average.state_dict().items()}]


@pytest.mark.parametrize("how", ["mean", "buffers", "ema", "ema of lists", "mean of lists"])
def test_averaged_model(how: str) -> None:
    """Averages of parameters and buffers, and running moments computed anew."""

    def options(library: Any) -> dict[str, Any]:
        utils = library.optim.swa_utils
        return {
            "mean": {},
            "buffers": {"use_buffers": True},
            "ema": {"avg_fn": utils.get_ema_avg_fn(0.75)},
            "ema of lists": {"multi_avg_fn": utils.get_ema_multi_avg_fn(0.75)},
            "mean of lists": {"multi_avg_fn": utils.get_swa_multi_avg_fn()},
        }[how]

    for expected, actual in zip(
        swa(torch, **options(torch)), swa(pyqref, **options(pyqref)), strict=True
    ):
        assert list(expected) == list(actual)
        for key, value in expected.items():
            # Means of 4 numbers of size about 2, each rounded a few times.
            assert np.abs(value - actual[key]).max() <= 32 * 2.0**-24, key


@pytest.mark.parametrize("strategy", ["cos", "linear"])
def test_swalr(strategy: str) -> None:
    """The rates of torch's SWALR, to the bit."""

    def rates(library: Any) -> list[float]:
        optimizer = library.optim.SGD([library.nn.Parameter(library.ones(1))], lr=1.0)
        schedule = library.optim.swa_utils.SWALR(optimizer, 0.3, 4, strategy)
        found = []
        for _ in range(7):
            optimizer.step()
            schedule.step()
            found += schedule.get_last_lr()
        return found

    assert rates(torch) == rates(pyqref)
