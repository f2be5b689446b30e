"""The error bounds of the theory pages, from requantization to parameters.

Both sides of every bound are exact: results are float32 numbers or integers, taken as
``Fraction``s, and so is the real value to which they are compared; square roots have 60
digits. Each bound is the one displayed, with every small term in it; no tolerance is added.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import isqrt

import numpy as np
import pytest
from formulas.exact import fractions, rational
from hypothesis import given
from hypothesis import strategies as st

from pyqref.numerics.affine import (
    dequantize_per_channel,
    dequantize_per_tensor,
    quantize_per_channel,
    quantize_per_tensor,
)
from pyqref.numerics.dynamic import linear_dynamic, quantize_input
from pyqref.numerics.dynamic_qparams import SMALLEST_DYNAMIC_SCALE, choose_qparams_dynamic
from pyqref.numerics.fake_quantize import fake_quantize_per_tensor
from pyqref.numerics.folding import fold_batch_norm, inverse_deviation
from pyqref.numerics.linear import linear_accumulator
from pyqref.numerics.moving_average import moving_average
from pyqref.numerics.qparams import choose_qparams, reduce_range, symmetric_zero_point
from pyqref.numerics.requantize import requantization, requantize, scaled_accumulator

U = Fraction(1, 2**24)
HALF = Fraction(1, 2)
ETA = 3 * 256 * U  # float32 roundings of a quantized number of 8 bits, in steps


def gamma(n: int) -> Fraction:
    """Largest relative error of n roundings to float32: n u / (1 - n u)."""
    return n * U / (1 - n * U)


scales = st.floats(2.0**-12, 4.0)
steps = st.floats(0.25, 2.0**13)


@given(scales, scales, steps, st.integers(-(2**20), 2**20), st.floats(-(2.0**20), 2.0**20))
@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("per_channel", [False, True])
def test_eq_requantize_error__engines(
    engine: str, per_channel: bool, s_x: float, s_w: float, ratio: float, a: int, units: float
) -> None:
    """Half a step, 8 roundings of the sum, 12 of the bias; clamped as the exact value is."""
    s_y, bias = s_x * s_w * ratio, np.float32(units * s_x * s_w)
    requant = requantization(engine, s_x, [s_w] if per_channel else s_w, s_y, 101, [bias])
    unit = rational(s_x) * rational(s_w)
    real = (unit * a + rational(bias)) / rational(s_y) + 101
    bound = HALF + (gamma(8) * unit * abs(a) + gamma(12) * abs(rational(bias))) / rational(s_y)
    if engine == "qnnpack":
        bound += HALF * (1 + gamma(8)) * unit / rational(s_y)
    q = requantize(np.array([[a]]), requant).item()
    assert abs(q - min(max(real, Fraction(0)), Fraction(255))) <= bound


@given(scales, scales, steps, st.integers(-(2**20), 2**20), st.floats(-(2.0**20), 2.0**20))
def test_eq_engine_difference__before_rounding(
    s_x: float, s_w: float, ratio: float, a: int, units: float
) -> None:
    """Half a unit of the accumulator apart, and the roundings of both engines."""
    s_y, bias = s_x * s_w * ratio, np.float32(units * s_x * s_w)
    engines = ("fbgemm", "qnnpack")
    prepared = [requantization(engine, s_x, s_w, s_y, 0, [bias]) for engine in engines]
    fbgemm, qnnpack = (rational(scaled_accumulator(np.array([[a]]), each)) for each in prepared)
    unit, b = rational(s_x) * rational(s_w), abs(rational(bias))
    bound = HALF * (1 + gamma(8)) * unit + 2 * gamma(8) * unit * abs(a) + 2 * gamma(12) * b
    assert abs(fbgemm - qnnpack) <= bound / rational(s_y)


def test_eq_engine_difference__is_reached() -> None:
    """A bias of half a unit is rounded away by one engine and kept by the other."""
    prepared = [requantization(each, 1.0, 1.0, 1.0, 0, [0.5]) for each in ("fbgemm", "qnnpack")]
    kept, rounded = (scaled_accumulator(np.array([[3]]), each).item() for each in prepared)
    assert (3.5, 3.0) == (kept, rounded)


@pytest.mark.parametrize("zero_point", [0, 1, 100, 128, 254, 255])
def test_eq_accumulator_width__largest_sum(zero_point: int) -> None:
    """Reached by inputs at the far end and the most negative weight; grows with K alone."""
    end = 0 if zero_point > 127 else 255
    for depth in (1, 2, 1000, 65793):
        x, w = np.full((1, depth), end, np.uint8), np.full((1, depth), -128, np.int8)
        largest = depth * max(zero_point, 255 - zero_point) * 128
        assert largest == abs(linear_accumulator(x, zero_point, w, 0).item())
        assert largest <= 255 * 128 * depth < 2**31


def test_eq_accumulator_width__depths() -> None:
    """The largest depths for which 32 bits are enough."""
    assert 255 * 128 * 65793 < 2**31 <= 255 * 128 * 65794
    assert 255 * 255 * 33025 < 2**31 <= 255 * 255 * 33026


def test_eq_pair_sum__every_pair_of_products() -> None:
    """All sums of two products of 7-bit inputs fit 16 bits; of 8-bit inputs they do not."""
    weights = np.arange(-128, 128)
    for (low, high), fits in ((reduce_range(0, 255), True), ((0, 255), False)):
        products = np.arange(low, high + 1)[:, None] * weights
        smallest, largest = 2 * products.min(), 2 * products.max()
        assert fits == (smallest >= -(2**15) and largest < 2**15)
        assert (2 * high * -128, 2 * high * 127) == (smallest, largest)
    assert 3 * 127 * 128 > 2**15


def root(x: Fraction) -> Fraction:
    """The square root, to 60 digits behind the point."""
    return Fraction(isqrt(x.numerator * 10**120 // x.denominator), 10**60)


singles = st.floats(-8, 8, width=32).filter(lambda x: x == 0 or abs(x) > 2.0**-20)
variances = st.floats(2.0**-10, 16, width=32)
normalizations = st.tuples(singles, singles, variances, singles, singles)
EPS = 1e-5


@given(singles, variances, singles)
def test_eq_fold_weight_error__five_roundings(weight: float, var: float, gain: float) -> None:
    """Sum and root, quotient, and two products; exact where the weight or the gain is 0."""
    channel = [np.float32([each]) for each in (0.0, var, gain, 0.0)]
    mean, variance, scale, shift = channel
    folded, _ = fold_batch_norm(np.float32([[weight]]), None, mean, variance, EPS, scale, shift)
    exact = rational(weight) * rational(gain) / root(rational(var) + Fraction(EPS))
    assert abs(rational(folded) - exact) <= gamma(5) * abs(exact)


@given(st.lists(st.tuples(singles, singles), min_size=1, max_size=20), normalizations)
def test_eq_fold_output_error__both_orders(
    pairs: list[tuple[float, float]], normalization: tuple[float, ...]
) -> None:
    """One layer or two, summed from left to right: each within its bound of the truth."""
    w, x = (np.float32(each) for each in zip(*pairs, strict=True))
    bias, mean, var, gain, shift = (np.float32([each]) for each in normalization)
    weight, offset = fold_batch_norm(w[None], bias, mean, var, EPS, gain, shift)
    one = np.add.accumulate(np.append(weight[0] * x, offset))[-1]
    summed = np.add.accumulate(np.append(w * x, bias))[-1:]
    two = (summed - mean) * inverse_deviation(var, EPS) * gain + shift
    factor = rational(gain) / root(rational(var) + Fraction(EPS))
    b, mu, beta = map(rational, (bias, mean, shift))
    products = [a * c for a, c in zip(fractions(w), fractions(x), strict=True)]
    exact = (sum(products) + b - mu) * factor + beta
    sizes = (sum(map(abs, products)) + abs(b) + abs(mu)) * abs(factor) + abs(beta)
    bound = gamma(len(pairs) + 8) * sizes
    assert abs(rational(one) - exact) <= bound
    assert abs(rational(two) - exact) <= bound


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("reduce", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 7, 40])
def test_eq_dynamic_error__both_grids(engine: str, reduce: bool, depth: int) -> None:
    """Every output of 20 layers: input and weight each lose half a step a product."""
    rng = np.random.default_rng(depth)
    for size, shift in [*product(np.geomspace(1e-3, 1e3, 5), (-1.0, 0.0, 0.3, 3.0))]:
        x = np.float32((rng.standard_normal((3, depth)) + shift) * size)
        w = rng.standard_normal((4, depth)).astype(np.float32)
        bias = rng.standard_normal(4).astype(np.float32)
        w_scales, _ = choose_qparams(w.min(1), w.max(1), -128, 127, symmetric=True)
        p = quantize_per_channel(w, w_scales, [0] * 4, 0, -128, 127, np.int8)
        y = linear_dynamic(x, p, w_scales, [0] * 4, bias, False, engine, reduce)
        q, scale, zero_point = quantize_input(x, engine, reduce)
        s_x = rational(np.float32(scale))
        for m, n in np.ndindex(y.shape):
            s_w, b = rational(w_scales[n]), rational(bias[n])
            x_real, w_real = fractions(x[m]), fractions(w[n])
            w_hat = [s_w * each for each in fractions(p[n])]
            x_hat = [s_x * (each - zero_point) for each in fractions(q[m])]
            exact = sum(a * c for a, c in zip(w_real, x_real, strict=True)) + b
            bound = (HALF + ETA) * (s_x * sum(map(abs, w_hat)) + s_w * sum(map(abs, x_real)))
            bound += gamma(4) * abs(sum(a * c for a, c in zip(w_hat, x_hat, strict=True)))
            assert abs(rational(y[m, n]) - exact) <= bound + U * abs(b)


@pytest.mark.parametrize("convention", ["documented", "torch"])
@given(st.floats(2.0**-10, 8, width=32), st.integers(0, 255), st.data())
def test_eq_straight_through_error__staircase(
    convention: str, scale: float, zero_point: int, data: st.DataObject
) -> None:
    """Rise of the staircase against the distance, between any two numbers of the range."""
    ends = st.floats(-zero_point * scale, (255 - zero_point) * scale)
    a, b = (np.float32(data.draw(ends)) for _ in "ab")
    y, inside = fake_quantize_per_tensor([a, b], scale, zero_point, 0, 255, convention)
    rise = rational(np.float32(y[1])) - rational(np.float32(y[0]))
    assert inside.all()
    assert abs(rise - (rational(b) - rational(a))) <= rational(scale) * (1 + 2 * ETA)


@pytest.mark.parametrize("convention", ["documented", "torch"])
def test_eq_straight_through_error__whole_steps(convention: str) -> None:
    """Over n steps of a power of two the staircase rises by exactly n steps."""
    start = np.arange(-1, 1, 2.0**-9, dtype=np.float32)
    for n in (1, 2, 5, 50):
        low, high = (
            fake_quantize_per_tensor(x, 0.25, 100, 0, 255, convention)[0]
            for x in (start, start + np.float32(n * 0.25))
        )
        settled = start % 0.25 != 0.125
        assert (high - low)[settled].tolist() == [n * 0.25] * int(settled.sum())


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("spread", [0, 3, 10])
def test_eq_channel_error__no_worse_than_per_tensor(symmetric: bool, spread: int) -> None:
    """Each weight is within half a step of its channel, a step not above the tensor's."""
    rng = np.random.default_rng(spread)
    factors = np.exp2(rng.uniform(0, spread, (12, 1)))
    w = np.float32((rng.standard_normal((12, 100)) + rng.standard_normal((12, 1))) * factors)
    low, high, chosen = -128, 127, {"symmetric": symmetric, "midpoint": 0}
    s, _ = choose_qparams(w.min(), w.max(), low, high, **chosen)
    scales, zero_points = choose_qparams(w.min(1), w.max(1), low, high, **chosen)
    q = quantize_per_channel(w, scales, zero_points, 0, low, high, np.int8)
    back = dequantize_per_channel(q, scales, zero_points, 0)
    for channel, scale in enumerate(fractions(scales)):
        errors = zip(fractions(w[channel]), fractions(back[channel]), strict=True)
        assert max(abs(a - b) for a, b in errors) <= scale * (HALF + 4 * 256 * U)
        assert scale <= rational(s)


@given(st.lists(singles, min_size=2, max_size=60), st.floats(2.0**-10, 1, width=32))
def test_eq_moving_average_error__long_runs(values: list[float], c: float) -> None:
    """Far from the sum of weighted batches by no more than (5 + 1/c) u of the largest."""
    mean = np.float32(values[0])
    for x in values[1:]:
        mean = moving_average(mean, x, c)
    weight, exact = Fraction(c), rational(values[0])
    for x in values[1:]:
        exact = weight * rational(x) + (1 - weight) * exact
    largest = max(abs(rational(x)) for x in values)
    assert abs(rational(mean) - exact) <= (5 + 1 / weight) * U * largest


@given(st.lists(st.integers(-128, 127), min_size=1, max_size=9), st.sampled_from([1, 2, 3, 4]))
def test_eq_moving_average_weights__expansion(values: list[int], quarters: int) -> None:
    """With quarters every step is exact; weights sum to one; the mean stays in the range."""
    c, n = Fraction(quarters, 4), len(values) - 1
    weights = [(1 - c) ** n, *(c * (1 - c) ** (n - k) for k in range(1, n + 1))]
    mean = np.float32(values[0])
    for x in values[1:]:
        mean = moving_average(mean, x, float(c))
    assert 1 == sum(weights)
    assert rational(mean) == sum(a * x for a, x in zip(weights, values, strict=True))
    assert min(values) <= mean <= max(values)


INTEGERS = [(0, 255), (0, 127), (-128, 127), (-64, 63), (-127, 127), (0, 15), (0, 3)]
ranges = st.tuples(st.floats(-1e3, 1e3, width=32), st.floats(-1e3, 1e3, width=32)).filter(
    lambda ends: abs(ends[0]) + abs(ends[1]) > 1e-3
)


@given(ranges)
@pytest.mark.parametrize(("q_min", "q_max"), INTEGERS)
def test_eq_range_ends__half_a_step(q_min: int, q_max: int, ends: tuple[float, float]) -> None:
    """Both ends of the widened range hold, for an observer and for a dynamic layer."""
    low, high = min(ends), max(ends)
    wide = min(rational(low), Fraction(0)), max(rational(high), Fraction(0))
    for scale, zero_point in (
        choose_qparams(low, high, q_min, q_max, convention="torch"),
        choose_qparams_dynamic(low, high, q_min, q_max),
    ):
        s, z = rational(scale), int(zero_point)
        if s == rational(SMALLEST_DYNAMIC_SCALE):
            continue
        for q, end in zip((q_min, q_max), wide, strict=True):
            assert abs(s * (q - z) - end) <= s * (HALF + ETA)


@given(ranges)
@pytest.mark.parametrize(("q_min", "q_max"), INTEGERS)
def test_eq_range_ends__symmetric(q_min: int, q_max: int, ends: tuple[float, float]) -> None:
    """Neither end is clamped by more than half a step."""
    low, high = min(ends), max(ends)
    middle = symmetric_zero_point(q_min < 0, q_min, q_max)
    scale, _ = choose_qparams(low, high, q_min, q_max, symmetric=True, convention="torch")
    s, slack = rational(scale), rational(scale) * (HALF + ETA)
    assert s * (q_min - middle) <= rational(low) + slack
    assert s * (q_max - middle) >= rational(high) - slack


@given(ranges)
@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize(("q_min", "q_max"), INTEGERS)
def test_eq_real_zero__all_schemes(
    q_min: int, q_max: int, symmetric: bool, ends: tuple[float, float]
) -> None:
    """Zero is the zero point, and the zero point is zero."""
    low, high = min(ends), max(ends)
    middle = symmetric_zero_point(q_min < 0, q_min, q_max)
    scale, zero_point = choose_qparams(
        low, high, q_min, q_max, symmetric=symmetric, midpoint=middle
    )
    s, z = float(scale), int(zero_point)
    q = quantize_per_tensor(np.float32([0.0]), s, z, q_min, q_max, np.int16)
    assert z == q.item()
    assert 0 == dequantize_per_tensor(q, s, z).item()
