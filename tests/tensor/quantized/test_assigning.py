"""Real numbers written at indices and under masks: as the integers of all of them at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.tensor.quantized import make_per_channel, make_per_tensor

RNG = np.random.default_rng(7)


def _places(length: int, count: int, kind: Any = np.int64) -> Any:
    """Some indices, each once."""
    return RNG.permutation(length)[:count].astype(kind)


def _mask(*shape: int) -> Any:
    return RNG.random(shape) > 0.5


ALL = slice(None)
KEYS: dict[str, tuple[tuple[int, ...], tuple[Any, ...]]] = {
    "small": ((4, 6), (np.array([0, -2]),)),
    "small, some columns": ((4, 6), (slice(1, 3), np.array([0, 2]))),
    "no elements": ((0, 4), (np.zeros(0, np.bool_),)),
    "mask of all": ((300, 400), (_mask(300, 400),)),
    "mask of none": ((70_000,), (np.zeros(70_000, np.bool_),)),
    "mask of rows": ((300, 4000), (_mask(300),)),
    "mask of many rows": ((70_000, 3), (_mask(70_000),)),
    "mask of columns": ((3, 50_000, 2), (ALL, _mask(50_000))),
    "mask of images": ((3, 300, 100, 2), (ALL, _mask(300, 100))),
    "mask and index": ((300, 400, 5), (_mask(300), ALL, np.array([2]))),
    "rows": ((300, 400), (_places(300, 200),)),
    "columns, int32": ((300, 400), (ALL, _places(400, 200, np.int32))),
    "apart": ((300, 400, 5), (_places(300, 200)[:, None], ALL, _places(5, 4))),
    "side by side": ((2, 300, 400), (ALL, _places(300, 200)[:, None], _places(400, 300))),
    "many": ((100_000, 4), (_places(100_000, 100_000).reshape(100, 1000),)),
}


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("axes", ["all", "the last", "none"])
@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint32])
@pytest.mark.parametrize("name", KEYS)
def test_writes_what_numpy_would(name: str, dtype: Any, axes: str, order: Any) -> None:
    """Numbers of all axes of what is chosen, of its last one, or one."""
    shape, key = KEYS[name]
    expected = RNG.integers(0, 100, shape).astype(dtype.numpy_dtype)
    chosen = {"all": expected[key].shape, "the last": expected[key].shape[-1:], "none": ()}[axes]
    numbers = RNG.uniform(-1, 25, chosen).astype(np.float32)
    x = make_per_tensor(expected.copy(order), 0.1, 3, dtype)
    expected[key] = x._quantizer.quantize(numbers)
    at = tuple(pyqref.from_numpy(each) if isinstance(each, np.ndarray) else each for each in key)
    copy = x.clone()
    x[at] = pyqref.from_numpy(numbers)
    assert np.array_equal(expected, x._array)
    assert x._version == [1]
    if not any(isinstance(each, slice) for each in key):
        put = copy.index_put_(at, pyqref.from_numpy(numbers))
        assert put is copy
        assert np.array_equal(expected, copy._array)


@pytest.mark.parametrize("name", ["mask of all", "mask of rows", "rows", "many"])
def test_shapes_that_do_not_fit(name: str) -> None:
    """One row too many: nothing is written."""
    shape, key = KEYS[name]
    x = make_per_tensor(np.zeros(shape, np.uint8), 0.1, 3, pyqref.quint8)
    rows, *rest = x._array[key].shape
    with pytest.raises(RuntimeError, match="shape mismatch"):
        x[pyqref.from_numpy(key[0])] = pyqref.ones(rows + 1, *rest)
    assert not x._array.any()


def test_numbers_of_other_types() -> None:
    """Integers, double precision, lists, Python's numbers: the real numbers that they are."""
    for values in (pyqref.tensor([1, 2]), pyqref.tensor([1, 2]).double(), [1, 2], np.array([1, 2])):
        x = make_per_tensor(np.zeros(3, np.uint8), 0.1, 3, pyqref.quint8)
        x[pyqref.tensor([0, 2])] = values
        assert x._array.tolist() == [13, 0, 23]
    x[[True, False, True]] = 0.5
    assert x._array.tolist() == [8, 0, 8]
    with pytest.raises(ValueError, match="could not convert"):
        x[[0, 1]] = ["a", "b"]


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_slices_of_another_grid(axis: int | None) -> None:
    """Through real numbers, some at a time, also broadcast."""
    shape = (3, 200, 400)
    integers = RNG.integers(0, 100, shape).astype(np.uint8)
    if axis is None:
        y = make_per_tensor(integers, 0.07, 5, pyqref.quint8)
    else:
        scales, zero_points = np.linspace(0.01, 0.2, shape[axis]), np.arange(shape[axis]) % 100
        y = make_per_channel(integers, scales, zero_points, axis, pyqref.quint8)
    for values in (y, y[:1], y[1], y[:1, :1] if axis != 1 else y[:1]):
        x = make_per_tensor(np.zeros((2, *shape), np.uint8), 0.1, 3, pyqref.quint8)
        x[1:] = values
        real = values.dequantize()._array
        expected = np.broadcast_to(x._quantizer.quantize(np.ascontiguousarray(real)), shape)
        assert np.array_equal(expected, x._array[1])
        assert not x._array[0].any()
    with pytest.raises(RuntimeError, match="the value must have the shape"):
        x[:, :2] = y


@pytest.mark.parametrize("axis", [None, 0])
def test_slices_of_the_tensor_itself(axis: int | None) -> None:
    """Other places of the same memory are refused, as in torch; real numbers are copied first."""
    integers = RNG.integers(0, 100, (4, 70_000)).astype(np.uint8)
    if axis is None:
        x = make_per_tensor(integers, 0.07, 5, pyqref.quint8)
    else:
        x = make_per_channel(integers, [0.01, 0.02, 0.04, 0.08], [0, 5, 9, 7], axis, pyqref.quint8)
    expected = x.clone()
    expected[1:] = x[:-1].dequantize()
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[1:] = x[:-1]
    x[1:] = x[:-1].clone()
    assert np.array_equal(expected._array, x._array)


def test_values_that_do_not_fit() -> None:
    """Nothing is written."""
    x = make_per_tensor(np.zeros((2, 3), np.uint8), 0.1, 3, pyqref.quint8)
    for value in (pyqref.ones(2), x[:, :2], [1.0, 2.0]):
        with pytest.raises(RuntimeError, match=r"the value must have the shape \(2, 3\)"):
            x[...] = value
    assert not x._array.any()


def test_fills_with_the_real_number() -> None:
    """A number, a tensor, and a quantized one, whatever its grid."""
    mask = pyqref.tensor([True, False])
    ones = [0.5, pyqref.tensor(0.5), make_per_tensor(np.uint8(7), 0.25, 5, pyqref.quint8)]
    for value in (*ones, make_per_tensor(np.int32(2), 0.25, 0, pyqref.qint32)):
        x = make_per_tensor(np.uint8([100, 100]), 0.1, 3, pyqref.quint8)
        assert x.masked_fill(mask, value)._array.tolist() == [8, 100]
        assert x.masked_fill_(mask, value)._array.tolist() == [8, 100]
        assert x.fill_(value)._array.tolist() == [8, 8]
    x = make_per_tensor(np.uint8([100, 100]), 0.1, 3, pyqref.quint8)
    assert x.masked_fill(mask, -0.1)._array.tolist() == [2, 100]


@pytest.mark.parametrize("width", [3, 60_000])
def test_index_put_takes_an_index_for_each_axis(width: int) -> None:
    """None stands for a whole axis, not for a new one; an index without axes counts as one."""
    x = make_per_tensor(np.zeros((2, width, 4), np.uint8), 0.5, 3, pyqref.quint8)
    expected = np.zeros((2, width, 4), np.uint8)
    numbers = RNG.integers(0, 100, (2, width)).astype(np.float32)
    expected[1, :, [0, 2]] = x._quantizer.quantize(numbers)
    x.index_put_((pyqref.tensor(1), None, pyqref.tensor([0, 2])), pyqref.from_numpy(numbers))
    assert np.array_equal(expected, x._array)
    expected[0], numbers = x._quantizer.quantize(np.ones(1, np.float32)), pyqref.ones(width, 1)
    x.index_put_((pyqref.tensor(0),), numbers)
    assert np.array_equal(expected, x._array)
    assert [2] == x._version
