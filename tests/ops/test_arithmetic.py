"""Sums, products and joining of quantized tensors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref.numerics import elementwise
from pyqref.ops import quantized as ops
from pyqref.quantization import (
    QuantStub,
    UnlikeGridsWarning,
    convert,
    get_default_qconfig,
    get_default_qconfig_mapping,
    prepare,
)
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx
from pyqref.tensor.quantized import make_per_tensor


def _quantized(
    values: list[float], dtype: Any = pyqref.quint8, scale: float = 0.5, zero_point: int = 4
) -> pyqref.Tensor:
    return pyqref.quantize_per_tensor(pyqref.tensor(values), scale, zero_point, dtype)


DTYPES = [pyqref.quint8, pyqref.qint8, pyqref.qint32]


@pytest.mark.parametrize("dtype", DTYPES)
def test_add_and_add_relu(dtype: Any) -> None:
    """eq-quantized-add: sums land on the output's grid; ReLU stops at the zero point."""
    a, b = _quantized([1.0, -2.0, 3.0], dtype), _quantized([2.0, 1.0, -2.0], dtype)
    total = ops.add(a, b, 0.5, 10)
    assert total.int_repr().tolist() == [16, 8, 12]
    assert (dtype, 0.5, 10) == (total.dtype, total.q_scale(), total.q_zero_point())
    assert ops.add_relu(a, b, 0.5, 10).int_repr().tolist() == [16, 10, 12]


@pytest.mark.parametrize("dtype", DTYPES)
def test_mul_and_mul_relu(dtype: Any) -> None:
    """eq-quantized-mul."""
    a, b = _quantized([1.0, -2.0, 3.0], dtype), _quantized([2.0, 1.0, 2.5], dtype)
    assert ops.mul(a, b, 0.5, 10).int_repr().tolist() == [14, 6, 25]
    assert ops.mul_relu(a, b, 0.5, 10).int_repr().tolist() == [14, 10, 25]


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_add_of_every_pair_of_bytes(engine: str, dtype: Any) -> None:
    """The equation's integers for every pair of bytes: the table is only a shorter way."""
    pyqref.backends.quantized.engine = engine
    integers = np.arange(dtype.quant_min if dtype.itemsize == 1 else -128, 256)[:256]
    row = integers.astype(dtype.numpy_dtype)
    a = make_per_tensor(row[:, None].copy(), 0.031, 5, dtype)
    b = make_per_tensor(row[None, :].copy(), 0.017, 2, dtype)
    limits = dtype.quant_min, dtype.quant_max, dtype.numpy_dtype
    for relu, operation in ((False, ops.add), (True, ops.add_relu)):
        expected = elementwise.add(
            a._array,
            elementwise.Grid(0.031, 5, *limits),
            b._array,
            elementwise.Grid(0.017, 2, *limits),
            elementwise.Grid(0.05, 7, *limits),
            engine,
            relu,
        )
        assert np.array_equal(expected, operation(a, b, 0.05, 7).int_repr().numpy())


def test_add_broadcasts() -> None:
    """Shapes broadcast as for float tensors."""
    a = _quantized([1.0, 2.0]).reshape(2, 1)
    b = _quantized([1.0, 2.0, 3.0])
    assert ops.add(a, b, 0.5, 0).dequantize().tolist() == [[2.0, 3.0, 4.0], [3.0, 4.0, 5.0]]


def test_add_of_a_number_is_add_scalar() -> None:
    """Adding a number needs no output parameters, as with torch's overload."""
    a = _quantized([1.0, 2.0])
    expected = ops.add_scalar(a, 1.0)
    for actual in (ops.add(a, 1.0), ops.add(1.0, a)):
        assert expected.int_repr().tolist() == actual.int_repr().tolist()
        assert expected.q_zero_point() == actual.q_zero_point()
    assert ops.mul_scalar(a, 3.0).q_scale() == ops.mul(a, 3.0).q_scale()


def test_scalars_change_the_grid_not_the_integers() -> None:
    """eq-add-scalar, eq-mul-scalar."""
    a = _quantized([1.0, 2.0])
    added, scaled = ops.add_scalar(a, 1.0), ops.mul_scalar(a, 2.0)
    assert a.int_repr().tolist() == added.int_repr().tolist() == scaled.int_repr().tolist()
    assert (added.q_scale(), added.q_zero_point()) == (0.5, 2)
    assert (scaled.q_scale(), scaled.q_zero_point()) == (1.0, 4)
    assert ops.add_scalar_relu(a, -3.0).dequantize().tolist() == [0.0, 0.0]
    assert ops.mul_scalar_relu(a, -1.0).dequantize().tolist() == [0.0, 0.0]


def test_scalar_may_be_a_tensor() -> None:
    """A tensor of one element is a number."""
    a = _quantized([1.0, 2.0])
    assert ops.add_scalar(a, pyqref.tensor(1.0)).q_zero_point() == 2


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_scalar_must_be_finite(number: float) -> None:
    with pytest.raises(ValueError, match="must be finite"):
        ops.add_scalar(_quantized([1.0]), number)


def test_cat() -> None:
    """eq-quantized-cat: parts on other grids are requantized, the default grid is the first's."""
    a, b = _quantized([1.0, 2.0]), _quantized([3.0], scale=1.0, zero_point=0)
    joined = ops.cat([a, b], 0, 0.25, 1)
    assert joined.int_repr().tolist() == [5, 9, 13]
    same = ops.cat([a, a])
    assert (same.q_scale(), same.q_zero_point()) == (0.5, 4)
    assert ops.cat_relu([_quantized([-1.0]), a], -1).dequantize().tolist() == [0.0, 1.0, 2.0]


def test_cat_errors() -> None:
    """An empty list, other sizes, another dtype, a dimension that is not there."""
    a = _quantized([1.0, 2.0])
    with pytest.raises(RuntimeError, match="non-empty list"):
        ops.cat([])
    with pytest.raises(RuntimeError, match="sizes must match except in dimension 0"):
        ops.cat([a.reshape(1, 2), a.reshape(2, 1)], 0)
    with pytest.raises(RuntimeError, match=r"qx\[1\] must have dtype pyqref.quint8"):
        ops.cat([a, _quantized([1.0], pyqref.qint8)])
    with pytest.raises(IndexError, match=r"dim must be in \[-1, 0\], got 1"):
        ops.cat([a, a], 1)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_matmul(engine: str) -> None:
    """Matrix by matrix, with the requantization of a linear layer."""
    pyqref.backends.quantized.engine = engine
    a = _quantized([[[1.0, 2.0]], [[-1.0, 0.5]]])
    b = _quantized([[[2.0], [1.0]], [[1.0], [2.0]]])
    result = ops.matmul(a, b, 0.5, 10)
    assert result.int_repr().tolist() == [[[18]], [[10]]]


MATRICES = [
    ((3,), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((1, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)),
    ((5, 1, 2, 3), (7, 3, 4)),
    ((0, 2, 3), (3, 4)),
    ((2, 0), (0,)),
]


@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8])
@pytest.mark.parametrize(("left", "right"), MATRICES)
def test_matmul_broadcasts(left: tuple[int, ...], right: tuple[int, ...], dtype: Any) -> None:
    """The shapes and, on grids without rounding, the numbers of ``matmul`` of real tensors."""
    rng = np.random.default_rng(0)
    a, b = (pyqref.tensor(rng.integers(-2, 3, n).astype(np.float32)) for n in (left, right))
    qa, qb = (pyqref.quantize_per_tensor(each, 1.0, 3, dtype) for each in (a, b))
    product = ops.matmul(qa, qb, 1.0, 30).dequantize()
    expected = pyqref.matmul(a, b)
    assert expected.shape == product.shape
    assert expected.tolist() == product.tolist()


@pytest.mark.parametrize(
    ("left", "right"), [((1, 2), (1, 2)), ((), (3,)), ((3,), (2,)), ((2, 2, 3), (3, 3, 4))]
)
def test_matmul_refuses_shapes(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    """The message names what is needed and what was given."""
    a, b = (
        pyqref.quantize_per_tensor(pyqref.ones(n), 1.0, 0, pyqref.quint8) for n in (left, right)
    )
    got = re.escape(f"got {left} and {right}")
    with pytest.raises(RuntimeError, match=rf"shapes \(\*, M, K\) and \(\*, K, N\).*{got}"):
        ops.matmul(a, b, 1.0, 0)


def test_matmul_errors() -> None:
    a = _quantized([[1.0, 2.0]])
    with pytest.raises(RuntimeError, match="qa must have dtype"):
        ops.matmul(_quantized([[1.0]], pyqref.qint32), a, 1.0, 0)


def test_mixed_arguments() -> None:
    """Both arguments are quantized tensors of one dtype, whose shapes broadcast."""
    a = _quantized([1.0, 2.0])
    with pytest.raises(RuntimeError, match=r"same dtype, got pyqref\.quint8 and pyqref\.qint8"):
        ops.add(a, _quantized([1.0, 2.0], pyqref.qint8), 1.0, 0)
    with pytest.raises(RuntimeError, match="qb must be a quantized tensor"):
        ops.add(a, pyqref.ones(2), 1.0, 0)
    with pytest.raises(RuntimeError, match="do not broadcast"):
        ops.mul(a, _quantized([1.0, 2.0, 3.0]), 1.0, 0)
    with pytest.raises(TypeError, match="scale and zero_point of the result must be given"):
        ops.add(a, a)
    b = _quantized([1.0], pyqref.qint8)
    with pytest.raises(ValueError, match=r"in \[-128, 127\] for qint8, got 200"):
        ops.add(b, b, 1.0, 200)


UNLIKE: dict[str, Any] = {
    "cat": pyqref.cat,
    "concat": pyqref.concat,
    "stack": pyqref.stack,
    "hstack": pyqref.hstack,
    "vstack": pyqref.vstack,
    "dstack": pyqref.dstack,
    "column_stack": pyqref.column_stack,
    "quantized.cat": ops.cat,
    "quantized.cat_relu": ops.cat_relu,
}


@pytest.mark.parametrize("name", UNLIKE)
def test_joins_of_unlike_grids_warn(name: str) -> None:
    """Later tensors are put on the grid of the first one, with loss, as in torch."""
    join = UNLIKE[name]
    narrow, wide = _quantized([0.0, 2.0], scale=0.25), _quantized([0.0, 200.0], scale=1.0)
    with pytest.warns(UnlikeGridsWarning, match=r"tensor 1, of scale 1 and .*-1 to 62\.75 only"):
        joined = join([narrow, wide])
    assert [0.0, 0.0, 2.0, 62.75] == sorted(joined.dequantize().flatten().tolist())
    same = join([narrow, _quantized([1.0, 2.0], scale=0.25)])  # warnings are errors
    assert 0.25 == same.q_scale()


def test_joins_with_a_grid_of_their_own_do_not_warn() -> None:
    """``quantized.cat`` with parameters quantizes each tensor once; an empty one loses nothing."""
    narrow, wide = _quantized([0.0, 2.0], scale=0.25), _quantized([0.0, 200.0], scale=1.0)
    functional = nn.quantized.QFunctional()
    functional.scale, functional.zero_point = 1.0, 0
    for join in (lambda x: ops.cat(x, 0, 1.0, 0), lambda x: ops.cat_relu(x, 0, 1.0, 0)):
        assert [0.0, 2.0, 0.0, 200.0] == join([narrow, wide]).dequantize().tolist()
    assert [0.0, 2.0, 0.0, 200.0] == functional.cat([narrow, wide]).dequantize().tolist()
    assert [0.0, 2.0] == pyqref.cat([narrow, wide[:0]]).dequantize().tolist()


def test_a_warning_of_unlike_grids_names_the_module() -> None:
    """The module is named in graph mode as well: multiplying by a number moves one grid."""

    class Block(nn.Module):
        def forward(self, x: Any) -> Any:
            more = ops.mul_scalar(x, 100.0) if x.is_quantized else x * 100.0
            return pyqref.cat([x, more])

    class Traced(nn.Module):
        def forward(self, x: Any) -> Any:
            return pyqref.cat([x, x * 100.0])

    x = pyqref.quantize_per_tensor(pyqref.ones(2), 0.1, 0, pyqref.quint8)
    with pytest.warns(UnlikeGridsWarning, match=r"^1\.0: cat puts .*FloatFunctional\.cat"):
        nn.Sequential(nn.Identity(), nn.Sequential(Block()))(x)
    example = pyqref.tensor([-1.0, 1.0])
    prepared = prepare_fx(Traced().eval(), get_default_qconfig_mapping("fbgemm"), (example,))
    prepared(example)
    with pytest.warns(UnlikeGridsWarning, match="cat puts tensor 1"):
        convert_fx(prepared)(example)


def test_a_static_lstm_is_silent() -> None:
    """Its directions and layers have grids of their own, which are joined inside, by definition."""
    model = nn.Sequential(QuantStub(), nn.LSTM(3, 2, 2, bidirectional=True)).eval()
    model.qconfig = get_default_qconfig("fbgemm")
    x = pyqref.randn(4, 1, 3)
    prepared = prepare(model)
    prepared(x)
    output, (hidden, cell) = convert(prepared)(x)
    assert ((4, 1, 4), (4, 1, 2), (4, 1, 2)) == (output.shape, hidden.shape, cell.shape)
