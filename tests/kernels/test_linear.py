"""Quantized linear by every kernel against the equations in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.layers import MODES, OUTPUTS, finish, integers

from pyqref import _kernels
from pyqref.numerics import linear as reference
from pyqref.numerics.dynamic import dequantize_accumulator
from pyqref.numerics.requantize import Requantization, requantization

#: Around tiles of 2, 4, 6, 8 and 16 rows, groups of 32, and blocks of 48 and 256.
ROWS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 15, 16, 17, 31, 32, 33, 47, 48, 49, 97, 256, 257]
#: Around vectors and slivers of 16, and panels of 64.
COLUMNS = [1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 48, 49, 63, 64, 65, 80, 112, 128, 129]
#: Around four products at a time, and 64.
DEPTHS = [1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 63, 64, 65, 127, 128, 300]


def check(
    rng: np.random.Generator,
    rows: Any,
    columns: int,
    depth: int,
    *,
    mode: tuple[str, bool, bool] = MODES[3],
    stored: Any = np.uint8,
    output: Any = np.uint8,
    relu: bool = False,
    weight_zero_points: Any = 0,
    large: float | None = None,
) -> None:
    x = integers(rng, (*np.atleast_1d(rows), depth), stored)
    if large is not None:
        x = np.where(rng.random(x.shape) < large, x, x & 127)
    weight = integers(rng, (columns, depth), np.int8)
    x_zero_point = int(integers(rng, 3, stored)[1])
    requant = finish(rng, mode, columns, depth, output, relu)
    packed = _kernels.pack_linear(weight)
    arguments = (weight_zero_points, requant)
    expected = reference.quantized_linear(x, x_zero_point, weight, *arguments)
    actual = _kernels.linear(x, x_zero_point, packed, *arguments)
    assert_same_bits(expected, actual)


@pytest.mark.parametrize("rows", ROWS)
def test_rows_around_the_tile(kernel: str, rows: int, n_threads: int) -> None:
    """eq-linear-accumulator, then eq-requantize, bit for bit."""
    for columns in (1, 17, 64, 130):
        for depth in (3, 8, 65):
            check(np.random.default_rng(1), rows, columns, depth)


@pytest.mark.parametrize("columns", COLUMNS)
def test_columns_around_the_panel(kernel: str, columns: int, n_threads: int) -> None:
    for rows in (1, 2, 3, 5, 7, 8, 13, 40):
        for depth in (4, 9, 70):
            check(np.random.default_rng(2), rows, columns, depth)


@pytest.mark.parametrize("columns", [15, 16, 17, 31, 32, 33, 48, 64, 80, 144])
def test_tiles_one_after_another(kernel: str, columns: int, n_threads: int) -> None:
    """Tiles of one height or two, some of which fetch the next panel; with gaps and without."""
    rng = np.random.default_rng(14)
    for rows in (8, 9, 14, 15, 16, 17, 24, 25, 47, 48, 49, 50, 63, 64, 65, 66, 72, 73, 129, 200):
        for depth, relu in ((9, False), (27, True), (68, False)):
            check(rng, rows, columns, depth, relu=relu)


@pytest.mark.parametrize("depth", DEPTHS)
def test_depth_around_the_quad(kernel: str, depth: int, n_threads: int) -> None:
    for rows in (1, 7, 35):
        for columns in (10, 64, 65):
            check(np.random.default_rng(3), rows, columns, depth)


@pytest.mark.parametrize("large", [0.0, 0.002, 0.02, 0.2])
def test_few_inputs_above_127(kernel: str, n_threads: int, large: float) -> None:
    """Few large inputs are multiplied apart where pairs are added in 16 bits."""
    for rows, columns in ((1, 64), (2, 48), (5, 17), (9, 80), (70, 130)):
        for depth in (4, 31, 32, 36, 300):
            check(np.random.default_rng(15), rows, columns, depth, large=large)


def test_extreme_products_of_small_inputs(kernel: str) -> None:
    """127 times -128, twice, and one input of 255 among them: exact, nothing saturates."""
    x, weight = np.full((5, 64), 127, np.uint8), np.full((16, 64), -128, np.int8)
    x[3, 40] = 255
    expected = reference.linear_accumulator(x, 0, weight, 0).astype(np.float32)
    packed = _kernels.pack_linear(weight)
    assert_same_bits(expected, _kernels.linear_float(x, 0, packed, 0, 1.0, 1.0, None, "fbgemm"))


def test_enough_work_for_every_thread(kernel: str, n_threads: int) -> None:
    """Blocks of rows shared out, panels shared out, and both."""
    for rows, columns, depth in ((300, 70, 260), (1, 3000, 1030), (50, 600, 301), (7, 520, 2000)):
        check(np.random.default_rng(4), rows, columns, depth)


@pytest.mark.parametrize(
    ("rows", "columns", "depth"),
    [(1007, 17, 8), (1008, 70, 8), (2023, 17, 8), (515, 20, 4096), (515, 70, 2051), (1013, 130, 9)],
)
def test_blocks_that_differ_by_a_tile(
    kernel: str, rows: int, columns: int, depth: int, n_threads: int
) -> None:
    """More rows than a block has, where they lie and copied, by narrow panels and by whole ones."""
    check(np.random.default_rng(15), rows, columns, depth)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
@pytest.mark.parametrize(("output", "low", "high"), OUTPUTS)
@pytest.mark.parametrize("relu", [False, True])
def test_every_engine_type_and_relu(
    kernel: str, mode: Any, stored: Any, output: Any, low: int, high: int, relu: bool
) -> None:
    rng = np.random.default_rng(5)
    for depth in (16, 37):
        check(rng, 53, 70, depth, mode=mode, stored=stored, output=output, relu=relu)


@pytest.mark.parametrize("stored", [np.uint8, np.int8])
@pytest.mark.parametrize("depth", [1, 4, 30])
def test_weights_with_zero_points(kernel: str, stored: Any, depth: int, n_threads: int) -> None:
    rng = np.random.default_rng(6)
    per_channel = rng.integers(-128, 128, 70)
    for zero_points in (5, -128, np.array([7]), np.zeros(70, np.int64), per_channel):
        check(rng, 13, 70, depth, stored=stored, weight_zero_points=zero_points)


@pytest.mark.parametrize("depth", [64, 130])
def test_zero_points_of_weights_over_many_rows(kernel: str, depth: int, n_threads: int) -> None:
    """Sums of each row are needed then, of rows that tiles hold in several runs."""
    rng = np.random.default_rng(12)
    zero_points = rng.integers(-128, 128, 70)
    for rows in (8, 17, 33, 300):
        check(rng, rows, 70, depth, weight_zero_points=zero_points)


def test_depth_beyond_the_scratch_of_tiles(kernel: str) -> None:
    """Rows so long that 32 of them take more than 1 MiB are multiplied by vectors."""
    for depth in (32_768, 32_772):
        check(np.random.default_rng(13), 33, 3, depth)


def test_full_range_saturates_nowhere_inside(kernel: str) -> None:
    """255 * -128, many times: a sum of two products would not fit 16 bits."""
    x, weight = np.full((7, 64), 255, np.uint8), np.full((70, 64), -128, np.int8)
    packed = _kernels.pack_linear(weight)
    actual = _kernels.linear_accumulator(x, 0, packed, 0)
    assert_same_bits(np.full((7, 70), 255 * -128 * 64, np.int32), actual)


@pytest.mark.parametrize("mode", ["add", "fma"])
def test_bias_near_ties(kernel: str, mode: Any) -> None:
    """eq-requantize-bias: sums whose value lies within a few units of rounding of a tie."""
    rng = np.random.default_rng(10)
    columns = 5000
    unit = np.float32(0.013) * np.float32(0.0071)
    weight = np.ones((columns, 1), np.int8)
    halves = rng.integers(-100, 100, columns) + 0.5
    bias = (halves * np.float64(unit)).astype(np.float32)
    bias = bias + np.spacing(bias) * rng.integers(-3, 4, columns).astype(np.float32)
    requant = Requantization(
        multiplier=np.ones(1, np.float32),
        bias_mode=mode,
        bias=bias if mode == "fma" else bias / unit,
        bias_multiplier=np.float32(1) / unit if mode == "fma" else np.float32(1),
        output_zero_point=3,
        lower=0,
        upper=255,
        storage=np.dtype(np.uint8),
    )
    x = np.array([[50], [51], [100], [200]], np.uint8)
    expected = reference.quantized_linear(x, 0, weight, 0, requant)
    assert_same_bits(expected, _kernels.linear(x, 0, _kernels.pack_linear(weight), 0, requant))


#: zp + a * b * 2**-s is just below the middle of the float32 numbers zp + 1/2 and the one
#: before it, by less than float64 can tell.
FALSE_TIES = [
    (129, 4255633, 16535183, 47),
    (129, 8511266, 16535183, 48),
    (129, 9470693, 14860089, 48),
    (255, 4255633, 16535183, 47),
    (255, 9470693, 14860089, 48),
]


@pytest.mark.parametrize(("acc", "a", "b", "shift"), FALSE_TIES)
def test_fused_multiply_add_is_rounded_once(
    kernel: str, acc: int, a: int, b: int, shift: int
) -> None:
    """eq-fma where float64 and then float32 would round twice, and up to the even neighbour."""
    requant = Requantization(
        multiplier=np.ones(1, np.float32),
        bias_mode="fma",
        bias=np.float32([a * 2.0**-shift]),
        bias_multiplier=np.float32(b),
        output_zero_point=-acc,
        lower=-128,
        upper=127,
        storage=np.dtype(np.int8),
    )
    x, weight = np.array([[acc]], np.uint8), np.ones((1, 1), np.int8)
    actual = _kernels.linear(x, 0, _kernels.pack_linear(weight), 0, requant)
    assert_same_bits(np.int8([[0]]), actual)


@pytest.mark.parametrize("shape", [(), (0,), (2, 3), (2, 0, 3)])
def test_shapes_before_the_last(kernel: str, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(7)
    x, weight = integers(rng, (*shape, 9), np.uint8), integers(rng, (5, 9), np.int8)
    requant = finish(rng, MODES[3], 5, 9)
    expected = reference.quantized_linear(x, 3, weight, 0, requant)
    assert_same_bits(expected, _kernels.linear(x, 3, _kernels.pack_linear(weight), 0, requant))


@pytest.mark.parametrize("stored", [np.uint8, np.int8])
def test_accumulators(kernel: str, stored: Any, n_threads: int) -> None:
    """eq-linear-accumulator, kept as int32."""
    rng = np.random.default_rng(8)
    for columns in (1, 3, 16, 70):
        for zero_points in (0, rng.integers(-128, 128, columns)):
            x, weight = integers(rng, (9, 13), stored), integers(rng, (columns, 13), np.int8)
            expected = reference.linear_accumulator(x, 11, weight, zero_points)
            packed = _kernels.pack_linear(weight)
            actual = _kernels.linear_accumulator(x, 11, packed, zero_points)
            assert_same_bits(expected.astype(np.int32), actual)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("has_bias", [False, True])
@pytest.mark.parametrize("per_channel", [False, True])
def test_real_results(
    kernel: str, engine: Any, has_bias: bool, per_channel: bool, n_threads: int
) -> None:
    """eq-dynamic-output of eq-linear-accumulator: one rounding by fbgemm, two by qnnpack."""
    rng = np.random.default_rng(11)
    for columns in (1, 3, 16, 17, 70, 130):
        x, weight = integers(rng, (9, 13), np.uint8), integers(rng, (columns, 13), np.int8)
        scales = rng.uniform(0.01, 0.02, columns) if per_channel else 0.013
        bias = rng.standard_normal(columns).astype(np.float32) * 50 if has_bias else None
        accumulator = reference.linear_accumulator(x, 11, weight, 0)
        expected = dequantize_accumulator(accumulator, 0.07, scales, bias, engine)
        packed = _kernels.pack_linear(weight)
        actual = _kernels.linear_float(x, 11, packed, 0, 0.07, scales, bias, engine)
        assert_same_bits(expected, actual)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_real_results_that_underflow_keep_their_sign(kernel: str, engine: Any) -> None:
    x, packed = np.array([[0], [1]], np.uint8), _kernels.pack_linear(np.int8([[-1], [1]]))
    accumulator = reference.linear_accumulator(x, 0, packed.weight, 0)
    expected = dequantize_accumulator(accumulator, 1e-30, 1e-16, None, engine)
    assert_same_bits(expected, _kernels.linear_float(x, 0, packed, 0, 1e-30, 1e-16, None, engine))


def test_integer_bias_that_leaves_no_room_in_32_bits(kernel: str) -> None:
    """The sum runs in 64 bits then, as the equation has it."""
    x, weight = np.full((3, 40), 255, np.uint8), np.full((2, 40), 127, np.int8)
    bias = np.float32([3e9, -3e9])
    requant = requantization("qnnpack", 1.0, 1.0, 1e7, 0, bias)
    expected = reference.quantized_linear(x, 0, weight, 0, requant)
    assert_same_bits(expected, _kernels.linear(x, 0, _kernels.pack_linear(weight), 0, requant))


@pytest.mark.parametrize("columns", COLUMNS)
def test_packed_weights_unpack_to_themselves(columns: int) -> None:
    for depth in DEPTHS:
        weight = integers(np.random.default_rng(9), (columns, depth), np.int8)
        packed = _kernels.pack_linear(weight)
        assert_same_bits(weight, packed.weight)
        assert_same_bits(weight.sum(axis=1, dtype=np.int32), packed.sums)


#: The longest sum that 32 bits hold whatever the data, and one more.
LONGEST = (2**31 - 1) // 255**2


@pytest.mark.parametrize("depth", [LONGEST, LONGEST + 1, 70_000])
def test_sums_that_might_leave_32_bits(kernel: str, depth: int) -> None:
    """Every product as large as can be: beyond the longest sum the equation's 64 bits run."""
    assert 33_025 == LONGEST
    x, weight = np.full((2, depth), 255, np.uint8), np.full((3, depth), -128, np.int8)
    packed = _kernels.pack_linear(weight)
    sums = reference.linear_accumulator(x, 0, weight, 127)
    assert depth * 255 * -255 == sums[0, 0]
    requant = requantization("fbgemm", 1.0, 1.0, 1e7, 250)
    expected = reference.quantized_linear(x, 0, weight, 127, requant)
    assert_same_bits(expected, _kernels.linear(x, 0, packed, 127, requant))
    expected = dequantize_accumulator(sums, 0.1, 0.1, None)
    assert_same_bits(expected, _kernels.linear_float(x, 0, packed, 127, 0.1, 0.1))
    kind = np.int32 if depth <= LONGEST else np.int64
    assert_same_bits(sums.astype(kind), _kernels.linear_accumulator(x, 0, packed, 127))


@pytest.mark.parametrize("storage", [np.uint8, np.int8])
@pytest.mark.parametrize("depth", [65_793, 65_795])
def test_deep_sums(kernel: str, depth: int, storage: type) -> None:
    """65,793 products of weights without zero points fit 32 bits; more are added up in 64."""
    assert 65_793 == (2**31 - 1) // (255 * 128)
    rng, limits = np.random.default_rng(depth), np.iinfo(storage)
    x, weight = integers(rng, (2, depth), storage), integers(rng, (18, depth), np.int8)
    x[0], weight[0] = limits.max, -128
    packed, zero_point = _kernels.pack_linear(weight), int(limits.min)
    bias = rng.standard_normal(18).astype(np.float32)
    for zero_points in (0, rng.integers(-9, 10, 18)):
        own = (x, zero_point, weight, zero_points)
        sums = reference.linear_accumulator(*own)
        kind = np.int32 if depth == 65_793 and np.ndim(zero_points) == 0 else np.int64
        own = (x, zero_point, packed, zero_points)
        assert_same_bits(sums.astype(kind), _kernels.linear_accumulator(*own))
        real = dequantize_accumulator(sums, 0.1, 0.2, bias)
        assert_same_bits(real, _kernels.linear_float(*own, 0.1, 0.2, bias))
        requant = requantization("fbgemm", 0.1, 0.2, 3000.0, 100, bias)
        expected = reference.quantized_linear(x, zero_point, weight, zero_points, requant)
        assert_same_bits(expected, _kernels.linear(*own, requant))


@pytest.mark.parametrize("shape", [(3, 0), (0, 4), (0, 0)])
def test_weights_without_depth_or_columns(
    kernel: str, shape: tuple[int, int], n_threads: int
) -> None:
    """A sum of no products is 0: what comes out is the bias alone."""
    columns, depth = shape
    bias = np.arange(columns, dtype=np.float32) - 1
    for engine in ("fbgemm", "qnnpack"):
        requant = requantization(engine, 0.5, 0.5, 0.25, 7, bias)
        packed = _kernels.pack_linear(np.zeros(shape, np.int8))
        x = np.zeros((5, depth), np.uint8)
        expected = reference.quantized_linear(x, 3, packed.weight, 0, requant)
        assert_same_bits(expected, _kernels.linear(x, 3, packed, 0, requant))
        sums = np.zeros((5, columns), np.int32)
        assert_same_bits(sums, _kernels.linear_accumulator(x, 3, packed, 0))
        real = np.broadcast_to(bias, (5, columns))
        assert_same_bits(real, _kernels.linear_float(x, 3, packed, 0, 0.5, 0.5, bias, engine))


def test_what_was_prepared_serves_like_calls_alone(kernel: str) -> None:
    """eq-requantize with other parameters and zero points, in turn, of one weight."""
    rng = np.random.default_rng(9)
    x = integers(rng, (3, 20), np.uint8)
    weight = integers(rng, (18, 20), np.int8)
    packed = _kernels.pack_linear(weight)
    requants = [finish(rng, mode, 18, 20, np.uint8, False) for mode in MODES]
    for zero_points in (0, 5, np.arange(18), 0, 300, 300):
        for requant in (*requants, *requants):
            expected = reference.quantized_linear(x, 7, weight, zero_points, requant)
            assert_same_bits(expected, _kernels.linear(x, 7, packed, zero_points, requant))
