"""A packed weight takes the memory of its integers, and little more."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import pyqref
from pyqref.ops import quantized

#: Of its int8 bytes: beside them stand a sum, a scale, a zero point, a bias, a multiplier and
#: the bias once more for each output, 32 bytes for 512 inputs and more.
MOST = 1.1


def packed_after_use(columns: int, depth: int) -> object:
    """The packed weight of a layer that has run."""
    x = pyqref.quantize_per_tensor(pyqref.ones(2, depth), 0.1, 3, pyqref.quint8)
    real = pyqref.from_numpy(np.ones((columns, depth), np.float32))
    scales = pyqref.from_numpy(np.full(columns, 0.02))
    points = pyqref.from_numpy(np.zeros(columns, np.int64))
    weight = pyqref.quantize_per_channel(real, scales, points, 0, pyqref.qint8)
    packed = quantized.linear_prepack(weight, pyqref.zeros(columns))
    quantized.linear(x, packed, 0.5, 7)
    quantized.linear_dynamic(x.dequantize(), packed)
    return packed


@pytest.mark.parametrize("columns", [256, 1000])
def test_packed_weight_takes_its_integers_and_little_more(columns: int) -> None:
    """Nothing unpacked stays once the layer has run."""
    depth = 1024
    packed_after_use(1, depth)  # what is imported and kept for good
    gc.collect()
    tracemalloc.start()
    try:
        packed = packed_after_use(columns, depth)
        gc.collect()
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert packed is not None
    assert columns * depth <= held < MOST * columns * depth
