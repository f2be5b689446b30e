"""Following the messages about gradients works."""

from __future__ import annotations

import copy
import pickle

from bad_input.engine import floats
from messages.following import says

import pyqref


def test_a_tensor_that_requires_a_gradient() -> None:
    """detach() and no_grad() reach its numbers."""
    leaf = floats(3).requires_grad_()
    result = leaf * 2
    with says("use detach() to get a tensor that does not require grad"):
        result.requires_grad_(False)
    assert not result.detach().requires_grad
    with says("Use tensor.detach().numpy() instead."):
        leaf.numpy()
    leaf.detach().numpy()
    with says("use tensor.detach()"):
        leaf.__dlpack__()
    leaf.detach().__dlpack__()
    for copied in (copy.deepcopy, pickle.dumps):
        with says("call detach() first"):
            copied(result)
        copied(result.detach())
    with says("do it under no_grad(), or on a copy"):
        leaf.add_(1)
    leaf.clone().add_(1)
    with pyqref.no_grad():
        leaf.add_(1)
    with says("Use detach() instead."):
        result[:2].detach_()
    result[:2].detach()


def test_the_backward_pass() -> None:
    """Every refusal of the backward pass names another way, which works."""
    x = pyqref.tensor([3.0], requires_grad=True)
    squared = x * x
    squared.backward()
    with says("call backward(retain_graph=True) the first time"):
        squared.backward()
    squared = x * x
    squared.backward(retain_graph=True)
    squared.backward()

    middle = x * 2
    result = middle * middle
    middle.add_(1)
    with says("use the out-of-place form or clone() first"):
        result.backward()
    middle = x * 2
    result = middle * middle
    middle.clone().add_(1)
    result.backward()

    grad, y = pyqref.autograd.grad, pyqref.ones(1, requires_grad=True)
    with says("Set allow_unused=True if this is the desired behavior."):
        grad((x * x).sum(), [y])
    assert (None,) == grad((x * x).sum(), [y], allow_unused=True)
    with says("use finite differences of gradients"):
        grad((x * x).sum(), [x], create_graph=True)
    slopes = [
        grad((at * at).sum(), [at])[0].item() for at in (x, (x + 0.5).detach().requires_grad_())
    ]
    assert [2.0] == [(slopes[1] - slopes[0]) / 0.5]
    with says("loop over the gradients"):
        grad(x * x, [x], grad_outputs=pyqref.ones(2, 1), is_grads_batched=True)
    assert [6.0, 12.0] == [grad(x * x, [x], [pyqref.full((1,), v)])[0].item() for v in (1.0, 2.0)]


def test_save_for_backward_takes_tensors() -> None:
    """Anything else is an attribute of ctx."""

    def scale(attribute: bool) -> type[pyqref.autograd.Function]:
        class Scale(pyqref.autograd.Function):
            @staticmethod
            def forward(ctx, x, factor):  # type: ignore[no-untyped-def]
                if attribute:
                    ctx.factor = factor
                else:
                    ctx.save_for_backward(factor)
                return x * factor

            @staticmethod
            def backward(ctx, gradient):  # type: ignore[no-untyped-def]
                return gradient * ctx.factor, None

        return Scale

    x = pyqref.ones(1, requires_grad=True)
    with says("set it as an attribute of ctx"):
        scale(False).apply(x, 3.0)
    scale(True).apply(x, 3.0).backward()
    assert [3.0] == x.grad.tolist()


def test_scales_that_are_learned() -> None:
    """The function that is named has a gradient; detached scales need none."""
    x, scale = floats(2, 3), pyqref.tensor([0.25], requires_grad=True)
    zero_point, ends = pyqref.zeros(1), (-128, 127)
    with says("call {}, which has, or detach them") as told:
        pyqref.fake_quantize_per_tensor_affine(x, scale, zero_point.int(), *ends)
    name = told.text.rpartition("call ")[2].partition(",")[0]
    getattr(pyqref, name)(x, scale, zero_point, *ends, 1.0).sum().backward()
    assert scale.grad is not None
    pyqref.fake_quantize_per_tensor_affine(x, scale.detach(), zero_point.int(), *ends)
