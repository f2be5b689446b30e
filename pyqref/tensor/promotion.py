"""Type in which an operation is computed: the type promotion of ``torch``.

Types have categories: bool < integer < floating. Tensors with axes decide;
0-dimensional tensors and then Python numbers only count where they are of a
higher category, so ``int8 tensor + 300`` stays int8 and ``int8 tensor + 0.5`` is
of the default floating type.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._insides.numpy_errors import ERRORS, IGNORED
from .._typing import Number, TensorOrNumber
from ..dtypes import dtype, float16, float32, float64, from_numpy_dtype
from ..tape.shape import Cast
from .arguments import described
from .base import TensorBase
from .dispatch import apply
from .foreign import kind_of
from .refusal import refuse_quantized, require_input
from .storing import CATEGORY

__all__ = [
    "cast",
    "default_numpy_dtype",
    "fitting",
    "get_default_dtype",
    "promote",
    "promoted",
    "result_type",
    "set_default_dtype",
    "to_floating",
]

_default = float32
#: Smaller numbers are finite in every floating type.
_FINITE = 65504.0
_BOOL, _INT64 = np.dtype(np.bool_), np.dtype(np.int64)


def get_default_dtype() -> dtype:
    """The floating point dtype of tensors made from Python floats; float32 at the start.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.get_default_dtype()
    pyqref.float32
    """
    return _default


def set_default_dtype(d: dtype) -> None:
    """Make tensors of Python floats have dtype ``d``: float16, float32 or float64.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.set_default_dtype(pyqref.float64)
    >>> pyqref.tensor(0.5).dtype
    pyqref.float64
    >>> pyqref.set_default_dtype(pyqref.float32)
    """
    global _default
    if d not in (float16, float32, float64):
        raise TypeError(f"set_default_dtype: only floating point dtypes are possible, got {d!r}")
    _default = d


def default_numpy_dtype() -> np.dtype[Any]:
    """NumPy's name of the default dtype."""
    return _default.numpy_dtype


def _is_plain(value: Any, numpy_dtype: np.dtype[Any]) -> bool:
    """Return True if a number changes no floating type, and is finite in each of them."""
    is_number = type(value) is float or type(value) is int
    return is_number and numpy_dtype.kind == "f" and -_FINITE < value < _FINITE


def promoted(*operands: TensorOrNumber) -> np.dtype[Any]:
    """The NumPy type in which an operation on these tensors and numbers is computed.

    Quantized tensors are refused: their integers have a type that says nothing of the numbers.
    """
    refuse_quantized(*operands)
    return _promoted(*operands)


def _promoted(*operands: Any) -> np.dtype[Any]:
    by_rank: list[np.dtype[Any] | None] = [None, None, None]
    for operand in operands:
        rank, own = _rank_and_type(operand)
        other = by_rank[rank]
        by_rank[rank] = own if other is None else _join(own, other)
    result: np.dtype[Any] | None = None
    for own in reversed(by_rank):
        if own is None:
            continue
        if result is None or CATEGORY[own.kind] >= CATEGORY[result.kind]:
            result = own
    if result is None:
        raise TypeError("an operation needs a tensor or a number")
    return result


def _rank_and_type(operand: Any) -> tuple[int, np.dtype[Any]]:
    if isinstance(operand, TensorBase):
        return (0 if operand._array.ndim else 1), operand._array.dtype
    if isinstance(operand, np.generic):
        return 2, operand.dtype if operand.dtype.kind != "f" else default_numpy_dtype()
    if isinstance(operand, float):
        return 2, _default.numpy_dtype
    if isinstance(operand, bool):
        return 2, _BOOL
    if isinstance(operand, int):
        return 2, _INT64
    raise TypeError(
        f"expected a tensor or a number, got {kind_of(operand)}; use pyqref.tensor(...) to make one"
    )


def _join(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    if a == b:
        return a
    if a.kind == "f" and b.kind != "f":
        return a
    if b.kind == "f" and a.kind != "f":
        return b
    return np.promote_types(a, b)


def promote(*operands: TensorOrNumber) -> list[Any]:
    """The operands in their common type; Python numbers become NumPy scalars."""
    first = operands[0]
    if isinstance(first, TensorBase):
        own = first._array.dtype
        found = []
        for each in operands:
            if isinstance(each, TensorBase):
                if each._array.dtype is not own:
                    break
            elif not _is_plain(each, own):
                break
            else:
                each = own.type(each)
            found.append(each)
        else:
            return found
    for each in operands:
        if isinstance(each, TensorBase) and each.is_quantized:
            return list(operands)
    return cast(_promoted(*operands), *operands)


def cast(numpy_dtype: np.dtype[Any], *operands: Any) -> list[Any]:
    """Each operand in a NumPy type; tensors keep their place in the graph."""
    result: list[Any] = []
    for each in operands:
        if isinstance(each, TensorBase):
            same = each._array.dtype == numpy_dtype
            result.append(each if same else apply(Cast, each, numpy_dtype))
        else:
            result.append(scalar(each, numpy_dtype))
    return result


def scalar(value: float, numpy_dtype: np.dtype[Any]) -> Number:
    """A Python number as a NumPy scalar; integers out of range wrap around."""
    token = ERRORS.set(IGNORED)
    try:
        return numpy_dtype.type(value)
    except (TypeError, ValueError):
        raise TypeError(f"expected a tensor or a number, got {described(value)}") from None
    except OverflowError:
        if isinstance(value, float):
            raise RuntimeError(
                f"value cannot be converted to {from_numpy_dtype(numpy_dtype)} without overflow, "
                f"got {value}"
            ) from None
        if not -(2**63) <= value < 2**64:
            raise RuntimeError(f"an integer must fit 64 bits, got {described(value)}") from None
        bits = 8 * numpy_dtype.itemsize
        return (
            np.array(value % (1 << bits)).astype(f"u{numpy_dtype.itemsize}").astype(numpy_dtype)[()]
        )
    finally:
        ERRORS.reset(token)


def fitting(value: float, numpy_dtype: np.dtype[Any]) -> Number:
    """A Python number that is written into a tensor, as a NumPy scalar; it must fit.

    A negative integer stands for its remainder in an unsigned type, as in ``torch``.

    Raises
    ------
    RuntimeError
        The type cannot hold it.

    Examples
    --------
    >>> fitting(-1, np.dtype(np.uint8)), fitting(2.7, np.dtype(np.int8))
    (np.uint8(255), np.int8(2))
    >>> fitting(300, np.dtype(np.int8))
    Traceback (most recent call last):
        ...
    RuntimeError: value cannot be converted to pyqref.int8 without overflow, got 300
    """
    if _is_plain(value, numpy_dtype):
        return numpy_dtype.type(value)
    if isinstance(value, np.generic):
        value = value.item()
    if not isinstance(value, int | float):
        return scalar(value, numpy_dtype)
    if isinstance(value, bool) or numpy_dtype.kind == "b":
        return numpy_dtype.type(value)
    if numpy_dtype.kind == "f":
        limit = float(np.finfo(numpy_dtype).max)
        fits = abs(value) <= limit or value - value != 0
    else:
        limits = np.iinfo(numpy_dtype)
        whole = isinstance(value, int)
        least = -limits.max if whole and limits.min == 0 else limits.min
        # The largest int64 as a float is one more than it.
        below = value < 2.0**63 if numpy_dtype.itemsize == 8 else value <= limits.max
        fits = least <= value and below
    if not fits:
        raise RuntimeError(
            f"value cannot be converted to {from_numpy_dtype(numpy_dtype)} without overflow, "
            f"got {described(value)}"
        )
    return scalar(value if numpy_dtype.kind == "f" else int(value), numpy_dtype)


def to_floating(*operands: Any) -> list[Any]:
    """Promote, and turn integers and bools into the default floating type."""
    first = operands[0]
    if len(operands) == 1:
        require_input(first)
    if len(operands) == 1 and first._array.dtype.kind == "f":
        return [first]
    if isinstance(first, TensorBase) and first._array.dtype.kind == "f":
        return promote(*operands)
    if any(isinstance(each, TensorBase) and each.is_quantized for each in operands):
        return list(operands)
    common = _promoted(*operands)
    return cast(common if common.kind == "f" else default_numpy_dtype(), *operands)


def result_type(tensor1: TensorOrNumber, tensor2: TensorOrNumber) -> dtype:
    """The dtype in which an operation on two tensors or numbers is computed.

    Of two quantized tensors of one dtype it is that; no other pair with one has a common dtype.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.result_type(pyqref.tensor([1], dtype=pyqref.int8), 2.5)
    pyqref.float32
    """
    tensors = [each for each in (tensor1, tensor2) if isinstance(each, TensorBase)]
    if len(tensors) == 2 and all(each.is_quantized for each in tensors):
        first, second = (each.dtype for each in tensors)
        if first is second:
            return first
    return from_numpy_dtype(promoted(tensor1, tensor2))
