"""Methods of a tensor that concern gradients: ``backward``, ``detach``, hooks."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .._typing import Tensor
from ..tape import Array, Edge, run_backward
from .base import TensorBase, root_of, wrap
from .wrong_arguments import explains_errors

__all__ = ["backward", "detach", "gradient_roots", "register_hook", "retain_grad"]


def gradient_roots(
    tensors: Sequence[Any], grad_tensors: Sequence[Any] | None
) -> list[tuple[Edge, Array]]:
    """Return the start of the walk: each tensor's edge, and its gradient (1 for one number).

    Raises
    ------
    RuntimeError
        A tensor requires no gradient; or has several elements and no gradient was given;
        or the gradient has another shape.
    """
    grads = [None] * len(tensors) if grad_tensors is None else list(grad_tensors)
    if len(grads) != len(tensors):
        raise RuntimeError(f"got {len(tensors)} tensors and {len(grads)} gradients")
    pairs = enumerate(zip(tensors, grads, strict=True))
    return [_root(index, tensor, grad) for index, (tensor, grad) in pairs]


def _root(index: int, tensor: Any, grad: Any) -> tuple[Edge, Array]:
    edge = tensor._edge()
    if edge is None:
        raise RuntimeError(
            f"element {index} of tensors does not require grad and does not have a grad_fn"
        )
    own = tensor._array
    if grad is None:
        if own.size != 1:
            raise RuntimeError("grad can be implicitly created only for scalar outputs")
        return edge, np.ones(own.shape, dtype=own.dtype)
    array = grad._array
    if array.shape != own.shape:
        raise RuntimeError(
            f"Mismatch in shape: grad_output[{index}] has a shape of "
            f"{grad.shape} and output[{index}] has a shape of {tensor.shape}."
        )
    return edge, array


def refuse_create_graph(create_graph: bool) -> None:
    """Gradients of gradients are not offered."""
    if create_graph:
        raise RuntimeError(
            "create_graph=True is not supported: pyqref records no graph of the backward pass, so "
            "gradients cannot be differentiated again; use finite differences of gradients"
        )


@explains_errors
def backward(
    tensor: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Sequence[Tensor] | Tensor | None = None,
) -> None:
    """Add the gradients of ``tensor`` to the ``grad`` of the leaves it was made from.

    Parameters
    ----------
    gradient
        Gradient of some final number with respect to ``tensor``; may be left out if
        ``tensor`` has one element.
    retain_graph
        Keep the graph, to walk it again.
    create_graph
        Must be false.
    inputs
        Collect only the gradients of these tensors.
    """
    if create_graph:
        refuse_create_graph(create_graph)
    roots = [root_of(tensor, gradient) or _root(0, tensor, gradient)]
    if inputs is None:
        run_backward(roots, retain_graph=retain_graph)
        return
    wanted = [inputs] if isinstance(inputs, TensorBase) else list(inputs)
    if not wanted:
        raise RuntimeError("'inputs' argument to backward cannot be empty.")
    edges = []
    for each in wanted:
        edge = each._edge()
        if edge is None:
            raise RuntimeError("One of the differentiated Tensors does not require grad")
        edges.append(edge)
    found = run_backward(roots, retain_graph=retain_graph, capture=edges)
    for each, grad in zip(wanted, found, strict=True):
        if grad is not None:
            each._accumulate_grad(grad)


def detach(input: Tensor) -> Tensor:
    """Return a tensor with the same memory, outside the graph."""
    return input._alias()


def detach_(input: Tensor) -> Tensor:
    """Take the tensor out of the graph."""
    if input._base is not None:
        raise RuntimeError("Can't detach views in-place. Use detach() instead.")
    input._goes_to = None
    input._epoch += 1
    return input


@explains_errors
def requires_grad_(input: Tensor, requires_grad: bool = True) -> Tensor:
    """Set ``requires_grad`` and return the tensor."""
    input.requires_grad = requires_grad
    return input


class RemovableHandle:
    """Handle that :func:`register_hook` returns; ``remove()`` removes the hook."""

    def __init__(self, hooks: list[Any], hook: Callable[..., Any]) -> None:
        self._hooks, self._hook = hooks, hook

    def remove(self) -> None:
        """Take the hook away; a second call does nothing."""
        if self._hook in self._hooks:
            self._hooks.remove(self._hook)

    def __enter__(self) -> RemovableHandle:  # noqa: PYI034  (Self needs Python 3.11)
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def _hooks_of(input: Any) -> list[Any]:
    edge = input._edge()
    if edge is None:
        raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
    if input.is_leaf:
        if input._hooks is None:
            input._hooks = {}
        edge.node.hooks = input._hooks
        return input._hooks.setdefault(0, [])
    if edge.node.hooks is None:
        edge.node.hooks = {}
    return edge.node.hooks.setdefault(edge.output_index, [])


def register_hook(input: Tensor, hook: Callable[[Any], Any]) -> RemovableHandle:
    """Call ``hook(grad)`` when this tensor's gradient is known; what it returns replaces it."""

    def on_array(grad: Array) -> Array | None:
        replaced = hook(wrap(grad))
        if replaced is None:
            return None
        if not isinstance(replaced, TensorBase):
            raise TypeError(f"expected a Tensor, but hook returned {type(replaced).__name__}")
        if replaced._array.shape != grad.shape:
            raise RuntimeError(
                f"hook has changed the size of the gradient from {list(grad.shape)} to "
                f"{list(replaced._array.shape)}"
            )
        array: Array = replaced._array
        return array

    hooks = _hooks_of(input)
    hooks.insert(len(hooks) - input._retains_grad, on_array)
    return RemovableHandle(hooks, on_array)


def retain_grad(input: Tensor) -> None:
    """Collect the gradient in ``grad`` although the tensor is no leaf."""
    if not input.requires_grad:
        raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
    if input.is_leaf or input._retains_grad:
        return
    input._retains_grad = True

    tensor = weakref.ref(input)  # the node holds its hooks, and the tensor holds the node

    def keep(grad: Array) -> None:
        kept = tensor()
        if kept is not None:
            kept._accumulate_grad(grad)

    _hooks_of(input).append(keep)
