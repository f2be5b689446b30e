"""Functions that change a tensor in place: ``add_ = in_place(add)``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._kernels.parts import parts, under
from .._kernels.tensors import is_recording
from .._typing import Function, TensorOrNumber
from ..tape import Array, Operation
from .base import TensorBase, wrap
from .dispatch import apply
from .storing import check_in_place, require_apart, store
from .wrong_arguments import RAW, explained, is_raw

__all__ = ["apply_", "change", "in_place"]


def in_place(function: Function, elementwise: bool = False, reads_first: bool = False) -> Function:
    """Return a form of the function that stores its result in its first argument.

    The result must have the shape of the first argument, and a type that fits it.

    Parameters
    ----------
    function
        What is computed.
    elementwise
        Whether it takes quantized tensors and works element by element: then part by part.
    reads_first
        Whether other operands may lie in other places of the same memory, as in ``torch``.
    """

    @functools.wraps(function)
    def changed(input: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            check_in_place(input)
            if not reads_first:
                require_apart(input, *args, *kwargs.values())
            if elementwise and input.is_quantized:
                change(input, function, *args, **kwargs)
            else:
                store(input, function(_before(input), *args, **kwargs))
        except RAW as error:
            if not is_raw(error):
                raise
            given = {"input": input} | {f"argument {n}": each for n, each in enumerate(args, 1)}
            raise explained(changed.__name__, given | kwargs, error) from None
        return input

    changed.__name__ = changed.__qualname__ = f"{function.__name__}_"
    changed.__doc__ = f"In-place form of :func:`{function.__name__}`."
    result: Any = changed
    return result


def _before(tensor: Any) -> Any:
    """Return a tensor as before the change, with copied elements if gradients need them."""
    if tensor.is_quantized or not is_recording():
        return tensor
    if tensor._goes_to is None and tensor._base is None:
        return tensor
    edge = tensor._edge()
    if edge is None:
        return tensor
    before: TensorBase = wrap(tensor._array.copy())
    before._goes_to = edge
    return before


def apply_(operation: type[Operation], target: TensorBase, *args: Any, **kwargs: Any) -> Any:
    """Run an operation with ``target`` as first argument and store the result in it.

    Raises
    ------
    RuntimeError
        ``target`` is a leaf (or a view of one) that requires a gradient, or the
        result does not have its shape or fits no element of it.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.tape.unary import Relu
    >>> x = pyqref.tensor([-1.0, 1.0])
    >>> apply_(Relu, x) is x, x.tolist()
    (True, [0.0, 1.0])
    """
    check_in_place(target)
    require_apart(target, *args, *kwargs.values())
    if operation.saves_argument and not target.is_quantized:
        store(target, apply(operation, _before(target), *args, **kwargs))
    else:
        change(target, partial(apply, operation), *args, **kwargs)
    return target


#: Bytes of a quantized tensor that are changed at a time.
_CHANGED = 1 << 18


def change(target: Any, function: Callable[..., Any], *args: TensorOrNumber, **kwargs: Any) -> None:
    """Store ``function(target, *args)``, which works element by element, in ``target``.

    Of a large quantized tensor some at a time, so that no other one is made.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.zeros(2)
    >>> change(x, pyqref.add, pyqref.ones(2))
    >>> x.tolist()
    [1.0, 1.0]
    """
    array = target._array
    whole = not target.is_quantized or array.nbytes <= _CHANGED or not _lies_apart(array)
    if whole or not all(_can_be_cut(each, array) for each in (*args, *kwargs.values())):
        store(target, function(target, *args, **kwargs))
        return
    target._version[0] += 1
    for at in parts(array, most=_CHANGED // array.itemsize):
        part = target._like(array[at])
        some = [_under(at, each) for each in args]
        named = {name: _under(at, each) for name, each in kwargs.items()}
        store(part, function(part, *some, **named))
    target._quantizer = part._quantizer


def _lies_apart(array: Array) -> bool:
    """Return True if the strides show that no two elements share memory."""
    extent = array.itemsize
    for step, length in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if length > 1 and step < extent:
            return False
        extent += step * (length - 1)
    return True


def _under(at: tuple[slice, ...], operand: Any) -> Any:
    """Return the part that meets the places ``at`` of a tensor that is broadcast.

    A number is the same for all places.
    """
    if not isinstance(operand, TensorBase):
        return operand
    tensor: Any = operand
    return tensor[under(at, tensor._array.shape)]


def _can_be_cut(operand: Any, target: Array) -> bool:
    """Return True if each changed part depends only on unchanged parts of the operands."""
    if not isinstance(operand, TensorBase):
        return not isinstance(operand, np.ndarray)
    try:
        shape = np.broadcast_shapes(operand._array.shape, target.shape)
    except ValueError:
        return False
    return shape == target.shape and not np.may_share_memory(operand._array, target)
