"""Quantization between plain tensors, in the form of exported graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref

X = np.random.default_rng(0).uniform(-3, 3, (50, 8)).astype(np.float32)
X[0] = [0.05, 0.15, 0.25, -0.05, 100, -100, 0, -0.0]
SCALES, ZERO_POINTS = np.linspace(0.01, 0.1, 8).astype(np.float32), np.arange(8) - 3


def _everything(torch: Any) -> dict[str, Any]:
    if torch is not pyqref:
        import torch.ao.quantization.fx._decomposed
    ops, x = torch.ops.quantized_decomposed, torch.from_numpy(X.copy())
    scales, zero_points = torch.from_numpy(SCALES.copy()), torch.from_numpy(ZERO_POINTS.copy())
    i8, found = torch.int8, {}
    for name, args in {
        "int8": (0.1, 3, -128, 127, i8),
        "uint8": (0.03, 128, 0, 255, torch.uint8),
        "int16": (0.001, 0, -512, 511, torch.int16),
    }.items():
        q = found[f"quantize {name}"] = ops.quantize_per_tensor(x, *args)
        found[f"dequantize {name}"] = ops.dequantize_per_tensor.default(q, *args)
    q = ops.quantize_per_tensor.tensor(x, torch.tensor(0.1), torch.tensor(3), -128, 127, i8)
    found["tensors"] = q
    found["half"] = ops.dequantize_per_tensor(q, 0.1, 3, -128, 127, i8, out_dtype=torch.float16)
    channels = scales, zero_points, 1, -128, 127
    q = found["quantize channels"] = ops.quantize_per_channel(x, *channels, i8)
    found["dequantize channels"] = ops.dequantize_per_channel(q, *channels, i8)
    found["no zero points"] = ops.dequantize_per_channel(q, scales, None, 1, -128, 127, i8)
    found["fake"] = ops.fake_quant_per_channel(x, *channels)
    found["qparams"] = ops.choose_qparams(x, -128, 127, 1e-4, i8)
    found["small"] = ops.choose_qparams(x * 1e-9, 0, 255, 1e-4, torch.uint8)
    found["symmetric"] = ops.choose_qparams_symmetric(x, -127, 127, 1e-4, i8)
    for end, out in (("", torch.float32), ("_asymmetric", torch.float32)):
        grid = found[f"token{end}"] = getattr(ops, f"choose_qparams_per_token{end}")(x, i8)
        q = found[f"quantize token{end}"] = ops.quantize_per_token(x, *grid, -128, 127, i8)
        found[f"dequantize token{end}"] = ops.dequantize_per_token(q, *grid, -128, 127, i8, out)
    flat = {}
    for name, value in found.items():
        for index, each in enumerate(value if isinstance(value, tuple) else (value,)):
            flat[f"{name} {index}"] = (str(each.dtype).rpartition(".")[2], each.tolist())
    return flat


def test_as_torch() -> None:
    """Every operation, to the bit."""
    torch = pytest.importorskip("torch")
    ours, theirs = _everything(pyqref), _everything(torch)
    assert [] == [name for name, each in theirs.items() if each != ours[name]]


def test_the_zero_point_is_added_after_rounding() -> None:
    """0.25 / 0.1 is 2.5, which rounds to 2; with the zero point 3 before it, 5.5 rounds to 6."""
    x = pyqref.tensor([0.25])
    quantize = pyqref.ops.quantized_decomposed.quantize_per_tensor
    assert [5] == quantize(x, 0.1, 3, -128, 127, pyqref.int8).tolist()
    assert [6] == pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.qint8).int_repr().tolist()


def test_refusals() -> None:
    """Each names the operation, the argument, and what came."""
    ops, x, i8 = pyqref.ops.quantized_decomposed, pyqref.ones(2, 2), pyqref.int8
    for error, text, call in (
        (
            ValueError,
            r"within \[-128, 127\] of int8",
            lambda: ops.quantize_per_tensor(x, 1.0, 0, -300, 127, i8),
        ),
        (
            ValueError,
            "scale must be positive",
            lambda: ops.quantize_per_tensor(x, 0.0, 0, 0, 127, i8),
        ),
        (
            TypeError,
            "dtype must be uint8",
            lambda: ops.quantize_per_tensor(x, 1.0, 0, 0, 127, pyqref.qint8),
        ),
        (
            TypeError,
            r"use x\.float\(\)",
            lambda: ops.quantize_per_tensor(x.double(), 1.0, 0, 0, 127, i8),
        ),
        (
            TypeError,
            "input and dtype must be",
            lambda: ops.dequantize_per_tensor(x, 1.0, 0, 0, 127, i8),
        ),
        (
            ValueError,
            r"scales must have shape \(2,\)",
            lambda: ops.quantize_per_channel(x, pyqref.ones(3), pyqref.zeros(3), 0, 0, 127, i8),
        ),
        (
            IndexError,
            "axis must be below 2",
            lambda: ops.quantize_per_channel(x, pyqref.ones(2), pyqref.zeros(2), 2, 0, 127, i8),
        ),
        (
            ValueError,
            "one for each row",
            lambda: ops.quantize_per_token(x, pyqref.ones(2), pyqref.zeros(2), 0, 127, i8),
        ),
        (TypeError, "dtype must be int8", lambda: ops.choose_qparams_per_token(x, pyqref.uint8)),
        (ValueError, "all finite", lambda: ops.choose_qparams(x / 0, 0, 127, 1e-4, i8)),
    ):
        with pytest.raises(error, match=text):
            call()
