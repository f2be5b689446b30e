"""A packed weight takes the memory of its integers, and little more."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import pyqref
from pyqref import _kernels
from pyqref._kernels.pooling import windows
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


def test_no_room_is_made_where_no_kernel_computes(compiled_kernel: str) -> None:
    """NumPy's equations do, and make the result themselves."""
    x = np.zeros((1, 4, 64, 64))
    twin = _kernels.registry.twin
    geometry = windows._geometry(x.shape, (2, 2), (1, 1), (0, 0), (1, 1), False, True)
    calls: list[tuple[str, str, type, tuple[object, ...]]] = [
        ("elementwise", "clamp", np.int32, (None, 0, 255, 1)),
        ("quantize", "quantize_per_tensor", np.float64, (np.dtype(np.uint8), 0.1, 3, 0, 255, 1)),
        ("quantize", "dequantize_per_tensor", np.int64, (np.dtype(np.float32), 0.1, 3, 1)),
        ("pooling", "max_pool", np.int32, (None, geometry, 1)),
    ]
    for operation, name, dtype, rest in calls:
        run, given = getattr(twin(operation), name), x.astype(dtype)
        tracemalloc.start()
        try:
            assert run(given, *rest) is None
            assert tracemalloc.get_traced_memory()[1] < x.size
        finally:
            tracemalloc.stop()


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_scratch_of_a_convolution(
    compiled_kernel: str, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scratch takes at most 1 MiB a thread, including the gap before that of the next."""
    monkeypatch.setattr(_kernels.threads, "limit", n_threads)
    rng = np.random.default_rng(3)
    for size, channels, outputs, kernel in (
        ((60, 60), 3, 64, 7),
        ((40, 40), 21, 64, 3),
        ((30, 30), 256, 128, 3),
        ((4, 84), 1984, 16, 3),
        ((9, 20, 20), 3, 16, 3),
    ):
        weight = rng.integers(-128, 128, (outputs, channels, *(kernel,) * len(size)))
        module = {2: pyqref.nn.quantized.Conv2d, 3: pyqref.nn.quantized.Conv3d}[len(size)]
        layer = module(channels, outputs, kernel, padding=kernel // 2)
        real = pyqref.from_numpy(weight.astype(np.float32))
        layer.set_weight_bias(pyqref.quantize_per_tensor(real, 1.0, 0, pyqref.qint8), None)
        real = pyqref.from_numpy(rng.random((1, channels, *size)).astype(np.float32))
        x = pyqref.quantize_per_tensor(real, 0.01, 3, pyqref.quint8)
        result = layer(x).int_repr().numpy().nbytes
        tracemalloc.start()
        try:
            layer(x)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert peak - result <= n_threads << 20
