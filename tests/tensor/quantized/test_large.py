"""Large quantized tensors, which are compared and sorted part by part."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref._kernels.layout import PART
from pyqref.tape.indexing import Sort
from pyqref.tensor.quantized import make_per_channel, make_per_tensor
from pyqref.tensor.quantized.operations import run_operation
from pyqref.tensor.quantized.sorting import sort_integers

SHAPE = (2, 6, 80, 90)
ORDERS: dict[str, Callable[[Any], Any]] = {
    "first": lambda x: x,
    "last": lambda x: np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1),
    "exchanged": lambda x: np.ascontiguousarray(x.swapaxes(2, 3)).swapaxes(2, 3),
    "every other": lambda x: np.repeat(x, 2, axis=3)[..., ::2],
}


def _integers(shape: tuple[int, ...], seed: int = 0, storage: Any = np.uint8) -> Any:
    return np.random.default_rng(seed).integers(0, 20, shape).astype(storage)


OTHERS: dict[str, Callable[[], Any]] = {
    "a number": lambda: 0.5,
    "a scalar": lambda: pyqref.tensor(0.5),
    "real": lambda: make_per_tensor(_integers(SHAPE, 1), 0.1, 3, pyqref.quint8).dequantize(),
    "double": lambda: pyqref.ones(80, 1, dtype=pyqref.float64),
    "integers": lambda: pyqref.from_numpy(_integers(SHAPE, 1, np.int64)),
    "last": lambda: make_per_tensor(ORDERS["last"](_integers(SHAPE, 1)), 0.2, 7, pyqref.quint8),
    "channels": lambda: make_per_tensor(_integers((6, 1, 1)), 0.2, 7, pyqref.quint8),
    "per channel": lambda: make_per_channel(
        _integers(SHAPE, 1), [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [3] * 6, 1, pyqref.quint8
    ),
    "more axes": lambda: make_per_tensor(_integers((3, 1, 1, 1, 1)), 0.2, 7, pyqref.quint8),
}


@pytest.mark.parametrize("other", OTHERS)
@pytest.mark.parametrize("order", ORDERS)
def test_compares_real_numbers(order: str, other: str) -> None:
    """What the real numbers give, from either side, lying as it does."""
    assert np.prod(SHAPE) > PART
    x = make_per_tensor(ORDERS[order](_integers(SHAPE)), 0.1, 3, pyqref.quint8)
    y = OTHERS[other]()
    real = y.dequantize() if getattr(y, "is_quantized", False) else y
    for compare in (operator.eq, operator.lt, operator.ge):
        expected, result = compare(x.dequantize(), real), compare(x, y)
        assert np.array_equal(expected._array, result._array)
        assert expected._array.strides == result._array.strides
        assert np.array_equal(compare(real, x.dequantize())._array, compare(y, x)._array)


def test_shapes_that_do_not_fit() -> None:
    """The error of small tensors."""
    x = make_per_tensor(_integers(SHAPE), 0.1, 3, pyqref.quint8)
    with pytest.raises(RuntimeError, match=r"The size of tensor a \(90\) must match the size"):
        pyqref.eq(x, x[..., 1:])


@pytest.mark.parametrize("order", ORDERS)
def test_equal(order: str) -> None:
    """One integer that differs, a quantizer that differs, a shape that differs."""
    x = make_per_tensor(_integers(SHAPE), 0.1, 3, pyqref.quint8)
    array = ORDERS[order](_integers(SHAPE))
    assert x.equal(make_per_tensor(array, 0.1, 3, pyqref.quint8))
    assert not x.equal(make_per_tensor(array, 0.1, 4, pyqref.quint8))
    assert not x.equal(make_per_tensor(array[:1], 0.1, 3, pyqref.quint8))
    array[-1, -1, -1, -1] ^= 1
    assert not x.equal(make_per_tensor(array, 0.1, 3, pyqref.quint8))


LONG = 40_000
SORTED = [
    *(((3, 5, 7), axis, count) for axis in range(3) for count in (None, 0, 1, 2, 3)),
    *(((70, 500, 3), axis, count) for axis in range(3) for count in (None, 2)),
    *(((2, LONG), 1, count) for count in (None, 0, 1, 37, LONG // 2, LONG - 1, LONG)),
    *(((LONG, 2), 0, count) for count in (None, 1, 37, LONG - 1)),
    *(((2, LONG, 2), 1, count) for count in (None, 37)),
    ((), 0, None),
    ((0, 3), 1, None),
    ((3, 0), 1, None),
]


@pytest.mark.parametrize("storage", [np.uint8, np.int8, np.int32])
@pytest.mark.parametrize(("shape", "axis", "count"), SORTED)
def test_sorts_as_an_argsort_does(
    shape: tuple[int, ...], axis: int, count: int | None, storage: Any
) -> None:
    """Equal elements keep their order, in both directions."""
    limits = np.iinfo(storage)
    x = np.random.default_rng(3).integers(limits.min, limits.max, shape, storage, endpoint=True)
    for array in (x, x[..., ::2] if shape else x, x // 16):
        for descending in (False, True):
            if count is not None and count > array.shape[axis]:
                continue
            expected = run_operation(Sort, array, axis, descending, count)
            for one, other in zip(
                expected, sort_integers(array, axis, descending, count), strict=True
            ):
                assert one.dtype == other.dtype
                assert np.array_equal(one, other)
