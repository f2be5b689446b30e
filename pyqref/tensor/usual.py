"""The arguments that most calls have, read quickly: plain integers, slices, tensors of one dtype.

With a compiler this text is compiled as it stands, with the types of ``usual.pxd``. Nothing is
raised here: of arguments that are not as usual, these functions give None, and the functions that
asked read them in full, or say what is wrong with them.
"""

from __future__ import annotations

from typing import Any

from .._kernels.tensors import TensorSlots
from ..tape import Operation
from .dispatch import run
from .promotion import promote, to_floating

__all__ = [
    "apply_to_floating",
    "are_alike",
    "axis_to_join",
    "combine",
    "cut",
    "exchanged",
    "own_numbers",
    "usual_axes",
    "usual_expansion",
    "usual_key",
    "usual_shape",
]

#: Smaller numbers are finite in every floating type.
_FINITE = 65504.0
_WHOLE = slice(None)


def combine(operation: type[Operation], input: Any, other: Any) -> Any:
    """Run an operation on two tensors, or a tensor and a number, in their common type.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.tape.elementwise import Add
    >>> combine(Add, pyqref.ones(2), 3).tolist()
    [4.0, 4.0]
    """
    if isinstance(input, TensorSlots):
        first: Any = input
        dtype = first._array.dtype
        if isinstance(other, TensorSlots):
            second: Any = other
            if second._array.dtype is dtype:
                return run(operation, (input, other))
        elif type(other) is float and dtype.kind == "f" and -_FINITE < other < _FINITE:
            return run(operation, (input, dtype.type(other)))
    return run(operation, tuple(promote(input, other)))


def apply_to_floating(operation: type[Operation], input: Any) -> Any:
    """Run an operation on a tensor; integers and bools become the default floating type.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.tape.unary import Sqrt
    >>> apply_to_floating(Sqrt, pyqref.tensor([4])).tolist()
    [2.0]
    """
    if isinstance(input, TensorSlots):
        tensor: Any = input
        if tensor._array.dtype.kind == "f":
            return run(operation, (input,))
    return run(operation, tuple(to_floating(input)))


def own_numbers(input: Any, numbers: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """Plain numbers in the floating type of a tensor; None among them stays, else is the result.

    Examples
    --------
    >>> import pyqref
    >>> own_numbers(pyqref.ones(2), (3, None)), own_numbers(pyqref.arange(2), (3.0,))
    ((np.float32(3.0), None), None)
    """
    if not isinstance(input, TensorSlots):
        return None
    tensor: Any = input
    dtype = tensor._array.dtype
    if dtype.kind != "f":
        return None
    found: list[Any] = []
    for number in numbers:
        if number is not None:
            if type(number) not in (int, float) or not -_FINITE < number < _FINITE:
                return None
            number = dtype.type(number)
        found.append(number)
    return tuple(found)


def cut(operation: type[Operation], input: Any, axis: int, places: Any) -> tuple[Any, ...]:
    """The views of a tensor at some places along an axis, each an integer or a slice.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.tape.indexing import Slice
    >>> [each.tolist() for each in cut(Slice, pyqref.arange(3), 0, (2, slice(2)))]
    [2, [0, 1]]
    """
    before = (_WHOLE,) * axis
    return tuple([run(operation, (input, (*before, place))) for place in places])


def usual_shape(shape: tuple[Any, ...], size: int) -> tuple[int, ...] | None:
    """The shape of so many elements from ``f(2, 3)``, ``f(2, -1)`` or ``f((2, 3))``; else None.

    Examples
    --------
    >>> usual_shape((2, -1), 6), usual_shape(((2, 3),), 6), usual_shape((4, -1), 6)
    ((2, 3), (2, 3), None)
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    known, unknown = 1, -1
    for position, length in enumerate(shape):
        if type(length) is not int:
            return None
        if length >= 0:
            known *= length
        elif length == -1 and unknown < 0:
            unknown = position
        else:
            return None
    if unknown < 0:
        return shape if known == size else None
    if known == 0 or size % known:
        return None
    return (*shape[:unknown], size // known, *shape[unknown + 1 :])


def usual_expansion(own: tuple[int, ...], shape: tuple[Any, ...]) -> tuple[int, ...] | None:
    """The shape of ``expand(2, 3)``, ``expand(2, -1)`` or ``expand((2, 3))``; else None.

    Examples
    --------
    >>> usual_expansion((1, 3), (2, -1)), usual_expansion((2, 3), (4, 3))
    ((2, 3), None)
    """
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = tuple(shape[0])
    extra = len(shape) - len(own)
    if extra < 0:
        return None
    found: list[int] = []
    for position, length in enumerate(shape):
        if type(length) is not int:
            return None
        present = own[position - extra] if position >= extra else 1
        if length == -1 and position >= extra:
            length = present
        elif length < 0 or present not in (1, length):
            return None
        found.append(length)
    return tuple(found)


def are_alike(tensors: Any) -> bool:
    """Return True for a list of tensors that share one dtype and one shape.

    Examples
    --------
    >>> import pyqref
    >>> are_alike([pyqref.ones(2), pyqref.ones(2)]), are_alike([pyqref.ones(2), pyqref.ones(3)])
    (True, False)
    """
    if type(tensors) not in (list, tuple) or not tensors:
        return False
    shape = dtype = None
    for each in tensors:
        if not isinstance(each, TensorSlots):
            return False
        tensor: Any = each
        array = tensor._array
        if dtype is None:
            shape, dtype = array.shape, array.dtype
        elif array.dtype is not dtype or array.shape != shape:
            return False
    return True


def axis_to_join(tensors: Any, dim: Any) -> int | None:
    """The axis of ``cat(tensors, dim)``, of tensors of one dtype that fit together; else None.

    Examples
    --------
    >>> import pyqref
    >>> axis_to_join([pyqref.ones(2, 1), pyqref.ones(2, 3)], -1)
    1
    """
    if type(dim) is not int or type(tensors) not in (list, tuple) or not tensors:
        return None
    first = dtype = None
    axis = 0
    for each in tensors:
        if not isinstance(each, TensorSlots):
            return None
        tensor: Any = each
        array = tensor._array
        shape = array.shape
        if first is None:
            first, dtype, axis = shape, array.dtype, dim if dim >= 0 else dim + len(shape)
            if not 0 <= axis < len(shape) or shape == (0,):
                return None
        elif array.dtype is not dtype or (shape != first and not _fit(shape, first, axis)):
            return None
    return axis


def _fit(shape: tuple[int, ...], first: tuple[int, ...], axis: int) -> bool:
    if len(shape) != len(first) or shape == (0,):
        return False
    return shape[:axis] == first[:axis] and shape[axis + 1 :] == first[axis + 1 :]


def usual_axes(dims: tuple[Any, ...], ndim: int) -> tuple[int, ...] | None:
    """Different axes from ``f(1, 0)``, ``f(1, -2)`` or ``f((1, 0))``, none negative; else None.

    Examples
    --------
    >>> usual_axes((1, -2), 2), usual_axes((1, 1), 2)
    ((1, 0), None)
    """
    if len(dims) == 1 and isinstance(dims[0], (tuple, list)):
        dims = tuple(dims[0])
    axes: list[int] = []
    for axis in dims:
        if type(axis) is not int or not -ndim <= axis < ndim:
            return None
        if axis < 0:
            axis += ndim
        if axis in axes:
            return None
        axes.append(axis)
    return tuple(axes)


def exchanged(ndim: int, first: Any, second: Any) -> tuple[int, ...] | None:
    """All axes in order but for two, each in the place of the other; None for unusual ones.

    Examples
    --------
    >>> exchanged(3, 0, -1), exchanged(3, 0, 3)
    ((2, 1, 0), None)
    """
    if type(first) is not int or type(second) is not int:
        return None
    if not (-ndim <= first < ndim and -ndim <= second < ndim):
        return None
    axes = list(range(ndim))
    axes[first], axes[second] = axes[second], axes[first]
    return tuple(axes)


def usual_key(shape: tuple[int, ...], key: Any) -> tuple[Any, ...] | None:
    """Return the part of each axis that ``x[key]`` takes, or None for an unusual key.

    A usual key has only integers, slices and None.

    Examples
    --------
    >>> usual_key((4, 8), 1), usual_key((4, 8), 4)
    ((1, slice(None, None, None)), None)
    """
    found: list[Any] = []
    used, ndim = 0, len(shape)
    for item in key if type(key) is tuple else (key,):
        if item is not None:
            if used == ndim:
                return None
            if type(item) is slice:
                if item.step is not None:
                    return None
                if item.start is not None and type(item.start) is not int:
                    return None
                if item.stop is not None and type(item.stop) is not int:
                    return None
            else:
                length = shape[used]
                if type(item) is not int or not -length <= item < length:
                    return None
            used += 1
        found.append(item)
    while used < ndim:
        found.append(_WHOLE)
        used += 1
    return tuple(found)
