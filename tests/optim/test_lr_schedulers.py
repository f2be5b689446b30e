"""Learning rate schedules: the values of each epoch, and going on from a state."""

from __future__ import annotations

import math

import pytest

import pyqref
from pyqref import nn, optim
from pyqref.optim import lr_scheduler

# Each epoch multiplies the rate of the one before: at most 40 roundings of half an ulp.
ROUNDING = 40 * 2.0**-52


def optimizer(lr: float = 0.5) -> optim.SGD:
    groups = [
        {"params": [nn.Parameter(pyqref.ones(1))]},
        {"params": [nn.Parameter(pyqref.ones(1))], "lr": 2 * lr},
    ]
    return optim.SGD(groups, lr=lr)


def rates(make, epochs: int = 12) -> list[list[float]]:
    opt = optimizer()
    schedule = make(opt)
    values = [schedule.get_last_lr()]
    for _ in range(epochs):
        opt.step()
        schedule.step()
        values.append(schedule.get_last_lr())
        assert values[-1] == [group["lr"] for group in opt.param_groups]
    return values


SCHEDULES = {
    "step": (lambda o: lr_scheduler.StepLR(o, 3, 0.5), lambda e: 0.5 ** (e // 3)),
    "multi": (
        lambda o: lr_scheduler.MultiStepLR(o, [2, 5, 5], 0.5),
        lambda e: 0.5 ** ((e >= 2) + 2 * (e >= 5)),
    ),
    "exponential": (lambda o: lr_scheduler.ExponentialLR(o, 0.9), lambda e: 0.9**e),
    "cosine": (
        lambda o: lr_scheduler.CosineAnnealingLR(o, 5),
        lambda e: (1 + math.cos(math.pi * e / 5)) / 2,
    ),
    "lambda": (lambda o: lr_scheduler.LambdaLR(o, lambda e: 1 / (1 + e)), lambda e: 1 / (1 + e)),
    "constant": (lambda o: lr_scheduler.ConstantLR(o, 0.25, 3), lambda e: 1 if e >= 3 else 0.25),
    "linear": (
        lambda o: lr_scheduler.LinearLR(o, 0.25, 0.75, 4),
        lambda e: 0.25 + 0.5 * min(e, 4) / 4,
    ),
    "polynomial": (
        lambda o: lr_scheduler.PolynomialLR(o, 5, 2.0),
        lambda e: (1 - min(e, 5) / 5) ** 2,
    ),
    "multiplicative": (
        lambda o: lr_scheduler.MultiplicativeLR(o, lambda epoch: 0.9),
        lambda e: 0.9**e,
    ),
    "warm restarts": (
        lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 4),
        lambda e: (1 + math.cos(math.pi * (e % 4) / 4)) / 2,
    ),
    "cyclic": (
        lambda o: lr_scheduler.CyclicLR(o, [0.0, 0.0], [0.5, 1.0], 4, cycle_momentum=False),
        lambda e: 1 - abs(e % 8 - 4) / 4,
    ),
    "one cycle": (
        lambda o: lr_scheduler.OneCycleLR(
            o, [0.5, 1.0], 12, pct_start=0.5, anneal_strategy="linear", cycle_momentum=False
        ),
        lambda e: 0.04 + 0.96 * e / 5 if e <= 5 else 1 + (4e-6 - 1) * (e - 5) / 6,
    ),
}
#: Schedules that end.
LONGEST = {"one cycle": 11}


@pytest.mark.parametrize("name", SCHEDULES)
def test_closed_forms(name: str) -> None:
    """The rates agree with the closed form of the schedule."""
    make, factor = SCHEDULES[name]
    for epoch, (first, second) in enumerate(rates(make, LONGEST.get(name, 12))):
        assert abs(0.5 * factor(epoch) - first) <= ROUNDING
        assert abs(1.0 * factor(epoch) - second) <= ROUNDING


@pytest.mark.parametrize("name", SCHEDULES)
def test_state_dict(name: str) -> None:
    """A schedule goes on from a saved state."""
    make, _ = SCHEDULES[name]
    expected = rates(make, 8)
    opt = optimizer()
    schedule = make(opt)
    for _ in range(4):
        opt.step()
        schedule.step()
    state, groups = schedule.state_dict(), opt.state_dict()
    opt = optimizer()
    schedule = make(opt)
    opt.load_state_dict(groups)
    schedule.load_state_dict(state)
    for epoch in range(4, 8):
        opt.step()
        schedule.step()
        assert expected[epoch + 1] == schedule.get_last_lr()


def test_resume_with_last_epoch() -> None:
    """``last_epoch`` goes on where the rates in the groups left off."""
    opt = optimizer()
    with pytest.raises(KeyError, match="initial_lr"):
        lr_scheduler.StepLR(opt, 2, last_epoch=3)
    for group in opt.param_groups:
        group["initial_lr"] = 4.0
    assert [4.0, 4.0] == lr_scheduler.LambdaLR(opt, lambda e: 1.0, last_epoch=3).get_last_lr()


def test_other_changes_of_the_rate_are_kept() -> None:
    """The schedules are chainable: each works on the rate that it finds."""
    opt = optimizer()
    first, second = lr_scheduler.ExponentialLR(opt, 0.5), lr_scheduler.StepLR(opt, 2, 0.1)
    opt.step()
    for _ in range(2):
        first.step()
        second.step()
    assert abs(0.5 * 0.25 * 0.1 - second.get_last_lr()[0]) <= ROUNDING


def test_wrong_order_warns() -> None:
    """Stepping the schedule before the optimiser skips the first rate: a warning."""
    schedule = lr_scheduler.StepLR(optimizer(), 2)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        schedule.step()
    opt = optimizer()
    schedule = lr_scheduler.StepLR(opt, 2, 0.5)
    opt.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        schedule.step(4)
    assert [0.125, 0.25] == schedule.get_last_lr()


def test_several() -> None:
    """At the same time they multiply; one after the other they begin anew; states go on."""
    opt = optimizer()
    chained = lr_scheduler.ChainedScheduler(
        [lr_scheduler.ConstantLR(opt, 0.5, 2), lr_scheduler.StepLR(opt, 1, 0.5)]
    )
    other = optimizer()
    schedules = [lr_scheduler.ConstantLR(other, 0.5, 9), lr_scheduler.StepLR(other, 1, 0.5)]
    sequence = lr_scheduler.SequentialLR(other, schedules, [2])
    found: list[list[float]] = [[], []]
    for _ in range(4):
        for rates_of, schedule in zip(found, (chained, sequence), strict=True):
            rates_of.append(schedule.get_last_lr()[0])
            schedule.optimizer.step()
            schedule.step()
    assert [[0.25, 0.125, 0.125, 0.0625], [0.25, 0.25, 0.5, 0.25]] == found
    again = optimizer()
    schedules = [lr_scheduler.ConstantLR(again, 0.5, 9), lr_scheduler.StepLR(again, 1, 0.5)]
    resumed = lr_scheduler.SequentialLR(again, schedules, [2])
    again.load_state_dict(other.state_dict())
    resumed.load_state_dict(sequence.state_dict())
    for schedule in (sequence, resumed):
        schedule.optimizer.step()
        schedule.step()
    assert sequence.get_last_lr() == resumed.get_last_lr()


def test_momentum_goes_the_other_way() -> None:
    """The momentum of CyclicLR is lowest where the rate is highest; Adam's is its first beta."""
    parameter = nn.Parameter(pyqref.ones(1))
    opt = optim.Adam([parameter])
    schedule = lr_scheduler.CyclicLR(opt, 0.0, 1.0, 1, base_momentum=0.5, max_momentum=0.75)
    seen = []
    for _ in range(3):
        seen.append((opt.param_groups[0]["lr"], opt.param_groups[0]["betas"]))
        opt.step()
        schedule.step()
    assert [(0.0, (0.75, 0.999)), (1.0, (0.5, 0.999)), (0.0, (0.75, 0.999))] == seen


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda s, o: s.ConstantLR(o, 2), r"factor must be in \[0, 1\], got 2"),
        (lambda s, o: s.LinearLR(o, 0), r"start_factor must be in \(0, 1\], got 0"),
        (lambda s, o: s.LinearLR(o, 1, 2), r"end_factor must be in \[0, 1\], got 2"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), "T_0 must be an integer > 0, got 0"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 1).step(-1), "epoch must be >= 0, got -1"),
        (lambda s, o: s.CyclicLR(o, 0.1, [1.0]), "expected 2 values for max_lr, got 1"),
        (lambda s, o: s.CyclicLR(o, 0.1, 1.0, mode="saw"), "got 'saw'; or give scale_fn"),
        (lambda s, o: s.OneCycleLR(o, 1.0), "define either total_steps OR"),
        (lambda s, o: s.OneCycleLR(o, 1.0, 0), "total_steps must be an integer > 0, got 0"),
        (lambda s, o: s.OneCycleLR(o, 1.0, 9, pct_start=2), r"pct_start must be in \[0, 1\]"),
        (lambda s, o: s.ChainedScheduler([]), "at least one scheduler"),
        (lambda s, o: s.SequentialLR(o, [s.StepLR(o, 1)], [2]), "1 schedulers and 1 milestones"),
        (
            lambda s, o: s.ChainedScheduler([s.StepLR(o, 1), s.StepLR(optimizer(), 1)]),
            "scheduler 1 belongs to another one",
        ),
    ],
)
def test_bad_settings(action, message) -> None:
    """Settings out of range are refused with their value."""
    with pytest.raises(ValueError, match=message):
        action(lr_scheduler, optimizer())


def test_plateau() -> None:
    """The rate falls after ``patience`` epochs without progress, not below ``min_lr``."""
    opt = optimizer(1.0)
    schedule = lr_scheduler.ReduceLROnPlateau(opt, factor=0.5, patience=1, min_lr=0.3)
    seen = []
    for loss in [1.0, 1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5]:
        schedule.step(loss)
        seen.append(schedule.get_last_lr()[0])
    assert [1.0, 1.0, 0.5, 0.5, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3] == seen


def test_plateau_modes_and_cooldown() -> None:
    """``max`` and ``abs``; epochs of the cooldown are not counted."""
    opt = optimizer(1.0)
    schedule = lr_scheduler.ReduceLROnPlateau(
        opt, "max", 0.5, 0, threshold=0.1, threshold_mode="abs", cooldown=2
    )
    seen = []
    for score in [1.0, 1.05, 1.2, 1.2, 1.2, 1.2]:
        schedule.step(pyqref.tensor(score))
        seen.append(schedule.get_last_lr()[0])
    assert [1.0, 0.5, 0.5, 0.5, 0.25, 0.25] == seen
    assert schedule.in_cooldown


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (lambda: lr_scheduler.StepLR(3, 3), TypeError),
        (lambda: lr_scheduler.StepLR(optimizer(), 0), ValueError),
        (lambda: lr_scheduler.CosineAnnealingLR(optimizer(), 0), ValueError),
        (lambda: lr_scheduler.LambdaLR(optimizer(), [abs]), ValueError),
        (lambda: lr_scheduler.ReduceLROnPlateau(optimizer(), factor=1.0), ValueError),
        (lambda: lr_scheduler.ReduceLROnPlateau(optimizer(), "mean"), ValueError),
        (lambda: lr_scheduler.ReduceLROnPlateau(optimizer(), threshold_mode="x"), ValueError),
        (lambda: lr_scheduler.ReduceLROnPlateau(optimizer(), min_lr=[1]), ValueError),
        (lambda: lr_scheduler.ReduceLROnPlateau(3), TypeError),
    ],
)
def test_errors(action, error) -> None:
    """Bad settings are refused."""
    with pytest.raises(error):
        action()
