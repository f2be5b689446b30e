"""Derivatives of functions, as functions of functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tape import enable_grad
from ..tensor import Tensor, ones_like, stack, zeros_like
from ..tensor.gradient import refuse_create_graph
from .differentiate import grad

__all__ = ["jacobian", "jvp", "vjp"]


def _run(func: Callable[..., Any], inputs: Any) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Inputs that record, and what the function gives for them."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    for number, each in enumerate(given):
        if not isinstance(each, Tensor) or not each.is_floating_point():
            raise TypeError(
                f"inputs must be a floating point Tensor, or a tuple of such, "
                f"got {type(each).__name__} at {number}"
            )
    with enable_grad():
        leaves = tuple(each.detach().requires_grad_() for each in given)
        outputs = func(*leaves)
    found = outputs if isinstance(outputs, tuple) else (outputs,)
    if not all(isinstance(each, Tensor) for each in found):
        kinds = [type(each).__name__ for each in found]
        raise TypeError(f"func must return a Tensor, or a tuple of such, got {kinds}")
    return leaves, found


def _rows(output: Tensor, leaves: tuple[Tensor, ...], strict: bool) -> list[Tensor]:
    """The derivatives of one output by each input: shape of the output, then of the input."""
    unit = zeros_like(output)
    rows: list[list[Tensor]] = [[] for _ in leaves]
    for index in range(output.numel()):
        unit.reshape(-1)[index] = 1.0
        for row, each in zip(rows, _pulled(output, unit, leaves, strict), strict=True):
            row.append(each)
        unit.reshape(-1)[index] = 0.0
    return [
        stack(row).reshape(*output.shape, *leaf.shape)
        if row
        else leaf.new_zeros((*output.shape, *leaf.shape))
        for row, leaf in zip(rows, leaves, strict=True)
    ]


def _pulled(
    output: Tensor, weights: Tensor, leaves: tuple[Tensor, ...], strict: bool
) -> list[Tensor]:
    """Pull ``weights`` at an output back to the inputs."""
    found = [None] * len(leaves)
    if output.requires_grad:
        found = list(grad(output, leaves, weights.clone(), retain_graph=True, allow_unused=True))
    for number, each in enumerate(found):
        if each is None and strict:
            raise RuntimeError(
                f"the output of func does not depend on input {number}; "
                "leave strict out to count its derivative as 0"
            )
    return [
        zeros_like(leaf) if each is None else each for each, leaf in zip(found, leaves, strict=True)
    ]


def vjp(
    func: Callable[..., Any],
    inputs: Tensor,
    v: Tensor | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    r"""Return a function's result, and a vector times its Jacobian: :math:`v^T J`.

    Parameters
    ----------
    func
        Takes the inputs, and returns a tensor or a tuple of tensors.
    inputs
        A tensor or a tuple of tensors.
    v
        As the output; may be None for an output of one element.
    create_graph
        Must be False: gradients are not recorded.
    strict
        Raise an error for an input that the output does not depend on.

    Raises
    ------
    RuntimeError
        If ``v`` is None and the output has several elements, or ``strict`` finds such an input.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([1.0, 2.0])
    >>> vjp(lambda x: x * x, x, pyqref.ones(2))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    refuse_create_graph(create_graph)
    leaves, outputs = _run(func, inputs)
    weights = _weights(v, outputs)
    total = [zeros_like(leaf) for leaf in leaves]
    for output, weight in zip(outputs, weights, strict=True):
        pulled = _pulled(output, weight, leaves, strict)
        total = [one + other for one, other in zip(total, pulled, strict=True)]
    values = tuple(each.detach() for each in outputs)
    return (
        values if len(values) > 1 else values[0],
        tuple(total) if isinstance(inputs, tuple) else total[0],
    )


def _weights(v: Any, likes: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """The vector, as a tuple of tensors of the shapes of others."""
    if v is None:
        if len(likes) > 1 or likes[0].numel() > 1:
            raise RuntimeError(
                "v may be None only for one element; pass a tensor of the shape "
                f"{tuple(likes[0].shape)}"
            )
        return (ones_like(likes[0]),)
    given = v if isinstance(v, tuple) else (v,)
    shapes = [tuple(getattr(each, "shape", ())) for each in given]
    expected = [tuple(each.shape) for each in likes]
    if shapes != expected:
        raise RuntimeError(f"v must have the shapes {expected}, got {shapes}")
    return given


def jacobian(
    func: Callable[..., Any],
    inputs: Tensor,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Tensor | tuple[Any, ...]:
    r"""All derivatives of a function: :math:`J_{ij} = \partial y_i / \partial x_j`.

    Parameters
    ----------
    func, inputs, create_graph, strict
        See :func:`vjp`.
    vectorize
        Without effect on the result, nor on the speed: one backward pass runs for each element
        of the output.
    strategy
        Must be ``"reverse-mode"``.

    Returns
    -------
    Tensor or tuple
        Of the shape of the output followed by that of the input; nested tuples for several
        outputs and inputs.

    Raises
    ------
    ValueError
        If ``strategy`` is another.

    Examples
    --------
    >>> import pyqref
    >>> jacobian(lambda x: x * x, pyqref.tensor([1.0, 2.0])).tolist()
    [[2.0, 0.0], [0.0, 4.0]]
    """
    refuse_create_graph(create_graph)
    if strategy != "reverse-mode":
        raise ValueError(
            f"strategy must be 'reverse-mode', got {strategy!r}; pyqref has no forward mode"
        )
    leaves, outputs = _run(func, inputs)
    found = []
    for output in outputs:
        rows = _rows(output, leaves, strict)
        found.append(tuple(rows) if isinstance(inputs, tuple) else rows[0])
    return tuple(found) if len(found) > 1 else found[0]


def jvp(
    func: Callable[..., Any],
    inputs: Tensor,
    v: Tensor | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    r"""Return a function's result, and its Jacobian times a vector: :math:`J v`.

    Parameters
    ----------
    func, inputs, create_graph, strict
        See :func:`vjp`.
    v
        As the inputs; may be None for an input of one element.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([1.0, 2.0])
    >>> jvp(lambda x: (x * x).sum(), x, pyqref.ones(2))
    (tensor(5.), tensor(6.))
    """
    refuse_create_graph(create_graph)
    leaves, outputs = _run(func, inputs)
    weights = _weights(v, leaves)
    values, found = [], []
    for output in outputs:
        pushed = zeros_like(output).detach()
        for rows, weight in zip(_rows(output, leaves, strict), weights, strict=True):
            flat = rows.reshape(output.numel(), -1) @ weight.reshape(-1)
            pushed = pushed + flat.reshape(output.shape)
        values.append(output.detach())
        found.append(pushed)
    if len(found) > 1:
        return tuple(values), tuple(found)
    return values[0], found[0]
