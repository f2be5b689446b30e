"""No public function and no method computes on the integers of a quantized tensor as such."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from bad_input.codes_table import OPERATORS, Call, calls_of, functions, methods

import pyqref
from pyqref import PerChannelQuantizer, QuantizedTensor, Tensor
from pyqref.tensor.storage import TypedStorage, UntypedStorage

KINDS = {
    "quint8": (pyqref.quint8, 9),
    "qint8": (pyqref.qint8, -5),
    "qint32": (pyqref.qint32, 7),
    "per channel": (pyqref.qint8, 4),
}
REMEDY = re.compile(r"dequantize|DeQuantStub|use \w+\(|convert")

#: What makes a tensor of the type of another has no scale for it, or is to convert to one.
MADE_NEW = frozenset(
    {
        *("rand_like", "randn_like", "randint_like", "new_empty", "new_full", "new_ones"),
        *("new_zeros", "new_tensor", "to", "type_as", "set_"),
    }
)
NEW = re.compile(r"use quantize_per_tensor|call quantize_per_tensor|dequantize")

WALKED: dict[str, Any] = {**functions(), **methods()}

_TYPES = {
    pyqref.quint8: "QUInt8Tensor",
    pyqref.qint8: "QInt8Tensor",
    pyqref.qint32: "QInt32Tensor",
}

#: What speaks of the tensor as it is stored, or of its quantizer: the answer is compared with this.
ABOUT: dict[str, Callable[[Any], Any]] = {
    "int_repr": lambda q: q.int_repr(),
    "q_scale": lambda q: q._quantizer.scale,
    "q_zero_point": lambda q: q._quantizer.zero_point,
    "q_per_channel_axis": lambda q: q._quantizer.axis,
    "q_per_channel_scales": lambda q: pyqref.from_numpy(q._quantizer.scales),
    "q_per_channel_zero_points": lambda q: pyqref.from_numpy(q._quantizer.zero_points),
    "qscheme": lambda q: q._quantizer.qscheme,
    "is_floating_point": lambda q: False,
    "is_signed": lambda q: q.dtype is not pyqref.quint8,
    "element_size": lambda q: q._array.itemsize,
    "typename": lambda q: f"pyqref.quantized.{_TYPES[q.dtype]}",
    "type": lambda q: f"pyqref.quantized.{_TYPES[q.dtype]}",
    "empty_like": lambda q: pyqref.make_quantized(np.zeros_like(q._array), q._quantizer),
    "result_type": lambda a, b: {each.dtype: a.dtype for each in (a,)}[b.dtype],
    "data_ptr": lambda q: q._array.ctypes.data,
    "storage": lambda q: TypedStorage(q._array, q.dtype),
    "untyped_storage": lambda q: UntypedStorage(q._array),
}


def _quantized(tensor: Any, kind: str, place: int) -> Any:
    """The tensor on a grid of its own, which is another at every place."""
    dtype, zero_point = KINDS[kind]
    zero_point += place
    if kind != "per channel" or tensor.ndim == 0:
        return pyqref.quantize_per_tensor(tensor.float(), 0.25, zero_point, dtype)
    n = tensor.shape[0]
    scales = pyqref.tensor(([0.25, 0.5] * n)[:n])
    zero_points = pyqref.tensor(([zero_point, zero_point + 3] * n)[:n])
    return pyqref.quantize_per_channel(tensor.float(), scales, zero_points, 0, dtype)


def _replaced(value: Any, replace: Callable[[Any], Any]) -> Any:
    """A copy of arguments with ``replace(tensor)`` for each tensor."""
    if isinstance(value, Tensor):
        return replace(value)
    if isinstance(value, dict):
        return {key: _replaced(each, replace) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_replaced(each, replace) for each in value)
    return value


def _leaves(value: Any) -> list[Any]:
    found: list[Any] = []
    _replaced(value, lambda tensor: found.append(tensor))
    return found


def _with(call: Call, kind: str, chosen: set[int]) -> tuple[Any, Any]:
    """The arguments of a call with some of its tensors quantized, and with these dequantized."""
    count = iter(range(99))

    def quantize(tensor: Any) -> Any:
        place = next(count)
        return _quantized(tensor, kind, place) if place in chosen else tensor.clone()

    given = _replaced((call.args, call.kwargs), quantize)

    def dequantize(tensor: Any) -> Any:
        return tensor.dequantize() if tensor.is_quantized else tensor.clone()

    return given, _replaced(given, dequantize)


def _choices(call: Call) -> Iterator[set[int]]:
    """Each tensor alone, and all of them."""
    n = len(_leaves((call.args, call.kwargs)))
    yield from ({place} for place in range(n))
    if n > 1:
        yield set(range(n))


def _outcome(function: Callable[..., Any], arguments: Any) -> Any:
    """The result, or the exception."""
    args, kwargs = arguments
    pyqref.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*args, **kwargs)
    except Exception as error:
        return error


def _is_same(expected: Any, actual: Any) -> bool:
    """Return True if a result stands for that of the same call on real numbers."""
    if isinstance(expected, QuantizedTensor):
        return bool(pyqref.equal(expected, actual))
    if isinstance(expected, Tensor):
        if not isinstance(actual, Tensor) or expected.shape != actual.shape:
            return False
        if actual.is_quantized:
            if not expected.dtype.is_floating_point:
                return False
            if isinstance(actual._quantizer, PerChannelQuantizer):
                actual._quantizer.check_shape(actual._array.shape)
            wanted = actual._quantizer.quantize(expected.numpy().astype(np.float32))
            return bool(np.all(wanted == actual._array))
        return expected.dtype is actual.dtype and np.array_equal(
            expected.numpy(), actual.numpy(), equal_nan=expected.dtype.is_floating_point
        )
    if isinstance(expected, (tuple, list)):
        return len(expected) == len(actual) and all(
            _is_same(*each) for each in zip(expected, actual, strict=True)
        )
    if isinstance(expected, np.ndarray):
        return np.array_equal(expected, actual)
    if isinstance(expected, UntypedStorage):
        return type(expected) is type(actual) and expected.tolist() == actual.tolist()
    return bool(expected == actual or expected != expected)


def _state(given: Any) -> list[Any]:
    return [(each._array.copy(), getattr(each, "_quantizer", None)) for each in _leaves(given)]


NAMED = re.compile(r"(\w+) is not defined for quantized tensors")


def _is_name_of(said: str, short: str, function: Any) -> bool:
    """Return True if a message names the function that was called, or another name of it."""
    if short in OPERATORS:
        return hasattr(Tensor, said) or hasattr(pyqref, said)
    same = (getattr(each, said, None) is function for each in (pyqref, pyqref.nn.functional))
    return said == short or any(same) or getattr(Tensor, said, said) is getattr(Tensor, short, None)


def _complaint(name: str, function: Any, call: Call, kind: str, chosen: set[int]) -> str | None:
    """Return the fault of a call, or None."""
    given, plain = _with(call, kind, chosen)
    before = _state(given)
    short = name.rsplit(".", 1)[-1]
    if short in ABOUT and isinstance(given[0][0], QuantizedTensor):
        try:
            expected = ABOUT[short](*given[0])
        except Exception as error:
            expected = error
    else:
        expected = _outcome(function, plain)
    actual = _outcome(function, given)
    if isinstance(actual, Exception):
        after = _state(given)
        if not all(
            np.array_equal(a[0], b[0]) and a[1] == b[1] for a, b in zip(before, after, strict=True)
        ):
            return f"refused ({actual}), and changed a tensor"
        if isinstance(actual, (AttributeError, AssertionError, KeyError)):
            return f"{actual!r}"
        said = NAMED.match(str(actual))
        if said and not _is_name_of(said[1], short, function):
            return f"another name: {actual}"
        if isinstance(expected, Exception) and type(expected) is type(actual):
            return None
        remedy = NEW if short in MADE_NEW else REMEDY
        return None if remedy.search(str(actual)) else f"no remedy: {actual!r}"
    if isinstance(expected, Exception):
        return f"gave {actual!r}, though of real numbers {expected!r}"
    try:
        same = _is_same(expected, actual)
    except (ValueError, AttributeError) as error:
        return f"gave a broken result: {error}"
    if not same:
        return f"gave {actual!r}, and not {expected!r}"
    return None


@pytest.mark.parametrize("name", WALKED)
def test_no_function_computes_on_raw_codes(name: str) -> None:
    """A call gives what it gives of the real numbers, quantized at most, or is refused."""
    target = WALKED[name]

    def method(input: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(input, target)(*args, **kwargs)

    function = method if isinstance(target, str) else target
    complaints = {
        f"{kind}, {sorted(chosen)} of {call}": complaint
        for kind in KINDS
        for call in calls_of(name)
        for chosen in _choices(call)
        if (complaint := _complaint(name, function, call, kind, chosen))
    }
    assert {} == complaints
