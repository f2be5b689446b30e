"""The walk back: order, sums of gradients, freed graphs, changes in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref.tape import Operation
from pyqref.tensor.dispatch import apply


def _leaf(*values: float) -> Any:
    return pyqref.tensor(list(values), requires_grad=True)


def test_gradients_of_several_uses_are_added() -> None:
    """X is used twice: d(x*x + 3x) = 2x + 3."""
    x = _leaf(1.0, 2.0)
    (x * x + 3 * x).sum().backward()
    assert [5.0, 7.0] == x.grad.tolist()


def test_gradients_of_several_uses_are_added_from_the_last_one() -> None:
    """1 + (1e8 - 1e8) and (1 + 1e8) - 1e8 differ; torch adds as here, wherever they meet."""
    x = _leaf(1.0)
    first, second, third = x * 1.0, x * 1e8, x * -1e8
    (third + first + second).sum().backward()
    assert [1.0] == x.grad.tolist()
    x = _leaf(1.0)
    (x * 1e8 + x * -1e8 + x * 1.0).sum().backward()
    assert [0.0] == x.grad.tolist()


def test_a_sum_of_gradients_is_kept_by_the_leaf_alone() -> None:
    """A later walk does not change a gradient that two operations passed on as it is."""
    x = _leaf(1.0)
    given = pyqref.tensor([2.0])
    (x + x).backward(given)
    first = x.grad
    (x + x).backward(given)
    assert [8.0] == first.tolist()
    assert [2.0] == given.tolist()


def test_no_gradient_is_asked_for() -> None:
    """Gradients of no tensors: the leaves are left alone."""
    x = _leaf(1.0)
    assert () == pyqref.autograd.grad((x * 2).sum(), [])
    assert x.grad is None


def test_backward_adds_to_grad() -> None:
    """A second walk adds to what the first one left."""
    x = _leaf(1.0)
    (2 * x).sum().backward()
    (3 * x).sum().backward()
    assert [5.0] == x.grad.tolist()


def test_a_long_chain_needs_no_recursion() -> None:
    """20,000 operations in a row."""
    x = _leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y + 0
    y.sum().backward()
    assert [1.0] == x.grad.tolist()


def _rounded(x: Any) -> Any:
    return pyqref.fake_quantize_per_tensor_affine(x, 1.0, 0, 0, 10)


def test_a_chain_to_a_leaf() -> None:
    """Each node has one input: the gradient passes where all of them let it, and is added."""
    x = _leaf(-1.0, 2.0, 30.0)
    for expected in ([0.0, 5.0, 0.0], [0.0, 10.0, 0.0]):
        y = _rounded(_rounded(x))
        y.backward(pyqref.tensor([5.0, 5.0, 5.0]))
        assert expected == x.grad.tolist()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward(pyqref.tensor([5.0, 5.0, 5.0]))


def test_a_chain_that_leads_to_a_fork() -> None:
    """The walk goes on behind the chain, and a retained graph can be walked again."""
    x = _leaf(2.0)
    y = _rounded(_rounded(x * x + 3 * x))
    for expected in ([7.0], [14.0]):
        y.backward(retain_graph=True)
        assert expected == x.grad.tolist()


def test_a_chain_to_a_leaf_with_a_hook() -> None:
    """A hook on a leaf, or on the way, replaces the gradient of a chain."""
    x = _leaf(2.0)
    y = _rounded(x)
    y.register_hook(lambda grad: grad * 3)
    x.register_hook(lambda grad: grad + 1)
    _rounded(y).backward()
    assert [4.0] == x.grad.tolist()


def test_the_graph_is_freed() -> None:
    """A second walk is an error that names the remedy."""
    y = (_leaf(1.0) ** 2).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()


def test_the_graph_can_be_retained() -> None:
    """With retain_graph the walk can be repeated."""
    x = _leaf(3.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert [12.0] == x.grad.tolist()


def test_create_graph_is_refused() -> None:
    """There are no gradients of gradients; the error says so."""
    with pytest.raises(RuntimeError, match="create_graph=True is not supported"):
        _leaf(1.0).sum().backward(create_graph=True)


def test_only_single_numbers_need_no_gradient_argument() -> None:
    """backward() of a vector needs its gradient."""
    with pytest.raises(RuntimeError, match="only for scalar outputs"):
        (_leaf(1.0, 2.0) * 2).backward()


def test_gradient_argument() -> None:
    """backward(gradient) weights the elements."""
    x = _leaf(1.0, 2.0)
    (x * x).backward(pyqref.tensor([1.0, 10.0]))
    assert [2.0, 40.0] == x.grad.tolist()


def test_inputs_argument() -> None:
    """Only the named tensors collect gradients."""
    x, w = _leaf(1.0), _leaf(2.0)
    (x * w).sum().backward(inputs=[w])
    assert x.grad is None
    assert [1.0] == w.grad.tolist()


def test_change_of_a_saved_tensor_is_detected() -> None:
    """Exp keeps its result; changing it makes the derivative wrong."""
    y = _leaf(1.0, 2.0).exp()
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_change_through_a_view_is_detected() -> None:
    """A view shares the version of its base."""
    x = _leaf(1.0, 2.0) * 1
    y = x * x
    x[0].zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_change_is_detected_where_a_view_was_saved() -> None:
    """The convolution keeps a window view of its input, not the array itself."""

    class Halves(Operation):
        def forward(self, x: Any) -> Any:
            self.save(x.reshape(2, -1))
            return x * x

    for x in (_leaf(1.0, 2.0) * 1, (_leaf(1.0, 2.0, 3.0) * 1)[1:]):
        y = apply(Halves, x)
        x.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation: HalvesBackward0"):
            y.sum().backward()


def test_change_of_an_image_of_a_batch_is_detected() -> None:
    """A change is detected even if the columns are a view of an image that is itself a view."""
    image = pyqref.ones(3, 2, 4, 4)[1:2]
    y = nn.Conv2d(2, 5, 1)(image)
    image.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


@pytest.mark.parametrize(
    "change", [lambda x: x.add_(1), lambda x: x[0].add_(1), lambda x: x.zero_()]
)
def test_a_leaf_may_not_be_changed(change: Any) -> None:
    """Neither it nor a view of it; under no_grad it may."""
    x = _leaf(1.0, 2.0)
    with pytest.raises(RuntimeError, match="leaf Variable that requires grad"):
        change(x)
    with pyqref.no_grad():
        change(x)
    assert x.requires_grad


def test_change_in_place_keeps_what_it_needs() -> None:
    """y.mul_(w): the gradient of w is the old y."""
    x, w = _leaf(2.0, 3.0), _leaf(5.0, 7.0)
    y = x * 1
    y.mul_(w)
    y.sum().backward()
    assert [5.0, 7.0] == x.grad.tolist()
    assert [2.0, 3.0] == w.grad.tolist()


def test_change_of_a_view_reaches_the_base() -> None:
    """The base's gradient goes through the change, elsewhere past it."""
    x, w = _leaf(1.0, 2.0, 3.0), _leaf(10.0)
    y = x * 1
    y[1:2].mul_(w)
    (y * pyqref.tensor([1.0, 10.0, 100.0])).sum().backward()
    assert [1.0, 100.0, 100.0] == x.grad.tolist()
    assert [20.0] == w.grad.tolist()


def test_a_view_taken_before_the_change_of_its_base() -> None:
    """The view has the new values and their gradients."""
    x = _leaf(1.0, 2.0)
    y = x * 1
    view = y[0]
    y.mul_(3)
    view.backward()
    assert 3.0 == view.item()
    assert [3.0, 0.0] == x.grad.tolist()


def test_change_of_a_transposed_view() -> None:
    """Strides of view and base differ."""
    x = pyqref.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1
    y.t()[0].mul_(2)
    y.sum().backward()
    assert [[2.0, 1.0, 1.0], [2.0, 1.0, 1.0]] == x.grad.tolist()


def test_assignment_cuts_the_gradient() -> None:
    """The gradient of overwritten elements is zero; the written value has its own."""
    x, w = _leaf(1.0, 2.0), _leaf(4.0)
    y = x * 1
    y[0] = w[0]
    (y * y).sum().backward()
    assert [0.0, 4.0] == x.grad.tolist()
    assert [8.0] == w.grad.tolist()


def test_hooks_run_in_order_and_may_replace() -> None:
    """retain_grad keeps what the hooks made of the gradient."""
    x = _leaf(1.0)
    y = x * 2
    y.retain_grad()
    seen: list[float] = []
    handle = y.register_hook(lambda grad: grad * 3)
    x.register_hook(lambda grad: seen.append(grad.item()))
    y.sum().backward(retain_graph=True)
    assert [6.0] == x.grad.tolist()
    assert [3.0] == y.grad.tolist()
    assert [6.0] == seen
    handle.remove()
    y.sum().backward()
    assert [8.0] == x.grad.tolist()


def test_a_leaf_is_freed_without_the_garbage_collector() -> None:
    """A leaf and the node that collects its gradient form no cycle."""
    import gc
    import weakref

    gc.disable()
    try:
        x = _leaf(1.0)
        (x * 2).sum().backward()
        gone = weakref.ref(x)
        del x
        assert gone() is None
    finally:
        gc.enable()


def test_a_mask_is_kept_whatever_happens_to_the_result() -> None:
    """Its mask is an array of its own: the result may be changed in place before the walk back."""
    x = pyqref.tensor([0.6, 200.0, -1.0], requires_grad=True)
    y = pyqref.fake_quantize_per_tensor_affine(x, 0.5, 0, 0, 255)
    y.mul_(3.0)
    y.sum().backward()
    assert [3.0, 0.0, 0.0] == x.grad.tolist()


def test_relu_of_what_is_no_ordinary_number() -> None:
    """-0.0 and nan stay as they are, as in torch; the gradient passes at nan and not at 0."""
    x = _leaf(-0.0, 0.0, float("nan"), float("inf"), -1.0)
    y = pyqref.relu(x)
    expected = np.float32([-0.0, 0.0, np.nan, np.inf, 0.0])
    assert expected.tobytes() == y.detach().numpy().tobytes()
    y.sum().backward()
    assert [0.0, 0.0, 1.0, 1.0, 0.0] == x.grad.tolist()
