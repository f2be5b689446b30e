"""``backward`` and ``grad`` of several tensors at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._typing import Tensor
from ..tape import run_backward
from ..tensor.base import TensorBase, wrap
from ..tensor.gradient import backward as _backward_of_one
from ..tensor.gradient import gradient_roots, refuse_create_graph

__all__ = ["backward", "grad"]


def _sequence(value: Any) -> Sequence[Any]:
    return [value] if isinstance(value, TensorBase) else list(value)


def backward(
    tensors: Sequence[Tensor],
    grad_tensors: object = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: tuple[Any, ...] | None = None,
) -> None:
    """Add the gradients of ``tensors`` to the ``grad`` of the leaves they were made from.

    Parameters
    ----------
    tensors
        A tensor or several.
    grad_tensors
        Their gradients; may be left out for tensors of one element.
    retain_graph, create_graph, inputs
        As in :meth:`pyqref.Tensor.backward`.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([3.0], requires_grad=True)
    >>> pyqref.autograd.backward([x.square().sum()])
    >>> x.grad
    tensor([6.])
    """
    refuse_create_graph(create_graph)
    results = _sequence(tensors)
    given = None if grad_tensors is None else _sequence(grad_tensors)
    if inputs is not None and len(results) == 1:
        first = None if given is None else given[0]
        _backward_of_one(results[0], first, retain_graph, create_graph, inputs)
        return
    roots = gradient_roots(results, given)
    run_backward(roots, retain_graph=bool(retain_graph))


def grad(
    outputs: Tensor,
    inputs: Sequence[Tensor] | Tensor,
    grad_outputs: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Any, ...]:
    """Gradients of ``outputs`` with respect to ``inputs``; no ``grad`` attribute is changed.

    Parameters
    ----------
    outputs, inputs
        A tensor or several.
    grad_outputs
        Gradients of the outputs; may be left out for tensors of one element.
    retain_graph
        Keep the graph, to walk it again.
    allow_unused
        Give None for an input that the outputs do not depend on, instead of an error.
    materialize_grads
        Give zeros instead of None.

    Raises
    ------
    RuntimeError
        An input requires no gradient, or was not used.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([3.0], requires_grad=True)
    >>> pyqref.autograd.grad(x.square().sum(), [x])
    (tensor([6.]),)
    """
    refuse_create_graph(create_graph)
    if is_grads_batched:
        raise RuntimeError("grad: is_grads_batched=True is not supported; loop over the gradients")
    wanted = _sequence(inputs)
    edges = [each._edge() for each in wanted]
    if any(edge is None for edge in edges):
        raise RuntimeError("One of the differentiated Tensors does not require grad")
    given = None if grad_outputs is None else _sequence(grad_outputs)
    roots = gradient_roots(_sequence(outputs), given)
    found = run_backward(roots, retain_graph=bool(retain_graph), capture=edges)
    result = []
    for each, array in zip(wanted, found, strict=True):
        if array is None and materialize_grads:
            result.append(wrap(each._array * 0))
        elif array is None and not allow_unused:
            raise RuntimeError(
                "One of the differentiated Tensors appears to not have been used in the graph. "
                "Set allow_unused=True if this is the desired behavior."
            )
        else:
            result.append(None if array is None else wrap(array.copy()))
    return tuple(result)
