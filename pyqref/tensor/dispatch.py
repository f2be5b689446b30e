"""From tensors to arrays and back: the one door through which every operation goes.

:func:`apply` unwraps the tensors, runs an :class:`~pyqref.tape.Operation` on their
arrays, wraps the result and, where gradients are wanted, hooks the operation into
the graph. :func:`apply_` does the same and stores the result in its first argument.
Quantized tensors take the implementation registered for them with
:func:`quantized_implementation`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import signature
from typing import Any

import numpy as np
from numpy import ndarray

from ..tape import Array, Edge, Operation, is_grad_enabled
from ..tape.memory import meets_partly, overlaps
from ..tape.quiet import ERRORS, IGNORED, quiet
from .arguments import with_own_dtypes
from .base import CopySlices, TensorBase, continues, wrap
from .foreign import no_tensor
from .refusal import undefined_for_quantized
from .wrong_arguments import RAW, explained, is_raw

__all__ = [
    "CATEGORY",
    "apply",
    "broadcast_error",
    "check_in_place",
    "is_recorded",
    "mark_view",
    "quantized",
    "quantized_implementation",
    "require_apart",
    "require_own_places",
    "require_tensor",
    "store",
]

CATEGORY = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}
"""Rank of bool < integer < floating < complex; a result may be stored in its own or above."""


#: In half of the time that a named tuple takes.
_new_edge = tuple.__new__


class _Implementations(dict[type[Operation], Callable[..., Any]]):
    """By operation; one that is not there is not defined for quantized tensors."""

    def __missing__(self, operation: type[Operation]) -> Callable[..., Any]:
        def refuse(*args: Any, **kwargs: Any) -> Any:
            raise undefined_for_quantized(operation.__name__.lower(), *args)

        return refuse


#: What operations do when one of their arguments is a quantized tensor. :func:`apply` finds it for
#: any operation; functions that look at the tensor anyway call it themselves, since its way through
#: :func:`apply` takes as long as a kernel does on a small activation.
quantized = _Implementations()


def quantized_implementation(
    operation: type[Operation],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what ``operation`` does when one of its arguments is a quantized tensor.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.tape.unary import Sinh
    >>> class MySinh(Sinh):
    ...     pass
    >>> @quantized_implementation(MySinh)
    ... def through_float(tensor):
    ...     return apply(Sinh, tensor.dequantize())
    >>> x = pyqref.quantize_per_tensor(pyqref.zeros(1), 1.0, 0, pyqref.quint8)
    >>> apply(MySinh, x).tolist()
    [0.0]
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        quantized[operation] = function
        return function

    return register


def apply(operation: type[Operation], *args: Any, **kwargs: Any) -> Any:
    """Run an operation on tensors.

    Parameters
    ----------
    operation
        What to run.
    *args
        Tensors (gradients may flow to them) and plain values.
    **kwargs
        Plain values.

    Returns
    -------
    Tensor or tuple of Tensor

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.tape.unary import Exp
    >>> apply(Exp, pyqref.zeros(2)).tolist()
    [1.0, 1.0]
    """
    arrays: list[Any] = []
    edges: list[Edge | None] = []
    has_tensor = has_number = False
    for arg in args:
        value, edge = arg, None
        if isinstance(arg, TensorBase):
            has_tensor = True
            if arg.is_quantized:
                token = ERRORS.set(IGNORED)  # as forward_quietly
                try:
                    return quantized[operation](*args, **kwargs)
                except MemoryError as error:
                    raise _no_memory(operation, error) from None
                finally:
                    ERRORS.reset(token)
            if arg._base is not None:
                arg._follow_base()
            value, edge = arg._array, arg._goes_to
        elif isinstance(arg, np.generic):
            has_number = True
        arrays.append(value)
        edges.append(edge)
    if not has_tensor and not (arrays and isinstance(arrays[0], np.generic)):  # promoted numbers
        raise no_tensor(operation.__name__.lower(), "input", arrays[0] if arrays else None)
    if has_number:
        arrays = with_own_dtypes(arrays)
    node = operation()
    recording = any(edges) and is_grad_enabled()
    if recording:
        node.enter(tuple(edges))
    else:
        node.needs = (None,) * len(edges)
    try:
        result = (node.forward if node.is_quiet else node.forward_quietly)(*arrays, **kwargs)
    except RAW as error:
        if not is_raw(error):
            raise
        raise _operation_error(error, operation, arrays, kwargs) from None
    except MemoryError as error:
        raise _no_memory(operation, error) from None
    array = result if type(result) in (ndarray, tuple) else np.asarray(result)
    if type(array) is ndarray and array.dtype.kind not in "fiub":  # of no numbers, such as "a"
        wrong = TypeError(f"elements of {array.dtype}")
        raise _operation_error(wrong, operation, arrays, kwargs)
    if isinstance(result, tuple):
        given = outputs = tuple([_output(node, recording, *each) for each in enumerate(result)])
        node.output_shapes = tuple([(each._array.shape, each._array.dtype) for each in outputs])
    else:
        given = _output(node, recording, 0, result)
        outputs = (given,)
    if operation.is_view:
        for output in outputs:
            mark_view(output, args[0])
    if recording and node.saved and not node.saves_own:
        node.watch([each for each in (*args, *outputs) if isinstance(each, TensorBase)])
    return given


def _no_memory(operation: type[Operation], error: MemoryError) -> RuntimeError:
    return RuntimeError(f"{operation.__name__.lower()}: the memory does not suffice: {error}")


def _output(node: Operation, recording: bool, index: int, result: Any) -> Any:
    """A result as a tensor; gradients of real numbers go to the node."""
    array = result if type(result) is ndarray else np.asarray(result)
    if recording and array.dtype.kind == "f":
        return continues(array, _new_edge(Edge, (node, index)))
    return wrap(array)


def is_recorded(tensor: TensorBase) -> bool:
    """Whether :func:`apply` puts operations on this tensor into the graph.

    Where it does not, a function of small arrays calls the kernel itself: the way through
    :func:`apply` takes as long.

    Examples
    --------
    >>> import pyqref
    >>> is_recorded(pyqref.ones(1)), is_recorded(pyqref.ones(1, requires_grad=True))
    (False, True)
    """
    if tensor._base is not None:
        tensor._follow_base()
    return tensor._goes_to is not None and is_grad_enabled()


def _operation_error(
    error: Exception, operation: type[Operation], arrays: Sequence[Any], kwargs: dict[str, Any]
) -> Exception:
    """What :func:`apply` raises where NumPy cannot compute an operation."""
    if isinstance(error, ValueError):
        found = broadcast_error(error, arrays)
        if found is not error:
            return found
    parameters = list(signature(operation.forward).parameters)[1:]
    names = [*parameters, *(f"argument {n}" for n in range(len(arrays)))][: len(arrays)]
    return explained(
        operation.__name__.lower(), dict(zip(names, arrays, strict=True)) | kwargs, error
    )


def broadcast_error(error: ValueError, operands: Sequence[Any]) -> Exception:
    """NumPy's error in ``torch``'s words if it is one of shapes that do not fit, else itself.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.ones(2) + pyqref.ones(3)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: The size of tensor a (2) must match the size of tensor b (3) at ...
    """
    if "too big" in str(error) or "Maximum allowed dimension" in str(error):
        return RuntimeError(f"the result is too large: {error}")
    shapes = [each.shape for each in operands if isinstance(each, np.ndarray)]
    if "broadcast" not in str(error) or len(shapes) < 2:
        return error
    longest = max(len(shape) for shape in shapes)
    a, b = ((1,) * (longest - len(shape)) + shape for shape in shapes[-2:])
    for axis in reversed(range(longest)):
        if a[axis] != b[axis] and 1 not in (a[axis], b[axis]):
            return RuntimeError(
                f"The size of tensor a ({a[axis]}) must match the size of tensor b ({b[axis]}) "
                f"at non-singleton dimension {axis}"
            )
    return RuntimeError(str(error))


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
    if not is_grad_enabled():
        return
    base = target._base if target._base is not None else target
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
    if CATEGORY[result._array.dtype.kind] > CATEGORY[target._array.dtype.kind]:
        raise RuntimeError(
            f"result type {result.dtype} can't be cast to the desired output type {target.dtype}"
        )
    require_own_places(target)
    if target.is_quantized:
        target._quantizer = result._quantizer
    if target._array.dtype == result._array.dtype:
        np.copyto(target._array, result._array)
    else:
        with quiet():
            np.copyto(target._array, result._array, casting="unsafe")
    target._version[0] += 1
    if not is_grad_enabled():
        return
    edge = None if result.is_leaf else result._goes_to
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


def require_apart(target: TensorBase, *sources: Any) -> None:
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


def mark_view(output: Any, source: Any) -> None:
    """Make ``output`` share its version with ``source`` if it shares its memory.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.zeros(2, 2)
    >>> row = x[0]  # marked as a view of x
    >>> _ = row.fill_(1.0)
    >>> x.tolist(), x._version
    ([[1.0, 1.0], [0.0, 0.0]], [1])
    """
    if output._array.base is None and output._array is not source._array:
        return
    if not np.may_share_memory(output._array, source._array):
        return
    output._base = source._base if source._base is not None else source
    output._version = source._version
    output._epoch = output._base._epoch


def require_tensor(name: str, argument: str, value: Any) -> None:
    """Raise a TypeError if an argument of a function that takes only tensors is none.

    Examples
    --------
    >>> require_tensor("abs", "input", [1.0])
    Traceback (most recent call last):
        ...
    TypeError: abs(): argument 'input' must be Tensor, not list
    """
    if not isinstance(value, TensorBase):
        raise no_tensor(name, argument, value)
