"""From tensors to arrays and back: the one door through which every operation goes.

With a compiler this text is compiled as it stands, with the types of ``dispatch.pxd``. Nothing is
raised here: what is raised stands in :mod:`.failures`, which says why.

:func:`apply` unwraps the tensors, runs an :class:`~pyqref.tape.Operation` on their
arrays, wraps the result and, where gradients are wanted, hooks the operation into
the graph.
Quantized tensors take the implementation registered for them with
:func:`quantized_implementation`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import generic, may_share_memory, ndarray

from .._insides.numpy_errors import ERRORS, IGNORED
from .._kernels.tensors import TensorSlots, continues, is_recording, wrap, wrap_quantized
from ..tape import Edge, Operation
from .arguments import with_own_dtypes
from .failures import Implementations, refuse_no_tensor, refuse_operation, refuse_without_memory
from .wrong_arguments import RAW, is_raw

__all__ = [
    "apply",
    "is_recorded",
    "mark_view",
    "quantized",
    "quantized_implementation",
    "require_tensor",
    "run",
    "view_of_quantized",
]

#: In half of the time that a named tuple takes.
_new_edge = tuple.__new__

#: What operations do when one of their arguments is a quantized tensor. :func:`apply` finds it for
#: any operation; functions that look at the tensor anyway call it themselves, since its way through
#: :func:`apply` takes as long as a kernel does on a small activation.
quantized = Implementations()


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
    return run(operation, args, kwargs)


def run(
    operation: type[Operation], args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
) -> Any:
    """Run an operation as :func:`apply` does; other compiled modules call this without packing.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.tape.unary import Exp
    >>> run(Exp, (pyqref.zeros(2),)).tolist()
    [1.0, 1.0]
    """
    arrays: list[Any] = []
    has_tensor = has_number = recording = False
    dtype = None
    for arg in args:
        value = arg
        if isinstance(arg, TensorSlots):
            tensor: Any = arg
            has_tensor = True
            if tensor._quantizer is not None:
                return _run_quantized(operation, args, kwargs)
            if tensor._base is not None:
                tensor._follow_base()
            value = tensor._array
            dtype = value.dtype
            if tensor._goes_to is not None:
                recording = True
        elif isinstance(arg, generic) and arg.dtype is not dtype:
            has_number = True
        arrays.append(value)
    if not has_tensor and not (arrays and isinstance(arrays[0], generic)):  # promoted numbers
        refuse_no_tensor(operation.__name__.lower(), "input", arrays[0] if arrays else None)
    if has_number:
        arrays = with_own_dtypes(arrays)
    recording = recording and is_recording()
    node: Any = None
    way = operation.way
    function = way[0]
    if function is None or recording or kwargs:
        node = operation()
        if recording:
            node.enter(tuple([_edge_of(arg) for arg in args]))
        else:
            node.needs = (None,) * len(args)
        function = node.forward
    token = ERRORS.set(IGNORED) if way[1] else None
    try:
        result = _result_of(function, arrays, kwargs)
    except RAW as error:
        if not is_raw(error):
            raise
        refuse_operation(error, operation, arrays, kwargs or {})
    except MemoryError as error:
        refuse_without_memory(operation, error)
    finally:
        if token is not None:
            ERRORS.reset(token)
    if type(result) is tuple:
        outputs = tuple([_output(node, recording, n, each) for n, each in enumerate(result)])
        if recording:
            node.output_shapes = tuple([(x._array.shape, x._array.dtype) for x in outputs])
        if way[2]:
            for output in outputs:
                mark_view(output, args[0])
        given = outputs
    else:
        array = result if type(result) is ndarray else np.asarray(result)
        own = array.dtype
        if own is not dtype and own.kind not in "fiub":  # of no numbers, such as "a"
            wrong = TypeError(f"elements of {own}")
            refuse_operation(wrong, operation, arrays, kwargs or {})
        given = _output(node, recording, 0, array)
        if way[2]:
            mark_view(given, args[0])
    if recording and node.saved and not node.saves_own:
        outputs = given if type(given) is tuple else (given,)
        node.watch([each for each in (*args, *outputs) if isinstance(each, TensorSlots)])
    return given


def _result_of(function: Any, arrays: list[Any], kwargs: dict[str, Any] | None) -> Any:
    """The result of a function; of few arguments without a tuple of them."""
    if kwargs:
        return function(*arrays, **kwargs)
    count = len(arrays)
    if count == 1:
        return function(arrays[0])
    if count == 2:
        return function(arrays[0], arrays[1])
    if count == 3:
        return function(arrays[0], arrays[1], arrays[2])
    return function(*arrays)


def _edge_of(arg: Any) -> Any:
    """Return the edge for the gradient of an argument, or None if none is wanted."""
    if isinstance(arg, TensorSlots):
        tensor: Any = arg
        return tensor._goes_to
    return None


def _run_quantized(
    operation: type[Operation], args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> Any:
    token = None if operation.way[2] else ERRORS.set(IGNORED)
    try:
        function = quantized[operation]
        return function(*args, **kwargs) if kwargs else function(*args)
    except MemoryError as error:
        refuse_without_memory(operation, error)
    finally:
        if token is not None:
            ERRORS.reset(token)


def _output(node: Operation, recording: bool, index: int, result: Any) -> Any:
    """A result as a tensor; gradients of real numbers go to the node."""
    array = result if type(result) is ndarray else np.asarray(result)
    if recording and array.dtype.kind == "f":
        return continues(array, _new_edge(Edge, (node, index)))
    return wrap(array)


def is_recorded(tensor: Any) -> bool:
    """Return True if :func:`apply` puts operations on this tensor into the graph.

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
    return tensor._goes_to is not None and is_recording()


def view_of_quantized(source: Any, array: Any, quantizer: Any) -> Any:
    """A quantized tensor of these integers, marked as a view of ``source`` where it is one.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.quantize_per_tensor(pyqref.zeros(2), 1.0, 0, pyqref.quint8)
    >>> view_of_quantized(x, x._array[1:], x._quantizer)._base is x
    True
    """
    result = wrap_quantized(array, quantizer)
    mark_view(result, source)
    return result


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
    array = output._array
    base, owner = array.base, source._array
    if base is None and array is not owner:
        return
    if base is not owner and base is not owner.base and not may_share_memory(array, owner):
        return
    base = source if source._base is None else source._base
    changes = source._changes
    output._base, output._changes = base, source._version if changes is None else changes
    epoch = base._epoch
    if output._epoch != epoch:  # mostly both are 0, and a class says so
        output._epoch = epoch


def require_tensor(name: str, argument: str, value: Any) -> None:
    """Raise a TypeError if an argument of a function that takes only tensors is none.

    Examples
    --------
    >>> require_tensor("abs", "input", [1.0])
    Traceback (most recent call last):
        ...
    TypeError: abs(): argument 'input' must be Tensor, not list
    """
    if not isinstance(value, TensorSlots):
        refuse_no_tensor(name, argument, value)
