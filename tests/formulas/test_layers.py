"""Dynamic quantization, folding and recurrent steps against exact or double arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from formulas.exact import clamp, f32, fma, fractions, inverse, rational, rne, single

from pyqref.numerics.convolution import quantized_conv
from pyqref.numerics.dynamic import (
    conv_dynamic,
    dequantize_accumulator,
    linear_dynamic,
    quantize_input,
    weight_to_float16,
)
from pyqref.numerics.dynamic_qparams import choose_qparams_dynamic
from pyqref.numerics.float_product import float_product
from pyqref.numerics.folding import fold_batch_norm, fold_bias, fold_weight, inverse_deviation
from pyqref.numerics.linear import linear_accumulator
from pyqref.numerics.recurrent import float_layer, gru_step, lstm_step, recurrent_layer, rnn_step
from pyqref.numerics.requantize import requantization

RNG = np.random.default_rng(0)
X = RNG.standard_normal((4, 7)).astype(np.float32)
WEIGHT = RNG.integers(-128, 128, (3, 7)).astype(np.int8)
BIAS = RNG.standard_normal(3).astype(np.float32)
SCALES = np.array([0.01, 0.02, 0.03])

#: Each step of a cell is some ten float32 operations on values below 4: errors add up to
#: less than 40 units of 2**-24.
STEP_BOUND = 40 * 2.0**-24


@pytest.mark.parametrize(("engine", "reduce", "top"), [
    ("fbgemm", True, 127), ("fbgemm", False, 255), ("qnnpack", True, 255), ("x86", True, 127),
])  # fmt: skip
def test_eq_dynamic_input__engines(engine: str, reduce: bool, top: int) -> None:
    """7 bits with reduce_range, which qnnpack ignores; quantized with the fused rule."""
    q, scale, zero_point = quantize_input(X, engine, reduce)
    chosen = choose_qparams_dynamic(X.min(), X.max(), 0, top)
    assert (chosen[0], chosen[1]) == (scale, zero_point)
    exact = [fma(v, inverse(scale), Fraction(zero_point)) for v in fractions(X)]
    assert [clamp(rne(v), 0, 255) for v in exact] == q.ravel().tolist()


def test_eq_dynamic_input__empty() -> None:
    """No elements: the parameters of an all-zero input."""
    q, scale, zero_point = quantize_input(np.zeros((0, 7), np.float32))
    assert (q.shape, scale, zero_point) == ((0, 7), 0.1, 0)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_eq_dynamic_output__engines(engine: str) -> None:
    """Fbgemm fuses product and bias, qnnpack rounds both."""
    accumulator = RNG.integers(-(2**16), 2**16, (50, 3))
    y = dequantize_accumulator(accumulator, 0.037, SCALES, BIAS, engine)
    units = [f32(single(0.037) * single(s)) for s in SCALES]
    for row, actual in zip(accumulator.tolist(), y, strict=True):
        for a, unit, bias, value in zip(row, units, fractions(BIAS), actual, strict=True):
            fused = fma(Fraction(a), unit, bias)
            exact = fused if engine == "fbgemm" else f32(f32(a * unit) + bias)
            assert exact == rational(value)


def test_eq_dynamic_output__no_bias() -> None:
    """Without a bias there is one product."""
    y = dequantize_accumulator(np.array([[3, 5]]), 0.1, 0.1, None)
    unit = f32(single(0.1) * single(0.1))
    assert [f32(3 * unit), f32(5 * unit)] == fractions(y)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
def test_eq_linear_dynamic__composition(engine: str, relu: bool) -> None:
    """The three equations one after the other."""
    q, scale, zero_point = quantize_input(X, engine)
    accumulator = linear_accumulator(q, zero_point, WEIGHT, 0)
    expected = dequantize_accumulator(accumulator, scale, SCALES, BIAS, engine)
    expected = [[max(v, 0.0) if relu else v for v in row] for row in expected.tolist()]
    actual = linear_dynamic(X, WEIGHT, SCALES, np.zeros(3, int), BIAS, relu, engine)
    assert expected == actual.tolist()


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("reduce", [False, True])
def test_eq_conv_dynamic__grid_of_the_input(engine: str, reduce: bool) -> None:
    """The static convolution onto the grid of the input, dequantized; its ends saturate."""
    x = RNG.standard_normal((2, 4, 6)).astype(np.float32)
    weight = RNG.integers(-128, 128, (3, 2, 3)).astype(np.int8)
    geometry = ([2], [1], [1], 2)
    weight = np.concatenate([weight[:2], weight[1:]])
    scales = np.array([0.01, 0.02, 0.03, 0.04])
    bias = RNG.standard_normal(4).astype(np.float32)
    actual = conv_dynamic(x, weight, scales, 0, bias, *geometry, engine, reduce)
    q, scale, zero_point = quantize_input(x, engine, reduce)
    requant = requantization(engine, scale, scales, scale, zero_point, bias)
    integers = quantized_conv(q, zero_point, weight, 0, requant, *geometry)
    expected = [f32((value - zero_point) * single(scale)) for value in integers.ravel().tolist()]
    assert expected == fractions(actual)
    assert {0, 255} <= set(integers.ravel().tolist())


def test_eq_float16_weight__saturates() -> None:
    """Beyond the largest half-precision number weights are clipped, not infinite."""
    w = weight_to_float16([1e6, -1e6, 0.1])
    assert [65504.0, -65504.0, float(np.float16(0.1))] == w.tolist()
    assert np.float32 == w.dtype


def test_eq_inverse_deviation__order() -> None:
    """Sum, root and quotient, each rounded to float32."""
    variance = RNG.uniform(0.1, 9, 50).astype(np.float32)
    total = [f32(v + single(1e-5)) for v in fractions(variance)]
    root = [single(np.sqrt(np.float32(float(v)))) for v in total]
    assert [f32(1 / v) for v in root] == fractions(inverse_deviation(variance, 1e-5))


def test_eq_fold_weight__channels() -> None:
    """The factor is rounded first; the channel axis is 0, or 1 when transposed."""
    weight = RNG.standard_normal((2, 3, 2)).astype(np.float32)
    gamma, inv = np.float32([0.3, 0.7]), np.float32([1.1, 0.9])
    folded = fold_weight(weight, gamma, inv)
    for n in range(2):
        factor = f32(rational(gamma[n]) * rational(inv[n]))
        assert [f32(v * factor) for v in fractions(weight[n])] == fractions(folded[n])
    moved = fold_weight(weight.swapaxes(0, 1), gamma, inv, channel_axis=1)
    assert folded.swapaxes(0, 1).tolist() == moved.tolist()


@pytest.mark.parametrize("groups", [1, 2, 3, 6])
def test_eq_fold_weight__groups(groups: int) -> None:
    """A transposed convolution in groups, with exact numbers: one layer gives what two did.

    What one pixel with the inputs x adds to output n through one tap is the sum over the rows
    of the group of n.
    """
    rows, outputs = 6, 12
    weight = RNG.integers(-8, 9, (rows, outputs // groups, 2)).astype(np.float32)
    x = RNG.integers(-8, 9, rows).astype(np.float32)
    bias, mean, gamma, beta = RNG.integers(-8, 9, (4, outputs)).astype(np.float32)
    variance = np.float32(4.0) ** RNG.integers(0, 3, outputs) - np.float32(0.5)
    folded, offset = fold_batch_norm(weight, bias, mean, variance, 0.5, gamma, beta, 1)
    for n in range(outputs):
        group, column = divmod(n, outputs // groups)
        mine = range(group * rows // groups, (group + 1) * rows // groups)
        deviation = {1: 1, 4: 2, 16: 4}[int(variance[n] + 0.5)]
        for tap in range(2):
            terms = [(c, Fraction(float(x[c]))) for c in mine]
            plain = sum(v * Fraction(float(weight[c, column, tap])) for c, v in terms)
            two = (plain + int(bias[n]) - int(mean[n])) * int(gamma[n]) / deviation + int(beta[n])
            one = sum(v * Fraction(float(folded[c, column, tap])) for c, v in terms)
            assert two == one + Fraction(float(offset[n]))


def test_eq_fold_weight__sizes() -> None:
    """Factors that are not as many as the outputs are refused."""
    for axis, factors, shape in ((0, 3, (4, 2)), (1, 3, (4, 2)), (1, 6, (4, 2)), (1, 1, (4, 0))):
        with pytest.raises(ValueError, match=f"batch norm of {factors} channels does not fit"):
            fold_weight(np.ones(shape), np.ones(factors), np.ones(factors), axis)


def test_eq_fold_bias__order() -> None:
    """Difference, two products from the left, sum."""
    b, mu, gamma, inv, beta = RNG.standard_normal((5, 20)).astype(np.float32)
    actual = fold_bias(b, mu, gamma, inv, beta)
    for i in range(20):
        centred = f32(rational(b[i]) - rational(mu[i]))
        scaled = f32(f32(centred * rational(inv[i])) * rational(gamma[i]))
        assert f32(scaled + rational(beta[i])) == rational(actual[i])


def test_eq_fold_bias__same_function() -> None:
    """The folded layer does what layer and normalization do, in double to 1e-12."""
    weight, x = RNG.standard_normal((3, 5)), RNG.standard_normal((8, 5))
    bias, mean, beta, gamma = RNG.standard_normal((4, 3))
    variance = RNG.uniform(0.5, 2, 3)
    folded, new_bias = fold_batch_norm(weight, bias, mean, variance, 1e-5, gamma, beta)
    normalized = (x @ weight.T + bias - mean) / np.sqrt(variance + 1e-5) * gamma + beta
    assert np.abs(x @ folded.T + new_bias - normalized).max() < 1e-12
    plain, plain_bias = fold_batch_norm(weight, None, mean, variance, 1e-5)
    normalized = (x @ weight.T - mean) / np.sqrt(variance + 1e-5)
    assert np.abs(x @ plain.T + plain_bias - normalized).max() < 1e-12


def double_sigmoid(x):
    """The logistic function in double."""
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def test_eq_lstm_step__double() -> None:
    """Gates i, f, g, o side by side."""
    x, h = RNG.standard_normal((2, 5, 8)).astype(np.float32)
    cell = RNG.standard_normal((5, 2)).astype(np.float32)
    hidden, new_cell = lstm_step(x, h, cell)
    gates = x + h
    i, f, g, o = np.split(gates.astype(np.float64), 4, axis=1)
    expected = double_sigmoid(f) * cell + double_sigmoid(i) * np.tanh(g)
    assert np.abs(new_cell - expected).max() <= STEP_BOUND
    assert np.abs(hidden - double_sigmoid(o) * np.tanh(expected)).max() <= STEP_BOUND
    assert hidden.dtype == new_cell.dtype == np.float32


def test_eq_gru_step__double() -> None:
    """Reset, update, new; the reset gate acts on the hidden projection."""
    x, h = RNG.standard_normal((2, 5, 6)).astype(np.float32)
    state = RNG.standard_normal((5, 2)).astype(np.float32)
    xr, xu, xn = np.split(x.astype(np.float64), 3, axis=1)
    hr, hu, hn = np.split(h.astype(np.float64), 3, axis=1)
    reset, update = double_sigmoid(xr + hr), double_sigmoid(xu + hu)
    new = np.tanh(xn + reset * hn)
    expected = (1 - update) * new + update * state
    assert np.abs(gru_step(x, h, state) - expected).max() <= STEP_BOUND


def test_eq_rnn_step__nonlinearities() -> None:
    """Hyperbolic tangent or ReLU of the sum of both projections."""
    x, h = np.float32([[1.0, -3.0]]), np.float32([[0.5, 1.0]])
    assert rnn_step(x, h, "relu").tolist() == [[1.5, 0.0]]
    assert np.abs(rnn_step(x, h) - np.tanh([[1.5, -2.0]])).max() <= STEP_BOUND


@pytest.mark.parametrize("reverse", [False, True])
def test_eq_recurrent_layer__sequences_of_two_lengths(reverse: bool) -> None:
    """Each sequence alone, step by step, gives what the layer gives for both."""
    x = RNG.standard_normal((5, 8)).astype(np.float32)  # three steps of one, two of the other
    h, c = RNG.standard_normal((2, 2, 2)).astype(np.float32)
    weight = RNG.standard_normal((8, 2)).astype(np.float32)

    def project(hidden: np.ndarray) -> np.ndarray:
        return (hidden[:, :1] * weight[:, 0] + hidden[:, 1:] * weight[:, 1]).astype(np.float32)

    outputs, (last_h, last_c) = recurrent_layer("LSTM", x, project, [h, c], [2, 2, 1], reverse)
    for sequence, rows in enumerate(([0, 2, 4], [1, 3])):
        hidden, cell = h[sequence : sequence + 1], c[sequence : sequence + 1]
        for row in reversed(rows) if reverse else rows:
            hidden, cell = lstm_step(x[row : row + 1], project(hidden), cell)
            assert hidden[0].tolist() == outputs[row].tolist()
        assert hidden[0].tolist() == last_h[sequence].tolist()
        assert cell[0].tolist() == last_c[sequence].tolist()


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("with_bias", [False, True])
def test_eq_recurrent_layer__of_floats(kind: str, reverse: bool, with_bias: bool) -> None:
    """Step by step: what each step projects, its cell, and its state; ended sequences wait."""
    gates, size, batch_sizes = {"LSTM": 4, "GRU": 3}[kind], 3, [2, 2, 1]
    x = RNG.standard_normal((5, gates * size)).astype(np.float32)
    weight = RNG.standard_normal((gates * size, size)).astype(np.float32)
    bias = RNG.standard_normal(gates * size).astype(np.float32) if with_bias else None
    states = RNG.standard_normal((gates - 2, 2, size)).astype(np.float32)
    outputs, ends, from_hidden, cells = float_layer(
        kind, x, weight, bias, list(states), batch_sizes, reverse
    )
    now = [each.copy() for each in states]
    steps = [(slice(0, 2), 2), (slice(2, 4), 2), (slice(4, 5), 1)]
    for rows, count in steps[::-1] if reverse else steps:
        projected = float_product(now[0][:count], weight.T, bias)
        assert projected.tolist() == from_hidden[rows].tolist()
        if kind == "LSTM":
            hidden, cell = lstm_step(x[rows], projected, now[1][:count])
            assert cells is not None
            assert cell.tolist() == cells[rows].tolist()
            now[1][:count] = cell
        else:
            hidden = gru_step(x[rows], projected, now[0][:count])
            assert cells is None
        now[0][:count] = hidden
        assert hidden.tolist() == outputs[rows].tolist()
    assert [each.tolist() for each in now] == [each.tolist() for each in ends]


def test_eq_recurrent_layer__states_that_are_given_stay() -> None:
    """The states before the first step are not changed."""
    hidden, zeros = np.ones((2, 1), np.float32), np.zeros((4, 3), np.float32)
    weight = np.zeros((3, 1), np.float32)
    outputs = float_layer("GRU", zeros, weight, None, [hidden], [2, 2])[0]
    assert [[0.5], [0.5], [0.25], [0.25]] == outputs.tolist()
    assert [[1], [1]] == hidden.tolist()
