"""Leaves and the gradients that they collect."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pyqref


def _leaf() -> Any:
    return pyqref.tensor([1.0, 2.0, 3.0], requires_grad=True)


WRONG: dict[str, tuple[Any, type[Exception], str]] = {
    "number": (3, TypeError, "Tensor or None but got int"),
    "shape": (pyqref.ones(2), RuntimeError, r"size \[2\]"),
    "dtype": (pyqref.ones(3, dtype=pyqref.float64), RuntimeError, "float64"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_gradient_has_the_form_of_its_tensor(name: str) -> None:
    """``x.grad = ...`` refuses what could not be added to."""
    value, error, message = WRONG[name]
    with pytest.raises(error, match=message):
        _leaf().grad = value


def test_gradients_are_added_in_place() -> None:
    """Whoever holds ``x.grad`` sees the next gradient arrive in it."""
    x = _leaf()
    x.sum().backward()
    held = x.grad
    x.sum().backward()
    assert held is x.grad
    assert [2.0, 2.0, 2.0] == held.tolist()


def test_an_expanded_gradient_is_replaced() -> None:
    """It has no place of its own for each element."""
    x = _leaf()
    x.grad = pyqref.ones(1).expand(3)
    (x * x).sum().backward()
    assert [3.0, 5.0, 7.0] == x.grad.tolist()


@pytest.mark.parametrize("of_module", [False, True])
def test_zero_grad_in_place(of_module: bool) -> None:
    """``set_to_none=False`` writes zeros into the same tensor."""
    layer = pyqref.nn.Linear(2, 2)
    layer(pyqref.ones(1, 2)).sum().backward()
    held = layer.weight.grad
    owner: Any = layer if of_module else pyqref.optim.SGD(layer.parameters(), lr=0.1)
    owner.zero_grad(set_to_none=False)
    assert held is layer.weight.grad
    assert [[0.0, 0.0]] * 2 == held.tolist()


BAD_HOOKS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "number": (lambda grad: 3, TypeError, "hook returned int"),
    "shape": (lambda grad: pyqref.ones(2), RuntimeError, "changed the size"),
}


@pytest.mark.parametrize("name", BAD_HOOKS)
def test_a_hook_returns_a_gradient(name: str) -> None:
    """Or None; anything else is refused when it arrives."""
    hook, error, message = BAD_HOOKS[name]
    x = _leaf()
    x.register_hook(hook)
    with pytest.raises(error, match=message):
        x.sum().backward()


def test_a_leaf_that_is_a_view_is_not_changed_in_place() -> None:
    """It collects gradients itself, though its base does not."""
    x = pyqref.arange(6.0).reshape(2, 3).requires_grad_()
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x.add_(1)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        x[0] = 1.0
    with pyqref.no_grad():
        x.add_(1)
    assert 1.0 == x[0, 0].item()


def test_a_graph_without_saved_arrays_can_be_walked_again() -> None:
    """A sum keeps nothing; a product of tensors does, and is freed."""
    x = _leaf()
    total = (x * 2 + 1).sum()
    total.backward()
    total.backward()
    assert [4.0, 4.0, 4.0] == x.grad.tolist()
    square = (x * x).sum()
    square.backward()
    with pytest.raises(RuntimeError, match="MulBackward0 a second time"):
        square.backward()


def test_name_of_a_node() -> None:
    """``name`` of a node is a method, as in torch."""
    assert "MulBackward0" == (_leaf() * 2).grad_fn.name()


def fake_quantized(leaf):
    """An operation that makes its gradients for one input alone."""
    return pyqref.fake_quantize_per_tensor_affine(leaf, 0.5, 0, 0, 255)


def test_a_gradient_belongs_to_its_leaf():
    """Neither what was given to ``backward`` nor what came before shares its memory."""
    leaf = pyqref.tensor([1.0, 2.0, -9.0], requires_grad=True)
    given = pyqref.ones(3)
    fake_quantized(leaf).backward(given)
    first = leaf.grad
    given.fill_(5)
    assert [1.0, 1.0, 0.0] == first.tolist()
    leaf.grad = None
    fake_quantized(leaf).backward(given)
    assert [1.0, 1.0, 0.0] == first.tolist()
    assert [5.0, 5.0, 0.0] == leaf.grad.tolist()


def test_the_gradients_of_two_uses_are_added():
    """Gradients add up for operations that make them anew and for others, in both orders."""
    for first, second in ((fake_quantized, lambda leaf: leaf + 0), (fake_quantized,) * 2):
        for uses in ((first, second), (second, first)):
            leaf = pyqref.tensor([1.0, 2.0], requires_grad=True)
            given = pyqref.ones(2)
            (uses[0](leaf) + uses[1](leaf)).backward(given)
            assert [2.0, 2.0] == leaf.grad.tolist()
            leaf.grad.zero_()
            assert [1.0, 1.0] == given.tolist()


def test_a_gradient_that_a_hook_keeps_stays():
    """Later gradients are added to a copy."""
    leaf = pyqref.tensor([1.0, 2.0], requires_grad=True)
    kept = []
    leaf.register_hook(kept.append)
    fake_quantized(leaf).backward(pyqref.ones(2))
    fake_quantized(leaf).backward(pyqref.ones(2))
    assert [[1.0, 1.0]] * 2 == [each.tolist() for each in kept]
    assert [2.0, 2.0] == leaf.grad.tolist()
