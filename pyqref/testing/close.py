"""``assert_close``: compare results in tests, with tolerances that fit their types."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pyqref._typing import Tensor

from ..dtypes import dtype, float16, float32, float64
from ..tensor.base import TensorBase, wrap

__all__ = ["assert_close"]

#: Of the larger of the two dtypes: relative, absolute.
_TOLERANCES: dict[dtype, tuple[float, float]] = {
    float16: (1e-3, 1e-5),
    float32: (1.3e-6, 1e-5),
    float64: (1e-7, 1e-7),
}


def assert_close(
    actual: Tensor,
    expected: Tensor,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    r"""Raise unless two tensors, numbers, or lists and dicts of them, are close.

    .. math:: |actual - expected| \le atol + rtol \cdot |expected|

    for every element. By default the tolerances are those of the dtype: relative 1e-3, 1.3e-6,
    1e-7 and absolute 1e-5, 1e-5, 1e-7 for float16, float32 and float64, of the two the larger
    one; 0 for integers. Quantized tensors are compared dequantized.

    Parameters
    ----------
    actual, expected
        What to compare.
    allow_subclasses
        Whether two types of tensors may differ.
    rtol, atol
        Tolerances; give both or none.
    equal_nan
        Whether nan is close to nan.
    check_device, check_layout
        Of no use here: there is one of each.
    check_dtype
        Whether dtypes must be equal.
    check_stride
        Whether strides must be equal.
    msg
        What to say instead, or a function from the message to it.

    Raises
    ------
    AssertionError
        They are not close; the message says where, and by how much.
    ValueError
        One tolerance is given without the other.
    TypeError
        Something else than tensors, numbers, lists and dicts is compared.

    Notes
    -----
    Source: documentation of ``torch.testing.assert_close``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.testing import assert_close
    >>> assert_close(pyqref.tensor([1.0, 2.0]), pyqref.tensor([1.0, 2.0 + 1e-6]))
    >>> assert_close(pyqref.tensor([1.0, 2.0]), pyqref.tensor([1.0, 2.5]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    AssertionError: Tensor-likes are not close!
    <BLANKLINE>
    Mismatched elements: 1 / 2 (50.0%)
    Greatest absolute difference: 0.5 at index (1,) (up to 1e-05 allowed)
    Greatest relative difference: 0.2... at index (1,) (up to 1.3e-06 allowed)
    """
    if (rtol is None) != (atol is None):
        raise ValueError(f"assert_close: give both rtol and atol, or none, got {rtol} and {atol}")
    tolerances = None if rtol is None or atol is None else (float(rtol), float(atol))
    try:
        _compare(
            actual, expected, "", tolerances, equal_nan, check_dtype, check_stride, allow_subclasses
        )
    except AssertionError as error:
        if msg is None:
            raise
        raise AssertionError(msg(str(error)) if callable(msg) else msg) from None


def _compare(
    actual: Any,
    expected: Any,
    place: str,
    tolerances: tuple[float, float] | None,
    equal_nan: bool,
    check_dtype: bool,
    check_stride: bool,
    allow_subclasses: bool,
) -> None:
    rest: Any = (tolerances, equal_nan, check_dtype, check_stride, allow_subclasses)
    where = f"\n\nThe failure occurred for item {place}" if place else ""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        if set(actual) != set(expected):
            raise AssertionError(
                f"The keys of the mappings do not match: {sorted(map(str, actual))} and "
                f"{sorted(map(str, expected))}{where}"
            )
        for key in actual:
            _compare(actual[key], expected[key], f"{place}[{key!r}]", *rest)
        return
    if _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            raise AssertionError(
                f"The length of the sequences mismatch: {len(actual)} != {len(expected)}{where}"
            )
        for index, pair in enumerate(zip(actual, expected, strict=True)):
            _compare(*pair, f"{place}[{index}]", *rest)
        return
    if actual is None and expected is None:
        return
    both = [_tensor(each) for each in (actual, expected)]
    if None in both:
        raise TypeError(
            "assert_close: compares tensors, numbers, and lists and dicts of them, got "
            f"{type(actual).__name__} and {type(expected).__name__}"
        )
    if not allow_subclasses and type(actual) is not type(expected):
        raise AssertionError(
            f"The types do not match: {type(actual).__name__} and {type(expected).__name__}{where}"
        )
    numbers = not isinstance(actual, TensorBase) and not isinstance(expected, TensorBase)
    _compare_tensors(both[0], both[1], numbers, where, *rest[:-1])


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _tensor(value: Any) -> Any:
    if isinstance(value, TensorBase):
        return value
    if isinstance(value, (bool, int, float, np.generic, np.ndarray)):
        array = np.asarray(value)
        return wrap(array) if array.dtype.kind in "biuf" else None
    return None


def _compare_tensors(
    actual: Any,
    expected: Any,
    are_numbers: bool,
    where: str,
    tolerances: tuple[float, float] | None,
    equal_nan: bool,
    check_dtype: bool,
    check_stride: bool,
) -> None:
    what = "Scalars" if are_numbers else "Tensor-likes"
    if actual.shape != expected.shape:
        raise AssertionError(
            "The values for attribute 'shape' do not match: "
            f"{tuple(actual.shape)} != {tuple(expected.shape)}.{where}"
        )
    if check_dtype and actual.dtype is not expected.dtype and not are_numbers:
        raise AssertionError(
            "The values for attribute 'dtype' do not match: "
            f"{actual.dtype} != {expected.dtype}.{where}"
        )
    if check_stride and actual.stride() != expected.stride():
        raise AssertionError(
            f"The values for attribute 'stride()' do not match: {actual.stride()} != "
            f"{expected.stride()}.{where}"
        )
    defaults = [_TOLERANCES.get(_plain(each).dtype, (0.0, 0.0)) for each in (actual, expected)]
    rtol, atol = tolerances or (max(d[0] for d in defaults), max(d[1] for d in defaults))
    left, right = (_plain(each)._array for each in (actual, expected))
    common = np.result_type(left, right)
    if common.kind == "f":
        common = np.result_type(common, np.float64)
    elif common.kind == "b":
        common = np.dtype(np.int64)
    left, right = left.astype(common), right.astype(common)
    close = np.isclose(left, right, rtol=rtol, atol=atol, equal_nan=equal_nan)
    if common.kind in "iu" and not rtol and not atol:
        close = left == right
    if not close.all():
        _report(left, right, close, rtol, atol, what, where)


def _plain(tensor: Any) -> Any:
    return tensor.dequantize() if tensor.is_quantized else tensor.detach()


def _report(
    left: Any, right: Any, close: Any, rtol: float, atol: float, what: str, where: str
) -> None:
    """Raise, with the number of elements that differ and the places of the greatest differences."""
    with np.errstate(all="ignore"):
        absolute = np.where(close, 0, np.abs(left.astype(np.float64) - right))
        relative = np.where(close, 0, absolute / np.abs(right))
    lines = [f"{what} are not {'close' if rtol or atol else 'equal'}!", ""]
    if what == "Scalars":
        lines[0] = f"Scalars are not {'close' if rtol or atol else 'equal'}!"
        lines += [
            f"Expected {right.item()} but got {left.item()}.",
            f"Absolute difference: {absolute.item()} (up to {atol} allowed)",
            f"Relative difference: {relative.item()} (up to {rtol} allowed)",
        ]
    else:
        count = int((~close).sum())
        lines.append(
            f"Mismatched elements: {count} / {close.size} ({100 * count / close.size:.1f}%)"
        )
        for name, values, limit in (("absolute", absolute, atol), ("relative", relative, rtol)):
            known = np.where(np.isnan(values), np.inf, values)
            index = tuple(int(at) for at in np.unravel_index(int(known.argmax()), values.shape))
            lines.append(
                f"Greatest {name} difference: {values[index].item()} at index {index} "
                f"(up to {limit} allowed)"
            )
    raise AssertionError("\n".join(lines) + where)
