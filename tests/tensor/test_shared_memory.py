"""Writing in place where elements share memory, or are read at another place, is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import pyqref


def _quantized(*numbers: float) -> Any:
    return pyqref.quantize_per_tensor(pyqref.tensor(numbers).float(), 0.5, 0, pyqref.quint8)


def _per_channel() -> Any:
    scales, zero_points = pyqref.tensor([0.5, 1.0]), pyqref.tensor([0, 0])
    x = pyqref.quantize_per_channel(pyqref.ones(1, 2), scales, zero_points, 1, pyqref.quint8)
    return x.expand(3, 2)


def _assign(x: Any, key: Any, value: Any) -> None:
    x[key] = value


FLOATS = pyqref.tensor([1.0, 2.0, 3.0])
WRITES: dict[str, Callable[[Any], Any]] = {
    "copy_": lambda x: x.copy_(FLOATS),
    "copy_ of a quantized": lambda x: x.copy_(_quantized(1, 2, 3)),
    "fill_": lambda x: x.fill_(2.0),
    "zero_": lambda x: x.zero_(),
    "index_put_": lambda x: x.index_put_((pyqref.tensor([0, 1]),), FLOATS[:2]),
    "slice": lambda x: _assign(x, slice(None), FLOATS),
    "slice of a number": lambda x: _assign(x, slice(None), 2.0),
    "slice of a quantized": lambda x: _assign(x, slice(None), _quantized(1, 2, 3)),
    "indices": lambda x: _assign(x, pyqref.tensor([0, 1]), FLOATS[:2]),
    "mask": lambda x: _assign(x, pyqref.tensor([True, False, True]), FLOATS[:2]),
    "clamp_": lambda x: x.clamp_(0, 1),
    "relu_": lambda x: x.relu_(),
    "masked_fill_": lambda x: x.masked_fill_(FLOATS > 1, 2.0),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("quantized", [False, True])
def test_expanded_tensors_are_not_written(name: str, quantized: bool) -> None:
    """Several elements are one number, which cannot be several; nothing is written."""
    if not quantized and "quantized" in name:
        pytest.skip("quantized values into a float tensor are refused for their type")
    x = (_quantized(1.5) if quantized else pyqref.tensor([1.5])).expand(3)
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        WRITES[name](x)
    assert [1.5] * 3 == x.tolist()
    x[0] = 2.0  # one element is
    assert [2.0] * 3 == x.tolist()


def test_expanded_channels_are_not_written() -> None:
    for write in (
        lambda x: x.fill_(2.0),
        lambda x: x.copy_(pyqref.ones(3, 2)),
        lambda x: x.zero_(),
    ):
        x = _per_channel()
        with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
            write(x)
        assert [[1.0, 1.0]] * 3 == x.tolist()


#: As torch refuses them; the last operand is read at another place of what is written.
OVERLAPS: dict[str, Callable[[Any, Any], Any]] = {
    "copy_": lambda x, y: x.copy_(y),
    "slice": lambda x, y: _assign(x, slice(None), y),
    "add_": lambda x, y: x.add_(y),
    "mul_": lambda x, y: x.mul_(y),
    "clamp_min_": lambda x, y: x.clamp_min_(y),
    "addcmul_": lambda x, y: x.addcmul_(x, y),
    "lerp_": lambda x, y: x.lerp_(y, 0.5),
    "eq_": lambda x, y: x.eq_(y),
    "index_put_": lambda x, y: x.index_put_((pyqref.tensor([0, 1, 2]),), y),
    "indices": lambda x, y: _assign(x, pyqref.tensor([0, 1, 2]), y),
    "scatter_": lambda x, y: x.scatter_(0, pyqref.tensor([0, 1, 2]), y),
    "index_copy_": lambda x, y: x.index_copy_(0, pyqref.tensor([0, 1, 2]), y),
    "index_add_": lambda x, y: x.index_add_(0, pyqref.tensor([0, 1, 2]), y),
}


@pytest.mark.parametrize("name", OVERLAPS)
def test_what_is_read_at_another_place(name: str) -> None:
    """Refused, unless it is copied first, or lies apart, or is the same place."""
    x = pyqref.arange(8.0)
    with pytest.raises(RuntimeError, match="some elements of the input tensor and the written-to"):
        OVERLAPS[name](x[1:4], x[:3])
    assert [float(i) for i in range(8)] == x.tolist()
    for other in (x[:3].clone(), x[4:7], x[1:4]):
        OVERLAPS[name](x[1:4], other)


def test_transposed_and_quantized() -> None:
    """Overlapping memory is handled in another order, too, and for quantized tensors."""
    square, numbers = pyqref.arange(9.0).reshape(3, 3), _quantized(1, 2, 3, 4)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        square.copy_(square.t())
    for write in (lambda x: x[1:].copy_(x[:-1]), lambda x: _assign(x, slice(1, None), x[:-1])):
        with pytest.raises(RuntimeError, match="refer to a single memory location"):
            write(numbers)
    assert [1.0, 2.0, 3.0, 4.0] == numbers.tolist()


def test_what_is_broadcast_or_filled_is_read_first() -> None:
    """The value is read before anything is written, as in torch."""
    x = pyqref.arange(4.0).reshape(2, 2)
    x[:] = x[1]
    assert [[2.0, 3.0]] * 2 == x.tolist()
    x.fill_(x[0, 1])
    assert [[3.0, 3.0]] * 2 == x.tolist()
