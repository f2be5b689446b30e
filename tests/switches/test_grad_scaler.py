"""Scaling of losses: ``scale``, ``unscale_``, ``step`` and ``update`` as documented."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref

FACTORS = [3.0, 0.5, float("inf"), 2.0, 2.0, float("nan"), 1e38]


def run(namespace: Any) -> list[Any]:
    """Weights and scales of some steps, with gradients that overflow in between."""
    weight = namespace.nn.Parameter(namespace.ones(2))
    optimizer = namespace.optim.SGD([weight], lr=0.25)
    options = {"init_scale": 4.0, "growth_interval": 2, "growth_factor": 4.0}
    scaler = namespace.amp.GradScaler("cpu", **options)
    found: list[Any] = []
    for step, factor in enumerate(FACTORS):
        optimizer.zero_grad()
        scaler.scale((weight * factor).sum()).backward()
        if step % 2:
            scaler.unscale_(optimizer)
            found.append(weight.grad.tolist())
        scaler.step(optimizer)
        scaler.update()
        found += [weight.tolist(), scaler.get_scale()]
    return [*found, {key: float(value) for key, value in scaler.state_dict().items()}]


def test_a_step_with_infinite_gradients_is_left_out() -> None:
    """Weights stay, the scale is halved; after two good steps it is multiplied by 4."""
    found = run(pyqref)
    scales = [each for each in found if isinstance(each, float)]
    assert [4.0, 16.0, 8.0, 8.0, 32.0, 16.0, 8.0] == scales


def test_live_torch() -> None:
    torch = pytest.importorskip("torch", minversion="2.13")
    assert repr(run(torch)) == repr(run(pyqref))


def test_without_a_gpu_it_does_nothing() -> None:
    """``cuda.amp.GradScaler`` returns the loss, and calls the optimiser."""
    weight = pyqref.nn.Parameter(pyqref.ones(1))
    optimizer = pyqref.optim.SGD([weight], lr=1.0)
    scaler = pyqref.cuda.amp.GradScaler()
    loss = weight.sum()
    assert scaler.scale(loss) is loss
    loss.backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert (0.0, 1.0) == (weight.item(), scaler.get_scale())
