"""The graph is freed with the last tensor that leads to it, without the garbage collector."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import pyqref


def _plain(x: Any) -> Any:
    return (x * 2).sum()


def _retained(x: Any) -> Any:
    y = x * 2
    y.retain_grad()
    return y.sum()


def _hooked(x: Any) -> Any:
    y = x * 2
    y.register_hook(lambda grad: grad * 2)
    return y.sum()


def _changed_in_place(x: Any) -> Any:
    y = x * 1
    y[0] = 0.0
    y.view(-1).mul_(2)
    return y.sum()


def _layer(x: Any) -> Any:
    return pyqref.nn.LSTM(3, 2)(x)[0].sum()


@pytest.mark.parametrize("script", [_plain, _retained, _hooked, _changed_in_place, _layer])
@pytest.mark.parametrize("walked", [False, True])
def test_no_cycle_keeps_the_graph(script: Callable[[Any], Any], walked: bool) -> None:
    """Nothing in a graph holds a tensor that holds the graph."""
    gc.collect()
    gc.disable()
    try:
        result = script(pyqref.ones(4, 3, requires_grad=True))
        node = weakref.ref(result.grad_fn)
        if walked:
            result.backward()
        del result
        assert None is node()
    finally:
        gc.enable()


def test_a_retained_gradient_outlives_the_walk() -> None:
    """``retain_grad`` works for as long as somebody has the tensor."""
    x = pyqref.ones(3, requires_grad=True)
    y = x * 2
    y.retain_grad()
    (y * 3).sum().backward()
    assert [3.0, 3.0, 3.0] == y.grad.tolist()
    assert [6.0, 6.0, 6.0] == x.grad.tolist()
