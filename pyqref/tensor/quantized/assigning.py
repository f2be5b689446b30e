"""Real numbers written at indices of a quantized tensor, some at a time.

At once they would be as many integers, and NumPy would make eight bytes for each place under a
mask that does not cover the whole array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._insides.numpy_errors import quiet
from ..._kernels.parts import parts
from ...tape import Array
from ..arguments import described
from .quantizer import PerTensorQuantizer

__all__ = ["numbers_of", "put_numbers"]

#: Bytes of integers that are written at once, and elements that are written at a time of others.
_AT_ONCE, _WRITTEN = 1 << 17, 1 << 15
#: Elements of indices that are seen as a whole.
_SEEN = 1 << 14

Key = tuple[Any, ...]


def put_numbers(x: Array, key: Key, numbers: Array, quantizer: PerTensorQuantizer) -> None:
    """Write real numbers to the elements of ``x`` at ``key``.

    Parameters
    ----------
    x
        Integers, which are written to.
    key
        For each axis an index array or ``slice(None)``, or a mask for several; at least one array.
    numbers
        Broadcast against ``x[key]``.
    quantizer
        Whose grid the integers are on.

    Raises
    ------
    ValueError
        The shapes do not fit; nothing is written.

    Examples
    --------
    >>> import pyqref
    >>> q = pyqref.quantize_per_tensor(pyqref.zeros(2, 3), 0.5, 1, pyqref.quint8)
    >>> put_numbers(q._array, (slice(None), np.array([0, 2])), np.ones(2), q._quantizer)
    >>> q._array.tolist()
    [[3, 1, 3], [3, 1, 3]]
    """
    arrays = [each for each in key if isinstance(each, np.ndarray)]
    under_mask = len(arrays) == 1 and arrays[0].dtype == np.bool_
    covering = under_mask and arrays[0].ndim == x.ndim
    short = covering or all(each.size <= _SEEN for each in arrays)
    if short and numbers.size * x.itemsize <= _AT_ONCE:
        x[key] = _integers(numbers, quantizer)
    elif under_mask:
        _put_under_mask(x, key, numbers, quantizer)
    else:
        _put_at_places(x, key, numbers, quantizer)


def _integers(numbers: Array, quantizer: PerTensorQuantizer) -> Array:
    with quiet():  # a number past float32's largest is infinite there
        return quantizer.quantize(np.asarray(numbers, np.float32, "C"))


def _in_order(shape: tuple[int, ...], most: int) -> Any:
    """Yield the places of the parts of an array of this shape, in C order."""
    return parts(np.broadcast_to(np.False_, shape), most=most)


def _spread(numbers: Array, shape: tuple[int, ...]) -> Array:
    while numbers.ndim > len(shape) and numbers.shape[0] == 1:
        numbers = numbers[0]
    return np.broadcast_to(numbers, shape)


def _put_under_mask(x: Array, key: Key, numbers: Array, quantizer: PerTensorQuantizer) -> None:
    """Some elements of the mask at a time, and the numbers that lie under them."""
    place = next(i for i, each in enumerate(key) if isinstance(each, np.ndarray))
    mask, before = key[place], (slice(None),) * place
    chosen = int(np.count_nonzero(mask))
    spread = _spread(numbers, (*x.shape[:place], chosen, *x.shape[place + mask.ndim :]))
    first = 0
    for at in _in_order(mask.shape, _SEEN):
        part, some = x[(*before, *at)], mask[at]
        last = first + int(np.count_nonzero(some))
        under = spread[(*before, slice(first, last))]
        if under.size <= _WRITTEN:
            part[(*before, some)] = _integers(under, quantizer)
        else:
            _put_at_places(part, (*before, some, *key[place + 1 :]), under, quantizer)
        first = last


def _put_at_places(x: Array, key: Key, numbers: Array, quantizer: PerTensorQuantizer) -> None:
    """Some of what is chosen at a time; places under masks beside other indices are made."""
    whole = tuple(
        each
        for item in key
        for each in (item.nonzero() if getattr(item, "dtype", None) == np.bool_ else (item,))
    )
    arrays = [i for i, each in enumerate(whole) if isinstance(each, np.ndarray)]
    places = dict(zip(arrays, np.broadcast_arrays(*(whole[i] for i in arrays)), strict=True))
    shape = places[arrays[0]].shape
    lengths = tuple(n for i, n in enumerate(x.shape) if i not in places)
    # The axes of the indices stand where these do, or if others are between them, in front.
    start = arrays[0] if arrays[-1] - arrays[0] == len(arrays) - 1 else 0
    stop = start + len(shape)
    spread = _spread(numbers, (*lengths[:start], *shape, *lengths[start:]))
    for at in _in_order(spread.shape, _WRITTEN):
        others = iter(at[:start] + at[stop:])
        some = [places[i][at[start:stop]] if i in places else next(others) for i in range(x.ndim)]
        x[tuple(some)] = _integers(spread[at], quantizer)


def numbers_of(value: object, ndim: int) -> Array:
    """Real numbers that are assigned, without axes of length 1 in front of ``ndim`` others.

    Examples
    --------
    >>> numbers_of([[1, 2]], 1)
    array([1, 2])
    """
    try:
        numbers = np.asarray(getattr(value, "_array", value))
        if numbers.dtype.kind == "c":
            raise TypeError("a complex number is not a real number")
        if numbers.dtype.kind not in "biuf":  # what is no number is said before any is written
            numbers = numbers.astype(np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        wanted = f"assigned values must be numbers, got {described(value)}"
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{wanted}: {error}") from None
    while numbers.ndim > ndim and numbers.shape[0] == 1:
        numbers = numbers[0]
    return numbers
