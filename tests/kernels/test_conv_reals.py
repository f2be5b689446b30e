"""Convolutions of real numbers into real numbers, whose bytes are never there as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.conv_cases import Case, plane
from kernels.layers import integers
from kernels.test_conv import PACK, RUN

from pyqref import _kernels
from pyqref._kernels.qconv.reals import dequantize_in_place, output_for_bytes
from pyqref.numerics import convolution as reference
from pyqref.numerics.affine import dequantize_per_tensor, quantize_per_tensor
from pyqref.numerics.requantize import requantization

SCALE, ZERO_POINT = 0.03, 120


def in_every_order(rng: np.random.Generator, case: Case) -> list[np.ndarray]:
    """Images with their channels first and last, with gaps, and in other orders."""
    x = rng.standard_normal((case.batch, case.channels, *case.size)).astype(np.float32)
    wide = np.pad(x, [(0, 0), (1, 1), *([(1, 2)] * len(case.size))])
    inner = (slice(None), slice(1, -1), *([slice(1, -2)] * len(case.size)))
    return [
        x,
        np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1),
        wide[inner],
        np.moveaxis(np.ascontiguousarray(np.moveaxis(wide, 1, -1)), -1, 1)[inner],
        np.ascontiguousarray(x.T).T,
        np.repeat(x, 2, axis=-1)[..., ::2],
    ]


CASES = [
    plane(2, 1, 9, 3, 3, padding=1),
    plane(2, 3, 20, 5, 3, padding=1, stride=2),
    plane(1, 17, 18, 4, 1),
    plane(1, 40, 70, 3, 3, padding=1),
    plane(2, 12, 17, 12, 3, padding=1, groups=12),
    plane(1, 32, 16, 32, 3, padding=1, groups=4),
    Case(2, 5, (300,), 3, (3,), (2,), (1,), (1,)),
    Case(1, 16, (5, 30, 40), 2, (2, 3, 1), (1, 1, 1), (1, 1, 0), (1, 1, 1)),
]


@pytest.mark.parametrize("case", CASES)
def test_as_by_way_of_integers(kernel: str, case: Case, n_threads: int) -> None:
    """eq-conv-dynamic, whatever the order of the input."""
    rng = np.random.default_rng(1)
    shape = (case.outputs, case.channels // case.groups, *case.kernel)
    weight, steps = integers(rng, shape, np.int8), (case.stride, case.padding, case.dilation)
    requant = requantization("fbgemm", SCALE, 0.01, SCALE, ZERO_POINT)
    packed = PACK[len(case.size)](weight, case.groups)
    for x in in_every_order(rng, case):
        q = quantize_per_tensor(x, SCALE, ZERO_POINT, 0, 255, np.uint8)
        y = reference.quantized_conv(q, ZERO_POINT, weight, 0, requant, *steps, case.groups)
        expected = dequantize_per_tensor(y, SCALE, ZERO_POINT)
        run = RUN[len(case.size)]
        assert_same_bits(expected, run(x, ZERO_POINT, packed, 0, requant, *steps, SCALE))


@pytest.mark.parametrize("size", [(6, 7), (90, 100)])
def test_transposed(kernel: str, size: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((2, 48, *size)).astype(np.float32)
    weight = integers(rng, (48, 2, 3, 3), np.int8)
    requant = requantization("fbgemm", SCALE, 0.01, SCALE, ZERO_POINT)
    steps = ((2, 2), (1, 1), (1, 0), (1, 1))
    q = quantize_per_tensor(x, SCALE, ZERO_POINT, 0, 255, np.uint8)
    y = reference.quantized_conv_transpose(q, ZERO_POINT, weight, 0, requant, *steps, 1)
    packed = _kernels.pack_conv_transpose(weight, (2, 2), (1, 1))
    actual = _kernels.conv_transpose(x, ZERO_POINT, packed, 0, requant, (1, 1), (1, 0), SCALE)
    assert_same_bits(dequantize_per_tensor(y, SCALE, ZERO_POINT), actual)


@pytest.mark.parametrize("size", [0, 1, 2, 3, 5, 8191, 8192, 8193, 40_000, 150_001])
def test_bytes_make_room_for_real_numbers(kernel: str, size: int, n_threads: int) -> None:
    """Numbers end before the next byte that is not one yet."""
    real, q = output_for_bytes((size,))
    q[...] = np.arange(size) % 251
    expected = dequantize_per_tensor(q.copy(), SCALE, ZERO_POINT)
    dequantize_in_place(real, SCALE, ZERO_POINT)
    assert_same_bits(expected, real)
