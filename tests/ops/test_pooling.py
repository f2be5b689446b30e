"""Pooling and resizing of quantized tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops


def _image(*shape: int, dtype: pyqref.dtype = pyqref.quint8) -> pyqref.Tensor:
    values = np.random.default_rng(0).integers(0, 100, shape).astype(np.float32)
    return pyqref.quantize_per_tensor(pyqref.from_numpy(values), 1.0, 3, dtype)


@pytest.mark.parametrize("dtype", [pyqref.quint8, pyqref.qint8, pyqref.qint32])
def test_max_pool_is_that_of_the_numbers(dtype: pyqref.dtype) -> None:
    """Order is kept by quantizing, so the largest integer is the largest number."""
    x = _image(2, 3, 7, 6, dtype=dtype)
    expected = F.max_pool2d(x.dequantize(), 3, 2, 1)
    for actual in (ops.max_pool2d(x, 3, 2, 1), nn.MaxPool2d(3, 2, 1)(x)):
        assert expected.tolist() == actual.dequantize().tolist()
        assert (actual.q_scale(), actual.q_zero_point()) == (1.0, 3)


def test_max_pool_of_three_dimensions_and_empty_stride() -> None:
    """(C, H, W) is an image without batch; an empty stride is the kernel's size."""
    x = _image(3, 6, 6)
    expected = F.max_pool2d(x.dequantize(), 2).tolist()
    assert expected == ops.max_pool2d(x, [2, 2], [], [0, 0], [1, 1], False).dequantize().tolist()
    row = _image(2, 3, 6)
    assert tuple(ops.max_pool1d(row, 2).shape) == (2, 3, 3)


def test_windows_that_reach_past_the_end_alone() -> None:
    """With ceil_mode a window may be larger than the input, as in torch."""
    x = _image(1, 2, 3, 3)
    for y in (ops.max_pool2d(x, 4, 2, ceil_mode=True), F.max_pool2d(x, 4, 2, ceil_mode=True)):
        assert x.int_repr().amax((2, 3)).flatten().tolist() == y.int_repr().flatten().tolist()


@pytest.mark.parametrize("pool", [ops.max_pool2d, F.max_pool2d, F.avg_pool2d])
def test_windows_that_do_not_fit(pool: Any) -> None:
    with pytest.raises(
        RuntimeError, match=r"input of size \[3, 3\] .*too small for .* size \[0, 0\]"
    ):
        pool(_image(1, 2, 3, 3), 4, 1)


def test_average_is_rounded_once() -> None:
    """eq-quantized-avg-pool: halves go to even after the zero point is added."""
    x = pyqref.quantize_per_tensor(pyqref.tensor([[[[0.0, 1.0, 2.0, 3.0]]]]), 1.0, 3, pyqref.quint8)
    assert F.avg_pool2d(x, (1, 2)).int_repr().flatten().tolist() == [4, 6]
    assert nn.AdaptiveAvgPool2d(1)(x).int_repr().flatten().tolist() == [4]


def test_interpolation_keeps_the_grid() -> None:
    x = pyqref.quantize_per_tensor(pyqref.tensor([[[[0.0, 4.0]]]]), 1.0, 3, pyqref.quint8)
    nearest = F.interpolate(x, size=(1, 4))
    assert nearest.int_repr().flatten().tolist() == [3, 3, 7, 7]
    exact = F.interpolate(x, size=(1, 1), mode="nearest-exact")
    assert exact.int_repr().flatten().tolist() == [7]
    bilinear = F.interpolate(x, size=(1, 4), mode="bilinear", align_corners=False)
    assert bilinear.int_repr().flatten().tolist() == [3, 4, 6, 7]
    with pytest.raises(RuntimeError, match="must be 'nearest', 'nearest-exact' or"):
        F.interpolate(x, size=(1, 4), mode="bicubic", align_corners=False)


def test_errors() -> None:
    """Padding beyond half of the kernel, wrong dimensions, indices."""
    x = _image(1, 1, 4, 4)
    with pytest.raises(RuntimeError, match="at most half"):
        ops.max_pool2d(x, 2, 1, 2)
    with pytest.raises(RuntimeError, match="must have 3 or 4 dimensions"):
        ops.max_pool2d(x[0, 0], 2)
    with pytest.raises(RuntimeError, match="takes return_indices=False"):
        F.max_pool2d(x, 2, return_indices=True)
    with pytest.raises(RuntimeError, match="must be a quantized tensor"):
        ops.max_pool2d(x.dequantize(), 2)
