"""Gradients of leaves: who owns the memory, and what accumulating says of overflow."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn

LAYERS = [
    (lambda: nn.Linear(4, 3), (2, 4)),
    (lambda: nn.Linear(1, 1), (1, 1)),
    (lambda: nn.Conv2d(3, 5, 3, padding=1), (2, 3, 4, 4)),
    (lambda: nn.Conv2d(8, 8, 1), (1, 8, 1, 1)),
    (lambda: nn.Conv2d(16, 4, 3), (2, 16, 5, 5)),
    (lambda: nn.Conv2d(4, 4, 3, groups=4, padding=1), (2, 4, 4, 4)),
    (lambda: nn.Conv2d(4, 6, 2, groups=2), (2, 4, 4, 4)),
    (lambda: nn.BatchNorm2d(3), (2, 3, 4, 4)),
    (lambda: nn.BatchNorm2d(1), (2, 1, 1, 1)),
    (lambda: nn.ReLU(), (2, 3)),
]


@pytest.mark.parametrize(("make", "shape"), LAYERS)
def test_gradients_share_no_memory(make: Any, shape: tuple[int, ...]) -> None:
    """Each gradient is an array of its own, in C order, whichever operation made it."""
    layer = make()
    x = pyqref.randn(*shape).requires_grad_()
    y = layer(x)
    start = pyqref.ones_like(y)
    y.backward(start)
    leaves = [x, *layer.parameters()]
    arrays = [each.grad._array for each in leaves]
    others = [start._array, y._array, *(each._array for each in leaves)]
    assert all(each.flags.c_contiguous for each in arrays)
    for a, b in (*itertools.combinations(arrays, 2), *itertools.product(arrays, others)):
        assert not np.shares_memory(a, b)


def test_products_of_leaves_share_no_memory() -> None:
    """Each factor has a gradient of its own."""
    a, b = (pyqref.ones(3).requires_grad_() for _ in range(2))
    start = pyqref.ones(3)
    (a * b).backward(start)
    arrays = a.grad._array, b.grad._array, start._array, a._array, b._array
    assert not any(np.shares_memory(*pair) for pair in itertools.combinations(arrays, 2))


def test_sums_of_gradients_overflow_in_silence() -> None:
    """Nodes that warn of nothing, and sums that would: two roots, and a gradient that was there."""
    x = pyqref.ones(2).requires_grad_()
    largest = pyqref.full((2,), 3e38)
    y, z = (pyqref.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255) for _ in range(2))
    pyqref.autograd.backward([y, z], [largest, largest])
    assert [float("inf")] * 2 == x.grad.tolist()
    x.grad = largest.clone()
    pyqref.fake_quantize_per_tensor_affine(x, 0.1, 0, 0, 255).backward(largest)
    assert [float("inf")] * 2 == x.grad.tolist()


def test_leaves_that_are_gone() -> None:
    """Their hooks still see the gradient, and nothing but their owner kept them."""
    seen: list[Any] = []
    x = pyqref.ones(2, requires_grad=True)
    x.register_hook(lambda grad: seen.append(grad.tolist()))
    gone = weakref.ref(x)
    y = 3 * x
    del x
    assert gone() is None
    y.backward(pyqref.ones(2))
    assert [[3.0, 3.0]] == seen
