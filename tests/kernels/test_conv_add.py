"""Convolutions to which a tensor is added before the one rounding."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.conv_cases import Case, plane
from kernels.layers import integers
from kernels.test_conv import PACK

from pyqref import _kernels
from pyqref._kernels import registry
from pyqref._kernels.qconv.geometry import in_space, part_of
from pyqref._kernels.qconv.structs import Addend, InputGrid
from pyqref._kernels.qgemm.finish import BYTES, finish_of_sums
from pyqref.numerics.affine import dequantize_per_tensor
from pyqref.numerics.convolution import conv_accumulator
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.fused_function import plus, requantize_function

CASES = {
    "pixels": plane(2, 7, 9, 5, 1),
    "whole vectors": plane(1, 64, 12, 64, 1),
    "more than a panel": plane(1, 20, 13, 83, 1, stride=2),
    "windows": plane(2, 3, 9, 5, 3, padding=1, stride=2),
    "far taps": plane(1, 8, 21, 33, 3, padding=2, dilation=2),
    "tiles": plane(1, 64, 56, 64, 3, padding=1),
    "tiles, and outputs beside them": plane(2, 256, 14, 256, 3, padding=1),
    "one column beside": plane(1, 256, 17, 64, 3, padding=1),
    "groups": plane(2, 40, 9, 60, 3, padding=1, groups=2),
    "joined groups": plane(1, 6, 9, 6, 3, groups=2),
    "depthwise": plane(1, 40, 20, 40, 3, padding=1, groups=40),
    "strips": plane(1, 32, 12, 32, 3, padding=1, groups=8),
    "a line": Case(2, 4, (70,), 3, (3,), (2,), (1,), (1,)),
    "a block": Case(1, 3, (4, 5, 30), 2, (2, 2, 3), (1, 1, 1), (1, 0, 1), (1, 1, 2)),
}


def _with_channels_last(x: np.ndarray) -> np.ndarray:
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("zero_points", [False, True])
@pytest.mark.parametrize("last", [False, True])
def test_sums_and_what_is_added(
    kernel: str, case: Case, zero_points: bool, last: bool, n_threads: int
) -> None:
    """eq-requantize-function, of bytes of either kind, and what is added stays as it is."""
    rng = np.random.default_rng(5)
    x = integers(rng, (case.batch, case.channels, *case.size), np.uint8)
    weight = integers(rng, (case.outputs, case.channels // case.groups, *case.kernel), np.int8)
    points = rng.integers(-9, 9, case.outputs) if zero_points else np.zeros(1, np.int64)
    steps = (case.stride, case.padding, case.dilation)
    centred = weight - points.reshape(-1, *(1,) * (x.ndim - 1))
    sums = conv_accumulator(x.astype(np.int64) - 7, centred, *steps, case.groups)
    depth = weight[0].size
    scales = rng.uniform(0.5, 1, case.outputs) / 64 / np.sqrt(depth)
    packed = PACK[len(case.size)](weight, case.groups, centred=not zero_points)
    x = _with_channels_last(x) if last else x
    for storage, relu, has_bias in ((np.uint8, False, True), (np.int8, True, False)):
        added = np.moveaxis(integers(rng, sums.shape, storage), -1, 1)
        added = added if last else np.ascontiguousarray(added)
        bias = rng.standard_normal(case.outputs).astype(np.float32) if has_bias else None
        if bias is not None:
            bias[-1] = np.nan
        grid, out = Grid(0.3, 11, storage=storage), Grid(0.7, 120)
        before = added.copy()
        actual = _kernels.conv_add(
            x, Grid(0.5, 7), packed, scales, points, bias, *steps, added, grid, out, relu
        )
        real = dequantize_per_tensor(np.moveaxis(added, 1, -1), grid.scale, grid.zero_point)
        expected = requantize_function(
            sums, 0.5, scales, bias, plus(real, relu), out.scale, out.zero_point
        )
        assert_same_bits(np.moveaxis(expected, -1, 1), actual)
        assert len(np.unique(actual)) > 50
        assert np.array_equal(before, added)


@pytest.mark.parametrize("groups", [8, 32])
def test_what_is_no_product_is_refused(compiled_kernel: str, groups: int) -> None:
    """A kernel that may compute an output twice would add to it twice."""
    packed = _kernels.pack_conv2d(np.ones((32, 32 // groups, 3, 3), np.int8), groups)
    ones, none, size = (1, 1), (0, 0), (3, 3)
    walk = in_space((5, 5), size, ones, none, ones, size, size)
    part = part_of(packed, walk, centred=True)
    kernel = registry.twin("qconv")
    assert kernel is not None
    grid, addend = InputGrid(32, False, 0), Addend(1.0, 0, 1.0, False)
    sums = finish_of_sums(None)
    with pytest.raises(ValueError, match="no depthwise one"):
        kernel.Convolution((part,), grid, sums._replace(upper=255, store=BYTES), addend)
    with pytest.raises(ValueError, match="lies in bytes"):
        kernel.Convolution((part,), grid, sums, addend)
