"""Views and their bases stay one tensor to autograd, whichever of them is changed in place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pyqref


def _weights() -> Any:
    return pyqref.tensor([1.0, 2.0, 3.0], requires_grad=True)


def test_a_view_follows_a_base_that_joins_a_graph() -> None:
    """The view was taken before its base held anything with a gradient."""
    w = _weights()
    base = pyqref.zeros(3)
    view, detached = base[1:], base.detach()
    base.copy_(w * w)
    assert view.requires_grad
    assert not view.is_leaf
    assert not detached.requires_grad
    (view * 2).sum().backward()
    assert [0.0, 8.0, 12.0] == w.grad.tolist()


def test_a_view_follows_another_view() -> None:
    """A change through one view reaches the graph of every other."""
    w = _weights()
    base = pyqref.zeros(2, 3)
    row, all_of_it = base[0], base.view(-1)
    row.add_(w)
    all_of_it.sum().backward()
    assert [1.0, 1.0, 1.0] == w.grad.tolist()


def test_an_expanded_view_of_a_changed_base() -> None:
    """Every copy of an element gives its gradient."""
    w = _weights()
    base = w * 1
    rows = base.expand(4, 3)
    base.mul_(2)
    rows.sum().backward()
    assert [8.0, 8.0, 8.0] == w.grad.tolist()


def test_as_strided_of_an_expanded_tensor() -> None:
    """Elements that share a place in memory count once."""
    w = _weights()
    (w * 1).expand(2, 3).as_strided((2,), (1,)).sum().backward()
    assert [1.0, 1.0, 0.0] == w.grad.tolist()


OVERWRITTEN: dict[str, Callable[[Any], Any]] = {
    "fill_": lambda y: y.fill_(0.5),
    "zero_": lambda y: y.zero_(),
    "copy_": lambda y: y.copy_(pyqref.ones(3)),
}


@pytest.mark.parametrize("name", OVERWRITTEN)
def test_what_is_overwritten_has_the_gradient_zero(name: str) -> None:
    """Zero and not None: the leaf was used, with no effect."""
    w = _weights()
    y = w * 2
    OVERWRITTEN[name](y)
    y.sum().backward()
    assert [0.0, 0.0, 0.0] == w.grad.tolist()


def test_an_expanded_tensor_cannot_be_written_as_a_whole() -> None:
    """Several of its elements are one place in memory."""
    rows = pyqref.zeros(3).expand(2, 3)
    with pytest.raises(RuntimeError, match="single memory location"):
        rows.add_(1)
    rows[0].add_(1)
    assert [[1.0] * 3] * 2 == rows.tolist()
