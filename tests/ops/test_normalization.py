"""Norms of quantized tensors, by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops

DTYPES = [pyqref.quint8, pyqref.qint8, pyqref.qint32]
#: Half a step of the output, and float32 roundings of numbers up to 8 with 16 operations.
BOUND = 0.05 / 2 + 16 * 8 * 2.0**-24


def floats(seed: int, *shape: int) -> Any:
    values = np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)
    return pyqref.from_numpy(values)


def quantized(dtype: Any, *shape: int) -> Any:
    return pyqref.quantize_per_tensor(floats(0, *shape), 0.01, 5, dtype)


def near(expected: Any, actual: Any) -> bool:
    """Within half a step, where the grid reaches."""
    low = (actual.dtype.quant_min - actual.q_zero_point()) * actual.q_scale()
    high = (actual.dtype.quant_max - actual.q_zero_point()) * actual.q_scale()
    gap = np.clip(expected.numpy(), low, high) - actual.dequantize().numpy()
    return bool(np.abs(gap).max() <= BOUND)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("affine", [False, True])
def test_layer_norm(dtype: Any, affine: bool) -> None:
    """Last axes; any leading ones."""
    x = quantized(dtype, 2, 3, 4, 5)
    w, b = (floats(1, 4, 5), floats(2, 4, 5)) if affine else (None, None)
    y = ops.layer_norm(x, [4, 5], w, b, 1e-3, 0.05, 20)
    assert near(F.layer_norm(x.dequantize(), [4, 5], w, b, 1e-3), y)
    assert (0.05, 20, dtype) == (y.q_scale(), y.q_zero_point(), y.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_group_norm(dtype: Any, groups: int) -> None:
    """Groups of channels; no spatial axis is needed."""
    w, b = floats(1, 4), floats(2, 4)
    for shape in ((3, 4), (2, 4, 5), (2, 4, 3, 5)):
        x = quantized(dtype, *shape)
        if groups == 4 and len(shape) == 2:
            continue  # one element has no variance
        y = ops.group_norm(x, groups, w, b, 1e-3, 0.05, 20)
        assert near(F.group_norm(x.dequantize(), groups, w, b, 1e-3), y)


@pytest.mark.parametrize("shape", [(2, 4, 9), (2, 4, 3, 5), (2, 4, 2, 3, 2)])
def test_instance_norm(shape: tuple[int, ...]) -> None:
    """Each channel of each image."""
    x = quantized(pyqref.quint8, *shape)
    w, b = floats(1, 4), floats(2, 4)
    y = ops.instance_norm(x, w, b, 1e-3, 0.05, 20)
    assert near(F.instance_norm(x.dequantize(), weight=w, bias=b, eps=1e-3), y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("1d", (5, 4)),
        ("1d", (5, 4, 3)),
        ("2d", (2, 4, 3, 3)),
        ("3d", (2, 4, 2, 3, 2)),
        ("", (5, 4)),
    ],
)
def test_batch_norm(kind: str, shape: tuple[int, ...], dtype: Any) -> None:
    """Known statistics; with ReLU nothing below the zero point."""
    x = quantized(dtype, *shape)
    w, b, mean, var = floats(1, 4), floats(2, 4), floats(3, 4), floats(4, 4).abs() + 0.5
    arguments = (w, b, mean, var, 1e-3, 0.05, 20)
    expected = F.batch_norm(x.dequantize(), mean, var, w, b, False, 0.1, 1e-3)
    assert near(expected, getattr(ops, f"batch_norm{kind}")(x, *arguments))
    clamped = getattr(ops, f"batch_norm{kind}_relu")(x, *arguments)
    assert near(expected.clamp(min=0), clamped)
    assert clamped.int_repr().min().item() >= 20


def test_constant_rows() -> None:
    """No variance: the numerator is zero as well."""
    x = pyqref.quantize_per_tensor(pyqref.ones(2, 8), 0.1, 3, pyqref.quint8)
    y = ops.layer_norm(x, [8], None, None, 1e-5, 0.1, 7)
    assert {7} == set(y.int_repr().flatten().tolist())


def test_memory_format_makes_no_difference() -> None:
    """Channels last gives the same integers."""
    x = quantized(pyqref.quint8, 2, 4, 3, 5)
    last = x.contiguous(memory_format=pyqref.channels_last)
    w, b = floats(1, 4), floats(2, 4)
    for run in (
        lambda t: ops.group_norm(t, 2, w, b, 1e-3, 0.05, 20),
        lambda t: ops.batch_norm2d(t, w, b, b, w * w, 1e-3, 0.05, 20),
    ):
        assert run(x).int_repr().tolist() == run(last).int_repr().tolist()


def test_no_rows() -> None:
    """An empty batch works."""
    x = pyqref.quantize_per_tensor(pyqref.ones(0, 4, 2), 0.1, 0, pyqref.quint8)
    assert (0, 4, 2) == tuple(ops.layer_norm(x, [2], None, None, 1e-5, 0.1, 0).shape)
    assert (0, 4, 2) == tuple(ops.instance_norm(x, None, None, 1e-5, 0.1, 0).shape)


def good(**changes: Any) -> dict[str, Any]:
    arguments = {
        "weight": floats(1, 4),
        "bias": floats(2, 4),
        "mean": floats(3, 4),
        "var": floats(4, 4),
    }
    return {**arguments, **changes}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: ops.layer_norm(x, [3], None, None, 1e-5, 1.0, 0), RuntimeError, "last axes"),
        (lambda x: ops.layer_norm(x, [], None, None, 1e-5, 1.0, 0), RuntimeError, "last axes"),
        (
            lambda x: ops.layer_norm(x, [5], floats(1, 4), None, 1e-5, 1.0, 0),
            RuntimeError,
            r"weight must have shape \(5,\), got \(4,\)",
        ),
        (lambda x: ops.layer_norm(x, [5], None, None, 1e-5, -1.0, 0), ValueError, "scale must"),
        (
            lambda x: ops.layer_norm(x.dequantize(), [5], None, None, 1e-5, 1.0, 0),
            RuntimeError,
            "must be a quantized tensor",
        ),
        (lambda x: ops.group_norm(x, 3, None, None, 1e-5, 1.0, 0), RuntimeError, "must divide"),
        (lambda x: ops.group_norm(x, 0, None, None, 1e-5, 1.0, 0), RuntimeError, "must divide"),
        (
            lambda x: ops.instance_norm(x[0, 0], None, None, 1e-5, 1.0, 0),
            RuntimeError,
            "dimensions",
        ),
        (
            lambda x: ops.batch_norm2d(x, **good(), eps=0, output_scale=1.0, output_zero_point=0),
            RuntimeError,
            "must have 4 dimensions",
        ),
        (
            lambda x: ops.batch_norm1d(
                x, **good(mean=floats(0, 3)), eps=0, output_scale=1.0, output_zero_point=0
            ),
            RuntimeError,
            "mean must have shape",
        ),
        (
            lambda x: ops.batch_norm1d(
                x, **good(var=x), eps=0, output_scale=1.0, output_zero_point=0
            ),
            RuntimeError,
            "var must be a float32",
        ),
    ],
)
def test_refusals(call: Any, error: type[Exception], message: str) -> None:
    """The error names the operation and the argument."""
    with pytest.raises(error, match=message):
        call(quantized(pyqref.quint8, 2, 4, 5))
