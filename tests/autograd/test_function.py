"""Operations that users define."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref


class Cube(pyqref.autograd.Function):
    """``x ** n`` with its derivative."""

    @staticmethod
    def forward(ctx: Any, x: Any, n: int) -> Any:
        ctx.save_for_backward(x)
        ctx.n = n
        return x**n

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        (x,) = ctx.saved_tensors
        assert ctx.needs_input_grad == (True, False)
        return grad * ctx.n * x ** (ctx.n - 1), None


def test_forward_and_backward() -> None:
    """The gradient is the one that backward gives; the node has the class's name."""
    x = pyqref.tensor([1.0, 2.0], requires_grad=True)
    y = Cube.apply(x, 3)
    assert "CubeBackward" == y.grad_fn.name()
    y.sum().backward()
    assert [3.0, 12.0] == x.grad.tolist()


def test_setup_context() -> None:
    """Forward without ctx; a result that is marked has no gradient."""

    class Split(pyqref.autograd.Function):
        @staticmethod
        def forward(x: Any) -> Any:
            return x * 2, x > 0

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.mark_non_differentiable(output[1])

        @staticmethod
        def backward(ctx: Any, grad: Any, _: Any) -> Any:
            return grad * 2

    x = pyqref.tensor([1.0, -2.0], requires_grad=True)
    doubled, positive = Split.apply(x)
    doubled.sum().backward()
    assert [True, False] == positive.tolist()
    assert not positive.requires_grad
    assert [2.0, 2.0] == x.grad.tolist()


def test_a_change_of_what_was_saved_is_detected() -> None:
    """The tape notices that a saved tensor has changed, as for the operations of the package."""
    x = pyqref.ones(2, requires_grad=True)
    y = x * 1
    z = Cube.apply(y, 2)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()


def test_an_argument_returned_as_it_is() -> None:
    """The result is another tensor on the same memory, with the gradient of backward."""

    class Pass(pyqref.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad * 5

    x = pyqref.ones(2, requires_grad=True)
    y = Pass.apply(x)
    assert y is not x
    assert y.data_ptr() == x.data_ptr()
    y.sum().backward()
    assert [5.0, 5.0] == x.grad.tolist()


def test_wrong_number_of_gradients() -> None:
    """The error gives both numbers."""

    class Few(pyqref.autograd.Function):
        @staticmethod
        def forward(ctx: Any, a: Any, b: Any) -> Any:
            return a + b

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad

    a, b = (pyqref.ones(1, requires_grad=True) for _ in range(2))
    with pytest.raises(RuntimeError, match="expected 2, got 1"):
        Few.apply(a, b).sum().backward()
