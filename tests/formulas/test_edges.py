"""Edges of equations that no other test would notice: found by changing the functions."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics import (
    accumulator,
    affine,
    convolution,
    dynamic_qparams,
    elementwise,
    fake_quantize,
    fixed_point,
    folding,
    fused_observe,
    moving_average,
    pooling,
    qparams,
    requantize,
)


def test_eq_affine_dequantize_channel__float_zero_point() -> None:
    """A float zero point is subtracted in float32, an integer one in double."""
    q, scale, point = np.int8([[127, -128]]), 0.3, np.float32(0.1)
    expected = (q.astype(np.float32) - point).astype(np.float64) * scale
    found = affine.dequantize_per_channel(q, [scale], [point], 0)
    assert expected.astype(np.float32).tolist() == found.tolist()
    wide = np.array([[2**24 + 1]])
    assert 2**24 == affine.dequantize_per_channel(wide, [1.0], [1], 0).item()


def test_eq_symmetric_zero_point__one_end_alone() -> None:
    """The middle of a range is taken only where both of its ends are given."""
    assert 128 == qparams.symmetric_zero_point(False, 0, None)
    assert 128 == qparams.symmetric_zero_point(False, None, 15)


def test_eq_float_qparams__edges() -> None:
    """quant_min counts; a scale of exactly eps becomes 1, the next larger one stays."""
    assert 0.125 == qparams.float_qparams(-1.0, 30.875, 5, 260)[0]
    eps = np.float32(qparams.EPS)
    assert 1 == qparams.float_qparams(0.0, eps, 0, 1)[0]
    assert 2 * eps == qparams.float_qparams(0.0, 2 * eps, 0, 1)[0]


def test_eq_fake_quantize__double() -> None:
    """float64 is multiplied in double, with the zero point inside of the rounding."""
    x = np.float64([0.3, 1.2, -0.7])
    y, mask = fake_quantize.fake_quantize_per_tensor(x, 0.25, 3, 0, 15)
    assert [0.25, 1.25, -0.75] == y.tolist()
    assert mask is not None
    assert mask.all()


def test_eq_fold_weight__what_does_not_fit() -> None:
    """One factor for all channels fits; two for three channels do not, transposed or not."""
    weight = np.ones((3, 2, 2))
    assert 2 * weight.sum() == folding.fold_weight(weight, [2.0], [1.0]).sum()
    for axis, factors in ((0, 2), (1, 3), (1, 0)):
        with pytest.raises(ValueError, match="does not fit a weight"):
            folding.fold_weight(weight, np.ones(factors), np.ones(factors), axis)
    with pytest.raises(ValueError, match="does not fit a weight"):
        folding.fold_weight(weight, np.ones(4), np.ones(4), 1)  # 2 groups of 3 rows
    with pytest.raises(ValueError, match="does not fit a weight"):
        folding.fold_weight(np.ones((2, 0)), np.ones(2), np.ones(2), 1)
    grouped = folding.fold_weight(np.ones((4, 2, 2)), np.arange(4.0), np.ones(4), 1)
    assert [[0, 1], [0, 1], [2, 3], [2, 3]] == grouped[:, :, 0].tolist()
    assert [[0, 1], [0, 1], [2, 3], [2, 3]] == grouped[:, :, 1].tolist()


def test_eq_average_range__half_empty() -> None:
    """The first batch is one that finds both ends infinite, not one of them."""
    low, high = moving_average.average_range(np.float32(np.inf), np.float32(1.0), 0.0, 3.0, 0.5)
    assert np.isposinf(low) or np.isnan(low)
    assert 2.0 == high


def test_eq_accumulator_width__exact() -> None:
    """127 ones fill eight bits exactly; one more does not fit."""
    assert 127 == accumulator.largest_depth(8, 1, 1)
    assert 8 == accumulator.accumulator_bits(127, 1, 1)
    assert 9 == accumulator.accumulator_bits(128, 1, 1)


@pytest.mark.parametrize("exponent", [-32, -31, -30, 29, 30])
def test_eq_fixed_point_multiplier__ends_of_the_exponent(exponent: int) -> None:
    """A multiplier of 0.5 * 2**e is 2**30 and e as long as e can be stored."""
    real = 0.5 * 2.0**exponent
    multiplier, shift = fixed_point.fixed_point_multiplier(real)
    assert exponent == shift or 0 == multiplier or exponent == -32
    if -31 <= exponent <= 30:
        assert 2**30 == multiplier


def test_columns_of_a_requantization() -> None:
    """One multiplier stays for all columns, several are cut; so is the bias."""
    one = requantize.requantization("fbgemm", 0.5, 0.25, 1.0, 0, bias=[1.0, 2.0])
    cut = requantize.columns_of(one, slice(1, 2))
    assert (1, 1) == (cut.multiplier.size, len(cut.bias))
    two = requantize.requantization("fbgemm", 0.5, np.float32([0.25, 0.5]), 1.0, 0)
    cut = requantize.columns_of(two, slice(1, 2))
    assert [0.25] == cut.multiplier.tolist()
    assert cut.bias is None


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(
    ("kernel", "stride", "padding"), [(3, 2, 1), (2, 3, 0), (3, 3, 1), (4, 2, 2)]
)
def test_eq_quantized_max_pool__every_window(
    kernel: int, stride: int, padding: int, ceil_mode: bool
) -> None:
    """Each window holds the pixels that the equation says, for sizes around the stride."""
    for size in range(4, 11):
        row = np.random.default_rng(size).integers(0, 200, size).astype(np.uint8)
        pooled = pooling.max_pool(row[None, None], [kernel], [stride], [padding], [1], ceil_mode)
        expected, start = [], -padding
        room = size + padding if ceil_mode else size + padding - kernel + 1
        while start < (size if ceil_mode else room) and start <= size + padding - (
            1 if ceil_mode else kernel
        ):
            inside = row[max(start, 0) : start + kernel]
            if not ceil_mode or start < size:
                expected.append(int(inside.max()) if inside.size else 0)
            start += stride
            if ceil_mode and start - stride + kernel >= size + padding:
                break
        assert expected == pooled[0, 0].tolist(), size


def test_eq_pooled_size__too_small() -> None:
    """One axis that is too small is enough for an error, and a size of one is none."""
    assert (1, 1) == pooling.pooled_sizes((2, 2), (2, 2), (1, 1), (0, 0), (1, 1))
    with pytest.raises(ValueError, match="is too small"):
        pooling.pooled_sizes((9, 1), (2, 2), (1, 1), (0, 0), (1, 1))


@pytest.mark.parametrize("outputs", [1, 2, 3, 5, 7])
def test_eq_quantized_adaptive_avg_pool__windows(outputs: int) -> None:
    """The windows of explain hold the pixels that the mean is taken of, in two dimensions."""
    q = np.random.default_rng(outputs).integers(0, 255, (2, 3, 5, 7)).astype(np.uint8)
    view, count = pooling.adaptive_windows(q, 9, [outputs, 3])
    assert (2, 3, outputs, 3) == view.shape[:4]
    total = view.sum(axis=(-2, -1))
    expected = pooling.quantized_mean(total, count, 9, 0, 255, np.uint8)
    assert np.array_equal(expected, pooling.adaptive_avg_pool(q, 9, [outputs, 3]))
    for o in range(outputs):
        rows = q[:, :, o * 5 // outputs : -(-(o + 1) * 5 // outputs), 0:3].astype(int) - 9
        assert np.array_equal(rows.sum(axis=(2, 3)), total[:, :, o, 0])


def test_eq_quantized_adaptive_avg_pool__empty() -> None:
    """No output of no pixels is nothing; an output of none is an error."""
    assert (1, 1, 0) == pooling.adaptive_avg_pool(np.zeros((1, 1, 4), np.uint8), 0, [0]).shape
    with pytest.raises(ValueError, match="must have pixels"):
        pooling.adaptive_avg_pool(np.zeros((1, 1, 0), np.uint8), 0, [1])


def test_eq_quantized_cat__grids_and_arrays() -> None:
    """As many grids as arrays."""
    grid = elementwise.Grid(0.1, 0)
    with pytest.raises(ValueError, match="zip"):
        elementwise.cat([np.uint8([1]), np.uint8([2])], [grid], 0, grid)


def test_eq_affine_qparams__on_one_side_of_zero() -> None:
    """A range above zero is widened down to 0, one below zero up to 0."""
    scale, point = qparams.affine_qparams(1.0, 255.0, 0, 255)
    assert (1.0, 0) == (scale, point)
    scale, point = qparams.affine_qparams(-255.0, -1.0, 0, 255)
    assert (1.0, 255) == (scale, point)


def test_eq_average_range__batches_on_one_side_of_zero() -> None:
    """The average is of the ends themselves; 0 is taken in only by the parameters."""
    low, high = moving_average.average_range(np.float32(2.0), np.float32(4.0), 4.0, 8.0, 0.5)
    assert (3.0, 6.0) == (low, high)
    low, high = moving_average.average_range(np.float32(-4.0), np.float32(-2.0), -8.0, -4.0, 0.5)
    assert (-6.0, -3.0) == (low, high)


def test_eq_fused_observe__parameters_of_the_new_range() -> None:
    """Scale and zero point are those of the range that this batch has moved."""
    found = fused_observe.fused_observe(-1.0, 1.0, -5.0, 1.0, 0.5, 0, 255, False)
    scale, point = dynamic_qparams.choose_qparams_dynamic(-3.0, 1.0, 0, 255)
    assert (-3.0, 1.0) == (float(found.min_val), float(found.max_val))
    assert (np.float32(scale), int(point)) == (np.float32(found.scale), int(found.zero_point))


def test_eq_conv_accumulator__padding_adds_nothing() -> None:
    """Beside the image there are zeros, the centred zero point."""
    x, ones = np.array([[[1, 2, 3]]]), np.ones((1, 1, 2), int)
    found = convolution.conv_accumulator(x, ones, [1], [1], [1], 1)
    assert [1, 3, 5, 3] == found[0, :, 0].tolist()


def test_eq_conv_transpose_accumulator__weight_turned_round() -> None:
    """(inputs, outputs, taps) becomes (outputs, inputs, taps from the last to the first)."""
    weight = np.arange(12).reshape(1, 2, 6)
    found = convolution.transpose_weight(weight, 1)
    assert (2, 1, 6) == found.shape
    assert [[5, 4, 3, 2, 1, 0], [11, 10, 9, 8, 7, 6]] == found[:, 0].tolist()


def test_eq_fake_quantize_mask__no_negative_zero() -> None:
    """An integer has no negative zero, so that its real number has none."""
    y, _ = fake_quantize.fake_quantize_grid(np.float32([-0.0]), 1.0, 0, -1, 1)
    assert not np.signbit(y).any()


def test_eq_requantize__multiplier_of_the_bias() -> None:
    """Where the bias is not multiplied, its multiplier is 1."""
    assert 1 == requantize.requantization("qnnpack", 0.5, 0.25, 1.0, 0, bias=[3.0]).bias_multiplier
    assert 8 == requantize.requantization("fbgemm", 0.5, 0.25, 1.0, 0, bias=[3.0]).bias_multiplier


@pytest.mark.parametrize("outputs", [1, 2, 3, 4])
def test_eq_quantized_adaptive_avg_pool__longest_window(outputs: int) -> None:
    """The last axes are as long as the longest window, and no longer."""
    view, count = pooling.adaptive_windows(np.ones((1, 4, 4), np.uint8), 0, [outputs, 4])
    starts = [o * 4 // outputs for o in range(outputs)]
    ends = [-(-(o + 1) * 4 // outputs) for o in range(outputs)]
    sizes = [end - start for start, end in zip(starts, ends, strict=True)]
    assert (max(sizes), 1) == view.shape[-2:]
    assert [[size] * 4 for size in sizes] == np.broadcast_to(count, (outputs, 4)).tolist()


def test_eq_add_fixed_point__left_shift() -> None:
    """Steps that are more than 2**22 of those of the result are shifted to the left."""
    coarse, fine = elementwise.Grid(2.0**24, 0), elementwise.Grid(1.0, 0)
    total, shift = elementwise.sum_fixed_point(np.uint8([3]), coarse, np.uint8([0]), fine, fine)
    assert ([3 * 2**24], 0) == (total.tolist(), shift)


def test_eq_fixed_point_multiplier__too_large() -> None:
    """A multiplier that cannot be stored becomes the largest one."""
    multiplier, exponent = fixed_point.fixed_point_multiplier(2.0**30)
    assert (2**31 - 1, 30) == (multiplier, exponent)
