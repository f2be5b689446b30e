"""Quantize, dequantize, and what a quantized tensor says of itself."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pyqref

X = pyqref.tensor([[-1.0, 0.0, 1.0], [2.0, 0.05, -30.0]])


def _per_tensor(dtype: Any = pyqref.quint8) -> Any:
    return pyqref.quantize_per_tensor(X, 0.1, 10, dtype)


def _per_channel(axis: int = 0) -> Any:
    length = X.shape[axis]
    scales = pyqref.tensor([0.1, 0.05, 0.2][:length], dtype=pyqref.float64)
    zero_points = pyqref.tensor([10, 20, 0][:length])
    return pyqref.quantize_per_channel(X, scales, zero_points, axis, pyqref.quint8)


def test_per_tensor() -> None:
    """Equation eq-affine-quantize; numbers out of range saturate."""
    q = _per_tensor()
    assert [[0, 10, 20], [30, 10, 0]] == q.int_repr().tolist()
    assert 0.1 == q.q_scale()
    assert 10 == q.q_zero_point()
    assert pyqref.per_tensor_affine is q.qscheme()
    assert pyqref.quint8 is q.dtype
    assert q.is_quantized
    assert isinstance(q, pyqref.Tensor)


def test_per_channel() -> None:
    """Equation eq-affine-quantize-channel: each row has its own scale and zero point."""
    q = _per_channel()
    assert [[0, 10, 20], [60, 21, 0]] == q.int_repr().tolist()
    assert [0.1, 0.05] == q.q_per_channel_scales().tolist()
    assert [10, 20] == q.q_per_channel_zero_points().tolist()
    assert 0 == q.q_per_channel_axis()
    assert pyqref.float64 is q.q_per_channel_scales().dtype
    assert pyqref.int64 is q.q_per_channel_zero_points().dtype


@given(
    st.floats(1e-3, 10.0),
    st.integers(0, 255),
    st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=8),
)
def test_dequantize_is_half_a_step_away(scale: float, zero_point: int, values: Any) -> None:
    """Inside the range the error is at most scale / 2, up to float32 rounding of the quotient.

    The quotient has relative error 2**-23 and size at most 5000, so 2**-10 of a step is ample.
    """
    x = pyqref.tensor(values)
    back = pyqref.quantize_per_tensor(x, scale, zero_point, pyqref.quint8).dequantize()
    low, high = (0 - zero_point) * scale, (255 - zero_point) * scale
    inside = (x >= low) & (x <= high)
    error = (back - x).abs()[inside].tolist()
    assert all(each <= scale * (0.5 + 2.0**-10) for each in error)


@given(st.floats(1e-3, 10.0), st.integers(-128, 127))
def test_zero_is_exact(scale: float, zero_point: int) -> None:
    """The documentation: zero in floating point is represented without error."""
    q = pyqref.quantize_per_tensor(pyqref.zeros(3), scale, zero_point, pyqref.qint8)
    assert [0.0, 0.0, 0.0] == q.dequantize().tolist()


def test_scale_given_as_tensor() -> None:
    """A float is kept in double; a tensor gives its float32 value."""
    q = pyqref.quantize_per_tensor(X, pyqref.tensor(0.1), pyqref.tensor(10), pyqref.quint8)
    assert float(np.float32(0.1)) == q.q_scale()
    assert 10 == q.q_zero_point()


def test_lists() -> None:
    """Several tensors, each with its scale and zero point; dequantize of several."""
    a, b = pyqref.quantize_per_tensor(
        [X, X], pyqref.tensor([0.5, 0.25]), pyqref.tensor([1, 2]), pyqref.qint8
    )
    assert (0.5, 1) == (a.q_scale(), a.q_zero_point())
    assert (0.25, 2) == (b.q_scale(), b.q_zero_point())
    first, second = pyqref.dequantize([a, b])
    assert a.dequantize().tolist() == first.tolist()
    assert b.dequantize().tolist() == second.tolist()


def test_dynamic() -> None:
    """Scale and zero point from the smallest and largest element; 7 bits with reduce_range."""
    x = pyqref.tensor([0.0, 2.55])
    q = pyqref.quantize_per_tensor_dynamic(x, pyqref.quint8, False)
    assert [0, 255] == q.int_repr().tolist()
    reduced = pyqref.quantize_per_tensor_dynamic(x, pyqref.quint8, True)
    assert [0, 127] == reduced.int_repr().tolist()


def test_four_bits_two_to_a_byte() -> None:
    """quint4x2: the first number in the low half."""
    x = pyqref.tensor([[1.0, 2.0], [3.0, 15.0]])
    q = pyqref.quantize_per_channel(x, pyqref.ones(2), pyqref.zeros(2), 0, pyqref.quint4x2)
    assert pyqref.per_channel_affine_float_qparams is q.qscheme()
    assert [1 | 2 << 4, 3 | 15 << 4] == q.int_repr().tolist()
    assert x.tolist() == q.dequantize().tolist()


ONES, ZEROS = pyqref.ones(2), pyqref.zeros(2, dtype=pyqref.int64)
WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    *(
        (lambda s=scale: pyqref.quantize_per_tensor(X, s, 0, pyqref.quint8), ValueError, text)
        for scale, text in [
            (0.0, "scale must be positive, got 0.0"),
            (-0.1, "scale must be positive, got -0.1"),
            (float("nan"), "got nan"),
            (float("inf"), "must be finite"),
            (1e-40, "must not be subnormal"),
        ]
    ),
    (
        lambda: pyqref.quantize_per_tensor(X, 0.1, 300, pyqref.quint8),
        ValueError,
        r"zero_point must be in \[0, 255\] for quint8, got 300",
    ),
    (
        lambda: pyqref.quantize_per_tensor(X, 0.1, -129, pyqref.qint8),
        ValueError,
        r"\[-128, 127\] for qint8, got -129",
    ),
    (lambda: pyqref.quantize_per_tensor(X, 0.1, 0.5, pyqref.qint8), TypeError, "must be an int"),
    (lambda: pyqref.quantize_per_tensor(X, 0.1, 0, pyqref.int8), TypeError, "quantized dtype"),
    (lambda: pyqref.quantize_per_tensor(ZEROS, 0.1, 0, pyqref.qint8), TypeError, "float32 or"),
    (lambda: pyqref.quantize_per_tensor([1.0], [0.1], [0], pyqref.qint8), TypeError, "a tensor"),
    (lambda: pyqref.quantize_per_tensor(_per_tensor(), 1, 0, pyqref.qint8), TypeError, "already"),
    (
        lambda: pyqref.quantize_per_channel(X, ONES, ZEROS, 2, pyqref.qint8),
        ValueError,
        r"axis must be in \[0, 1\] for a 2-D tensor, got 2",
    ),
    (
        lambda: pyqref.quantize_per_channel(X, ONES, ZEROS, 1, pyqref.qint8),
        ValueError,
        "axis 1 has 3 channels, got 2 scales",
    ),
    (
        lambda: pyqref.quantize_per_channel(X, ONES, ZEROS[:1], 0, pyqref.qint8),
        ValueError,
        "of one length",
    ),
    (
        lambda: pyqref.quantize_per_channel(X, ONES * 0, ZEROS, 0, pyqref.qint8),
        ValueError,
        "scales must be positive, got 0.0",
    ),
    (lambda: _per_channel().q_scale(), RuntimeError, "use q_per_channel_scales"),
    (lambda: _per_tensor().q_per_channel_axis(), RuntimeError, "use q_scale"),
    (lambda: _per_tensor().numpy(), TypeError, r"use int_repr\(\).numpy\(\)"),
    (lambda: _per_tensor().float(), RuntimeError, "dequantize"),
    (lambda: _per_tensor() + _per_tensor(), RuntimeError, "add is not defined for quantized"),
    (lambda: _per_tensor().requires_grad_(), RuntimeError, "floating point"),
    (lambda: pyqref.zeros(2, 3).copy_(_per_tensor()), RuntimeError, r"use dequantize\(\)"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_bad_input(number: int) -> None:
    """The error names the argument, the value and the range or the remedy."""
    call, error, text = WRONG[number]
    with pytest.raises(error, match=text):
        call()


def test_empty() -> None:
    """No elements, no trouble."""
    q = pyqref.quantize_per_tensor(pyqref.zeros(0, 3), 0.1, 0, pyqref.quint8)
    assert (0, 3) == q.dequantize().shape


@pytest.mark.parametrize("make", [_per_tensor, _per_channel])
def test_copies_keep_the_parameters(make: Any) -> None:
    """clone, deepcopy and pickle."""
    q = make()
    for other in (q.clone(), copy.deepcopy(q), pickle.loads(pickle.dumps(q))):
        assert q.equal(other)
        other.fill_(0.0)
    assert q.equal(make())


def test_registered_operation() -> None:
    """A user's operation has its own dtype and scheme, and is found under ops."""

    def halves(q: Any) -> Any:
        scales = pyqref.full((2,), q.q_scale() / 2)
        return pyqref.quantize_per_channel(
            q.dequantize() / 2, scales, pyqref.zeros(2, dtype=pyqref.int64), 0, pyqref.qint32
        )

    name = "pyqref_test::halves"
    if name not in pyqref.library.registered():
        pyqref.library.register(name, halves)
    result = pyqref.ops.pyqref_test.halves(_per_tensor())
    assert pyqref.qint32 is result.dtype
    assert [0.5, 0.0] == pytest.approx([result[0, 2].item(), result[0, 1].item()])
    with pytest.raises(ValueError, match="registered already"):
        pyqref.library.register(name, halves)
    with pytest.raises(ValueError, match="reserved"):
        pyqref.library.register("quantized::add", halves)
    with pytest.raises(ValueError, match="namespace::operation"):
        pyqref.library.register("halves", halves)
    with pytest.raises(AttributeError, match="no namespace 'absent'"):
        _ = pyqref.ops.absent


@pytest.mark.parametrize("axis", [2**63, -(2**63) - 1, 10**30])
def test_axis_of_64_bits(axis: int) -> None:
    """An axis that no C integer holds is refused each time, whatever is remembered of it."""
    for _ in range(2):
        with pytest.raises(ValueError, match="axis must fit 64 bits"):
            pyqref.quantize_per_channel(X, ONES, ZEROS, axis, pyqref.qint8)


def test_four_elements_in_a_byte() -> None:
    """quint2x4: equation eq-pack-bits over the ends of the rows, as torch stores it."""
    x = pyqref.tensor([[0.0, 0.5, 1.0], [2.5, 7.0, -3.0]])
    q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint2x4)
    assert [[0.0, 0.0, 1.0], [2.0, 3.0, 0.0]] == q.dequantize().tolist()
    assert [0b10_01_00_00, 0b00_11] == q.int_repr().tolist()
    rows = pyqref.quantize_per_channel(x, pyqref.ones(2), pyqref.ones(2), 0, pyqref.quint2x4)
    assert [[0.0, 1.0, 1.0], [2.0, 2.0, -1.0]] == rows.dequantize().tolist()
    assert (0, 3, 2) == (pyqref.quint2x4.quant_min, pyqref.quint2x4.quant_max, pyqref.quint2x4.bits)


@pytest.mark.parametrize("name", ["quint4x2", "quint2x4"])
@pytest.mark.filterwarnings("ignore")
def test_packed_elements_as_torch(name: str, tmp_path: Path) -> None:
    """Stored integers, files and models' tensors agree with torch's, both ways."""
    torch = pytest.importorskip("torch")
    x = np.random.default_rng(0).uniform(-4, 20, (3, 5)).astype(np.float32)
    made = [
        t.quantize_per_channel(
            t.from_numpy(x), t.full((3,), 0.7), t.full((3,), 1.5), 0, getattr(t, name)
        )
        for t in (torch, pyqref)
    ]
    expected, actual = (each.int_repr().tolist() for each in made)
    assert expected == actual
    torch.save(made[0], tmp_path / "torch.pt")
    pyqref.save(made[1], tmp_path / "pyqref.pt")
    for path in ("torch.pt", "pyqref.pt"):
        loaded = pyqref.load(tmp_path / path)
        assert (getattr(pyqref, name), expected) == (loaded.dtype, loaded.int_repr().tolist())
        assert made[1].dequantize().tolist() == loaded.dequantize().tolist()
    holder = pyqref.nn.Module()
    holder.register_buffer("w", made[1])
    back = pyqref.interop.to_torch_state_dict(holder)["w"]
    assert made[0].dtype == back.dtype
    assert expected == back.int_repr().tolist()
