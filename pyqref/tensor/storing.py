"""Results that are written over a tensor: what may be, and how the graph goes on.

:func:`~pyqref.tensor.inplace.apply_` runs an operation and stores its result so.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._insides.numpy_errors import quiet
from .._kernels.tensors import is_recording
from .._typing import TensorOrNumber
from ..tape import Array, Edge, Operation
from ..tape.memory import meets_partly, overlaps
from .base import CopySlices, TensorBase

__all__ = ["CATEGORY", "check_in_place", "require_apart", "require_own_places", "store"]

CATEGORY = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
"""Rank of bool < integer < floating < complex; a result may be stored in its own or above."""


def check_in_place(target: TensorBase) -> None:
    """Raise if ``target`` may not be changed in place: it is a leaf that collects gradients.

    Examples
    --------
    >>> import pyqref
    >>> check_in_place(pyqref.nn.Parameter(pyqref.ones(1)))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: a leaf Variable that requires grad is being used in an in-place ...
    """
    if not is_recording():
        return
    base = target._base if target._base is not None else target
    if base._goes_to is None and target._goes_to is None:
        return
    if any(each._goes_to is not None and each.is_leaf for each in (base, target)):
        kind = "a leaf Variable" if base is target else "a view of a leaf Variable"
        raise RuntimeError(
            f"{kind} that requires grad is being used in an in-place operation; "
            "do it under no_grad(), or on a copy"
        )


def store(target: TensorBase, result: TensorBase) -> None:
    """Write ``result`` into the memory of ``target``, which takes over its place in the graph.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.zeros(2)
    >>> store(x, pyqref.tensor([1.0, 2.0]))
    >>> x.tolist()
    [1.0, 2.0]
    """
    if result._array.shape != target._array.shape:
        raise RuntimeError(
            f"output with shape {list(target._array.shape)} doesn't match the broadcast shape "
            f"{list(result._array.shape)}"
        )
    if target.is_quantized or result.is_quantized:
        _require_both_quantized(target, result)
    new, own = result._array.dtype, target._array.dtype
    if new is not own and CATEGORY[new.kind] > CATEGORY[own.kind]:
        raise RuntimeError(
            f"result type {result.dtype} can't be cast to the desired output type {target.dtype}"
        )
    require_own_places(target)
    if target.is_quantized:
        target._quantizer = result._quantizer
    if new == own:
        np.copyto(target._array, result._array)
    else:
        with quiet():
            np.copyto(target._array, result._array, casting="unsafe")
    target._version[0] += 1
    if not is_recording():
        return
    is_leaf = result._goes_to is None and result._base is None
    edge = None if is_leaf or result.is_leaf else result._goes_to
    base = target._base
    if base is None:
        if edge is not None or target._goes_to is not None:
            target._goes_to = edge
            target._epoch += 1
    elif edge is not None or base.requires_grad:
        node, index = edge or Edge(_Constant(), 0)
        change = CopySlices(base._array, target._array, node, index)
        change.enter((base._edge(), *node.edges))
        base._goes_to = Edge(change, 0)
        base._epoch += 1


def require_own_places(target: TensorBase) -> None:
    """Raise if elements of what is written in place share memory, as those of ``expand`` do.

    Examples
    --------
    >>> import pyqref
    >>> require_own_places(pyqref.ones(1).expand(3))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: unsupported operation: more than one element of the written-to tensor ...
    """
    if overlaps(target._array):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a "
            "single memory location; clone() the tensor first"
        )


def require_apart(target: TensorBase, *sources: TensorOrNumber) -> None:
    """Raise if what is written in place is read at another place, by one of the other operands.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.zeros(4)
    >>> require_apart(x, x, x.clone(), 5)
    >>> require_apart(x[1:], x[:-1])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: unsupported operation: some elements of the input tensor and the written-to ...
    """
    for source in sources:
        if isinstance(source, TensorBase) and meets_partly(target._array, source._array):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to "
                "tensor refer to a single memory location; clone() the input first"
            )


def _require_both_quantized(target: Any, result: Any) -> None:
    if not (target.is_quantized and result.is_quantized):
        raise RuntimeError(
            f"a result of {result.dtype} cannot be stored in a tensor of {target.dtype}; "
            "call dequantize() on the quantized one first"
        )


class _Constant(Operation):
    """A value without a gradient, written over a part of a tensor that has one."""

    def backward(self, *grads: Array) -> tuple[Array | None, ...]:
        return ()
