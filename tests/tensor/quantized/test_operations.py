"""Views, comparisons and the functions that work on quantized tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.quantization import UnlikeGridsWarning

ARRAY = np.arange(24, dtype=np.float32).reshape(2, 3, 4) * 0.5 - 3


def _per_tensor(scale: float = 0.1, zero_point: int = 30) -> Any:
    return pyqref.quantize_per_tensor(pyqref.tensor(ARRAY), scale, zero_point, pyqref.quint8)


def _per_channel(axis: int) -> Any:
    length = ARRAY.shape[axis]
    scales = pyqref.tensor([0.1, 0.05, 0.2, 0.3][:length])
    zero_points = pyqref.tensor([30, 70, 20, 11][:length])
    return pyqref.quantize_per_channel(
        pyqref.tensor(ARRAY), scales, zero_points, axis, pyqref.quint8
    )


VIEWS: dict[str, Callable[[Any], Any]] = {
    "view": lambda x: x.view(2, 3, 2, 2),
    "reshape": lambda x: x.reshape(2, 3, 4, 1),
    "permute": lambda x: x.permute(2, 0, 1),
    "transpose": lambda x: x.transpose(0, 2),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "slice": lambda x: x[1:, 1:, 1:],
    "none": lambda x: x[None, ..., None],
    "expand": lambda x: x.unsqueeze(0).expand(2, 2, 3, 4),
    "select_0": lambda x: x[1],
    "select_1": lambda x: x[:, 2],
    "select_2": lambda x: x[..., -1],
    "chunk": lambda x: x.chunk(2, 2)[1],
    "squeeze": lambda x: x[:, :1].squeeze(1),
}


@pytest.mark.parametrize("name", VIEWS)
def test_view_per_tensor(name: str) -> None:
    """The view of the quantized is the quantized of the view; memory is shared."""
    q = _per_tensor()
    view = VIEWS[name](q)
    assert VIEWS[name](q.dequantize()).tolist() == view.dequantize().tolist()
    (view[0] if name == "expand" else view).fill_(0.0)
    assert 30 in q.int_repr().numpy()[q.int_repr().numpy() == 30]
    assert np.shares_memory(view._array, q._array)


@pytest.mark.parametrize("name", sorted(set(VIEWS) - {"view", "reshape"}))
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_view_per_channel(name: str, axis: int) -> None:
    """The channel axis is followed; a single channel is a per tensor quantized tensor."""
    q = _per_channel(axis)
    view = VIEWS[name](q)
    assert VIEWS[name](q.dequantize()).tolist() == view.dequantize().tolist()
    alone = {("slice", 0), ("squeeze", 1)}
    one_channel = name == f"select_{axis}" or (name, axis) in alone
    expected = pyqref.per_tensor_affine if one_channel else pyqref.per_channel_affine
    assert expected is view.qscheme()


LOSING: dict[str, Callable[[Any], Any]] = {
    "view": lambda q: q.view(-1),
    "flatten": lambda q: q.flatten(),
    "as_strided": lambda q: q.as_strided((2, 2), (1, 2)),
    "index": lambda q: q[pyqref.tensor([0, 0])],
    "diagonal": lambda q: q.diagonal(),
}


@pytest.mark.parametrize("name", LOSING)
def test_views_that_lose_the_channels(name: str) -> None:
    """Documented: not for per channel where the axis would be lost; the error says what to do."""
    with pytest.raises(RuntimeError, match="would lose its channel axis 1; call dequantize"):
        LOSING[name](_per_channel(1))


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparison_by_value(name: str) -> None:
    """Between quantized tensors of other parameters, with floats and with numbers."""
    a, b = _per_tensor(), _per_tensor(0.2, 10)
    real = getattr(a.dequantize(), name)
    assert real(b.dequantize()).tolist() == getattr(a, name)(b).tolist()
    assert real(1.5).tolist() == getattr(a, name)(1.5).tolist()


CHOOSING: dict[str, Callable[[Any], Any]] = {
    "max": lambda x: x.max(),
    "min": lambda x: x.min(),
    "max_dim": lambda x: x.max(1)[0],
    "min_dim": lambda x: x.min(2, keepdim=True)[0],
    "sort": lambda x: x.sort(1, descending=True)[0],
    "topk": lambda x: x.topk(2)[0],
    "relu": lambda x: x.relu(),
    "clamp": lambda x: x.clamp(-1.0, 1.0),
    "flip": lambda x: x.flip(0),
    "repeat": lambda x: x.repeat(2, 1, 1),
    "index": lambda x: x[:, pyqref.tensor([2, 0])],
    "mask": lambda x: x[pyqref.tensor([True, False])],
    "index_select": lambda x: x.index_select(1, pyqref.tensor([1, 1])),
    "cat": lambda x: pyqref.cat([x, x], 2),
    "stack": lambda x: pyqref.stack([x, x]),
}


@pytest.mark.parametrize("name", CHOOSING)
def test_function_that_chooses_elements(name: str) -> None:
    """It commutes with dequantizing and keeps scale and zero point."""
    q = _per_tensor()
    result = CHOOSING[name](q)
    assert CHOOSING[name](q.dequantize()).tolist() == result.dequantize().tolist()
    assert (0.1, 30) == (result.q_scale(), result.q_zero_point())


def test_mean_is_quantized_again() -> None:
    """The mean of the real numbers, rounded to the grid of the tensor."""
    q = _per_tensor()
    mean = q.mean((0, 2))
    assert (0.1, 30) == (mean.q_scale(), mean.q_zero_point())
    expected = pyqref.quantize_per_tensor(q.dequantize().mean((0, 2)), 0.1, 30, pyqref.quint8)
    assert expected.int_repr().tolist() == mean.int_repr().tolist()


def test_functions_of_fixed_range() -> None:
    """sigmoid: scale 1/256, zero point 0; tanh: 2/256 and 128."""
    q = _per_tensor()
    assert (1 / 256, 0) == (q.sigmoid().q_scale(), q.sigmoid().q_zero_point())
    assert (2 / 256, 128) == (q.tanh().q_scale(), q.tanh().q_zero_point())


def test_cat_takes_the_first_parameters() -> None:
    """Tensors of other parameters are quantized again."""
    with pytest.warns(UnlikeGridsWarning):
        joined = pyqref.cat([_per_tensor(), _per_tensor(0.2, 10)], 0)
    assert (0.1, 30) == (joined.q_scale(), joined.q_zero_point())
    empty = pyqref.quantize_per_tensor(pyqref.zeros(0), 0.05, 7, pyqref.quint8)
    with pytest.warns(UnlikeGridsWarning):
        joined = pyqref.cat([empty, _per_tensor(), _per_tensor(0.2, 10)], 1)
    assert (0.05, 7) == (joined.q_scale(), joined.q_zero_point())
    assert [*_per_tensor().shape[:1], 2 * _per_tensor().shape[1]] == [*joined.shape[:2]]
    with pytest.raises(RuntimeError, match="cannot be mixed"):
        pyqref.cat([_per_tensor(), pyqref.ones(2, 3, 4)])


def test_writing() -> None:
    """Real numbers are quantized on the way in; views write into their base."""
    q = _per_tensor()
    q[0, 0, 0] = 1.0
    q[1] = pyqref.zeros(3, 4)
    q[0][q[0].dequantize() > 100] = 5.0
    assert 40 == q.int_repr()[0, 0, 0].item()
    assert {30} == set(q.int_repr()[1].reshape(-1).tolist())
    assert 1.0 == pytest.approx(q[0, 0, 0].item())


def test_copy_brings_the_quantizer() -> None:
    """copy_ from a quantized tensor takes its parameters; of another scheme it is refused."""
    q = _per_tensor()
    q.copy_(_per_tensor(0.2, 10))
    assert q.equal(_per_tensor(0.2, 10))
    q.copy_(pyqref.zeros(2, 3, 4))
    assert {10} == set(q.int_repr().reshape(-1).tolist())
    with pytest.raises(RuntimeError, match="one dtype and qscheme"):
        q.copy_(_per_channel(0))


def test_relu_in_place_and_resize() -> None:
    """The tensor itself changes."""
    q = _per_tensor()
    expected = q.relu()
    assert q.relu_() is q
    assert q.equal(expected)
    assert (2, 2) == q.resize_(2, 2).shape


def test_channels_last_is_kept() -> None:
    """Quantizing, dequantizing and the integers stay in the layout of the input."""
    x = pyqref.rand(2, 3, 4, 5).contiguous(memory_format=pyqref.channels_last)
    q = pyqref.quantize_per_tensor(x, 0.1, 0, pyqref.quint8)
    per_channel = pyqref.quantize_per_channel(
        x, pyqref.ones(3), pyqref.zeros(3, dtype=pyqref.int64), 1, pyqref.qint8
    )
    for each in (q, q.dequantize(), q.int_repr(), per_channel, per_channel.dequantize()):
        assert x.stride() == each.stride()
    assert pyqref.quantize_per_tensor(x.contiguous(), 0.1, 0, pyqref.quint8).equal(q)
