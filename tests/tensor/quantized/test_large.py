"""Large quantized tensors, which are compared, sorted and changed part by part."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref._kernels.layout import PART
from pyqref._kernels.parts import first_extreme
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
    """Comparisons agree with those of the real numbers, from either side and in the same order."""
    assert np.prod(SHAPE) > PART
    x = make_per_tensor(ORDERS[order](_integers(SHAPE)), 0.1, 3, pyqref.quint8)
    y = OTHERS[other]()
    real = y.dequantize() if getattr(y, "is_quantized", False) else y
    for compare in (operator.eq, operator.lt, operator.ge):
        expected, result = compare(x.dequantize(), real), compare(x, y)
        assert np.array_equal(expected._array, result._array)
        assert expected._array.strides == result._array.strides
        assert np.array_equal(compare(real, x.dequantize())._array, compare(y, x)._array)


@pytest.mark.parametrize("storage", [np.uint8, np.int8])
@pytest.mark.parametrize("order", ["first", "last", "exchanged"])
@pytest.mark.parametrize("scale", [0.1, 1e37])
@np.errstate(over="ignore")
def test_compares_bytes_on_one_grid(scale: float, order: str, storage: Any) -> None:
    """Every pair of bytes, also where several stand for one real number."""
    dtype = pyqref.quint8 if storage == np.uint8 else pyqref.qint8
    each = np.arange(256, dtype=np.uint8).view(storage)
    x = make_per_tensor(ORDERS[order](np.tile(each, (2, 1, 256, 1))), scale, 3, dtype)
    y = make_per_tensor(ORDERS[order](np.tile(each[:, None], (2, 1, 1, 256))), scale, 3, dtype)
    assert x.numel() > PART
    for compare in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge):
        expected, result = compare(x.dequantize(), y.dequantize()), compare(x, y)
        assert np.array_equal(expected._array, result._array)
        assert expected._array.strides == result._array.strides
        row, number = y[:1, :, :1, :1], y[0, 0, 77, 0].dequantize().item()
        assert np.array_equal(compare(x.dequantize(), row.dequantize())._array, compare(x, row))
        assert np.array_equal(compare(x.dequantize(), number)._array, compare(x, number)._array)
        assert np.array_equal(compare(number, x.dequantize())._array, compare(number, x)._array)


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


@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8, pyqref.qint32])
@pytest.mark.parametrize("shape", [(), (7,), (0, 3), (300, 70), (LONG,), (LONG, 2), (2, LONG)])
def test_places_or_values_alone(shape: tuple[int, ...], dtype: Any) -> None:
    """``argsort`` and ``msort`` give what ``sort`` does."""
    limits = np.iinfo(dtype.numpy_dtype)
    integers = np.random.default_rng(3).integers(limits.min, limits.max, shape, endpoint=True)
    for array in (integers, integers[..., ::2] if shape else integers):
        x = make_per_tensor(np.asarray(array, dtype.numpy_dtype), 0.1, 3, dtype)
        for axis in range(-1, len(shape)):
            for descending in (False, True):
                places = x.argsort(axis, descending)
                assert np.array_equal(x.sort(axis, descending)[1]._array, places._array)
        values = x.msort()
        assert values._quantizer == x._quantizer
        assert np.array_equal(x.sort(0)[0]._array, values._array)
        assert not np.shares_memory(x._array, values._array)


def _in_order(order: str, storage: Any = np.uint8) -> Any:
    return ORDERS[order](_integers(SHAPE, 5, storage))


CHANGES: dict[str, Callable[[Any], Any]] = {
    "relu": lambda x: x.relu_(),
    "sigmoid": lambda x: x.sigmoid_(),
    "clamp": lambda x: x.clamp_(-0.1, 0.5),
    "masked_fill": lambda x: x.masked_fill_(pyqref.from_numpy(np.arange(90) % 3 == 1), 0.5),
    "fill": lambda x: x.fill_(0.5),
    "copy": lambda x: x.copy_(pyqref.from_numpy(np.linspace(-1, 1, 90))),
}


@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint32])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", CHANGES)
def test_changes_in_place(name: str, order: str, dtype: Any) -> None:
    """Each row gets the result that it has alone, and the version changes once."""
    array = _in_order(order, dtype.numpy_dtype)
    x = make_per_tensor(array, 0.1, 3, dtype)
    rows = [make_per_tensor(row, 0.1, 3, dtype) for row in array.reshape(-1, 90).copy()]
    expected = [CHANGES[name](row) for row in rows]
    assert CHANGES[name](x) is x
    assert x._array is array
    assert x._version == [1]
    assert x._quantizer == expected[0]._quantizer
    assert np.array_equal(np.stack([row._array for row in expected]), array.reshape(-1, 90))


def test_copies_what_it_overwrites() -> None:
    """A large tensor that takes its own elements, each one place further: a copy of them."""
    integers = (np.arange(1 << 20) % 251).astype(np.uint8)
    x = make_per_tensor(integers.copy(), 0.1, 3, pyqref.quint8)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x[1:].copy_(x[:-1])
    x[1:].copy_(x[:-1].clone())
    assert np.array_equal(integers[:-1], x._array[1:])


def test_operands_by_name() -> None:
    """A mask of rows, and a bound that is changed on the way, as in a small tensor."""
    integers = _integers((700, 1000))
    x = make_per_tensor(integers.copy(), 0.1, 3, pyqref.quint8)
    mask = pyqref.from_numpy(np.arange(700)[:, None] % 3 == 1)
    expected = x.masked_fill(mask, 0.5)
    assert np.array_equal(expected._array, x.masked_fill_(mask=mask, value=0.5)._array)
    expected = x.clamp(min=x[0, 0])
    assert np.array_equal(expected._array, x.clamp_(min=x[0, 0].clone())._array)


def test_elements_that_share_memory() -> None:
    """Changed once, also where a part ends."""
    rows = make_per_tensor(_integers((400_000,)), 0.1, 3, pyqref.quint8).unfold(0, 4, 2)
    expected = rows.clone().sigmoid()
    assert np.array_equal(expected._array, rows.sigmoid_()._array)


def test_what_is_no_number_is_said_before_any_is_written() -> None:
    integers = _integers((300, 400))
    x = make_per_tensor(integers.copy(), 0.1, 3, pyqref.quint8)
    values = np.zeros((300, 400), object)
    values[-1, -1] = "a"
    with pytest.raises(ValueError, match="could not convert"):
        x[...] = values
    assert np.array_equal(integers, x._array)


def test_changes_of_another_shape() -> None:
    """The error of small tensors, and nothing is changed."""
    x = make_per_tensor(_integers(SHAPE), 0.1, 3, pyqref.quint8)
    mask = pyqref.from_numpy(np.ones((3, 1, 1, 1, 1), np.bool_))
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        x.masked_fill_(mask, 0.5)
    assert np.array_equal(_integers(SHAPE), x._array)


@pytest.mark.parametrize("axis", range(4))
def test_writes_channels(axis: int) -> None:
    """Parts may hold some of the channels, or one."""
    shape = (3, 40, 31, 50)
    channels = shape[axis]
    numbers = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    scales, zero_points = np.linspace(0.01, 0.1, channels), np.arange(channels)
    x = make_per_channel(np.zeros(shape, np.uint8), scales, zero_points, axis, pyqref.quint8)
    assert x.numel() > PART
    expected = x._quantizer.quantize(numbers)
    assert np.array_equal(expected, x.copy_(pyqref.from_numpy(numbers))._array)
    ones = np.ones(shape, np.float32)
    assert np.array_equal(x._quantizer.quantize(ones), pyqref.ones_like(x)._array)
    x[1:] = pyqref.from_numpy(2 * ones[1:])
    kept = x._quantizer.quantize(np.concatenate([numbers[:1], 2 * ones[1:]]))
    assert np.array_equal(kept, x._array)


CHOICES: dict[str, Callable[[Any], Any]] = {
    "index_select": lambda x: x.index_select(2, pyqref.tensor([3, 3, 79, 0])),
    "many": lambda x: x.index_select(3, pyqref.from_numpy(np.arange(300) % 90)),
    "repeat": lambda x: x.repeat(2, 1, 1, 3, 1),
    "repeat_interleave": lambda x: x.repeat_interleave(3),
    "repeat_interleave of channels": lambda x: x.repeat_interleave(2, -3),
    "max": lambda x: x.max(1),
    "min of the first": lambda x: x.min(0, keepdim=True),
    "mean of lines": lambda x: x.mean(-1),
    "mean of images": lambda x: x.mean((2, 3), keepdim=True),
    "reflect": lambda x: pyqref.nn.functional.pad(x, (1, 2, 3, 4), mode="reflect"),
    "circular": lambda x: pyqref.nn.functional.pad(x, (-1, 2, 3, -4), mode="circular"),
    "rot90": lambda x: x.rot90(1, (2, 3)),
    "rot90 of channels": lambda x: x.rot90(-1, (3, 1)),
    "half a turn": lambda x: x.rot90(2, (0, 2)),
    "text": repr,
    "notebook": lambda x: x._repr_html_(),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", CHOICES)
def test_order_does_not_matter(name: str, order: str) -> None:
    """A view gives what a tensor in C order does."""

    def outcome(array: Any) -> Any:
        made = CHOICES[name](make_per_tensor(array, 0.1, 3, pyqref.quint8))
        made = made if isinstance(made, tuple) else (made,)
        return [each if isinstance(each, str) else each._array.tolist() for each in made]

    array = _in_order(order)
    assert outcome(np.array(array, order="C")) == outcome(array)


@pytest.mark.parametrize("dim", [None, 0, 1, -1])
@pytest.mark.parametrize("repeats", [0, 1, 3])
def test_repeats_slices(dim: int | None, repeats: int) -> None:
    """Slices repeat as in NumPy, into a copy."""
    array = _integers((2, 3, 4))
    for each in (array, array.swapaxes(0, 2), array[..., ::2]):
        made = make_per_tensor(each, 0.1, 3, pyqref.quint8).repeat_interleave(repeats, dim)
        assert np.array_equal(np.repeat(each, repeats, dim), made._array)
        assert not np.shares_memory(each, made._array) or (repeats == 1 and dim is None)
    one = make_per_tensor(np.uint8(7), 0.1, 3, pyqref.quint8)
    assert one.repeat_interleave(3)._array.tolist() == [7, 7, 7]


@pytest.mark.parametrize("find", [np.argmax, np.argmin])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((300, 400), 0), ((300, 400), 1), ((300, 400), None), ((2 * PART, 2), 0), ((PART + 1, 3), 0)],
)
def test_the_first_extreme(find: Any, shape: tuple[int, ...], axis: int | None) -> None:
    """It finds the first of equal numbers, and the first nan, as NumPy does."""
    numbers = np.random.default_rng(0).integers(0, 9, shape).astype(np.float32)
    for x in (numbers, np.where(numbers == 8, np.nan, numbers), numbers.astype(np.int8)):
        for each in (x, np.asfortranarray(x)):
            assert np.array_equal(find(each, axis=axis), first_extreme(find, each, axis))
