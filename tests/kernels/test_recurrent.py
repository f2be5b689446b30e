"""Recurrent cells and layers by every kernel against the equations in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits
from kernels.layers import integers

from pyqref import _kernels
from pyqref.numerics import dynamic, recurrent

SIZES = [1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 255, 256, 257, 530]
GATES = {"LSTM": 4, "GRU": 3}
#: Numbers at which the functions change their form, or leave float32.
ENDS = [87, 88, 88.72, 88.73, 89, 103, 103.9, 104, 105, 3e38, np.inf, np.nan]
POSITIVE = np.array([0, 1e-45, 1e-38, 0.17, 0.1733, 0.35, 1, 9, 10, 11, 16.6, *ENDS], np.float32)
SPECIAL = np.concatenate([POSITIVE, -POSITIVE])


def reals(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers about 0, and special ones here and there."""
    x = (3 * rng.standard_normal(shape)).astype(np.float32)
    return np.where(rng.random(shape) < 0.1, rng.choice(SPECIAL, shape), x)


def assert_same_steps(rows: int, size: int) -> None:
    """Each kind of cell, on projections of all kinds of numbers."""
    rng = np.random.default_rng(size)
    x, h = reals(rng, 2, rows, 4 * size)
    state = reals(rng, rows, size)
    kept = state.copy()
    with np.errstate(all="ignore"):
        for expected, actual in (
            (recurrent.lstm_step(x, h, state), _kernels.lstm_step(x, h, state)),
            ([recurrent.rnn_step(x, h)], [_kernels.rnn_step(x, h)]),
            ([recurrent.rnn_step(x, h, "relu")], [_kernels.rnn_step(x, h, "relu")]),
        ):
            for one, other in zip(expected, actual, strict=True):
                assert_same_bits(one, other)
        x, h = x[:, size:], h[:, size:]  # strided
        assert_same_bits(recurrent.gru_step(x, h, state), _kernels.gru_step(x, h, state))
    assert_same_bits(kept, state)


@pytest.mark.parametrize("size", SIZES)
def test_steps(kernel: str, size: int, n_threads: int) -> None:
    """eq-lstm-step, eq-gru-step and eq-rnn-step around every vector."""
    for rows in (0, 1, 3):
        assert_same_steps(rows, size)


def test_functions_of_many_numbers(compiled_kernel: str) -> None:
    """eq-tanh-expm1 and eq-sigmoid over float32, by the cells that return them."""
    x = np.arange(0, 2**32, 2**32 // 200_003).astype(np.uint32).view(np.float32)[:, None]
    zero = np.zeros_like(x)
    # With gates i and g of 0 the new cell is the sigmoid of f times the old one.
    gates = np.concatenate([zero, x, zero, x], axis=1)
    with np.errstate(invalid="ignore"):
        assert_same_bits(recurrent.rnn_step(x, zero), _kernels.rnn_step(x, zero))
        expected = recurrent.lstm_step(gates, np.zeros_like(gates), np.ones_like(x))
        actual = _kernels.lstm_step(gates, np.zeros_like(gates), np.ones_like(x))
    for one, other in zip(expected, actual, strict=True):
        assert_same_bits(one, other)


def assert_same_layer(
    kind: str,
    size: int,
    batch_sizes: list[int],
    *,
    reverse: bool = False,
    engine: Any = "fbgemm",
    per_channel: bool = False,
    has_bias: bool = True,
    weight_zero_points: Any = 0,
) -> None:
    rng = np.random.default_rng(size)
    columns, rows = GATES[kind] * size, batch_sizes[0]
    weight = integers(rng, (columns, size), np.int8)
    scales = rng.uniform(0.001, 0.01, columns) if per_channel else np.float64(0.004)
    bias = rng.standard_normal(columns).astype(np.float32) if has_bias else None
    from_input = rng.standard_normal((sum(batch_sizes), columns)).astype(np.float32)
    states = list(rng.standard_normal((2 if kind == "LSTM" else 1, rows, size)).astype(np.float32))
    expected = recurrent.recurrent_layer(
        kind,
        from_input,
        lambda hidden: dynamic.linear_dynamic(
            hidden, weight, scales, weight_zero_points, bias, engine=engine
        ),
        states,
        batch_sizes,
        reverse,
    )
    actual = _kernels.recurrent_layer(
        kind,
        from_input,
        _kernels.pack_linear(weight),
        weight_zero_points,
        scales,
        bias,
        states,
        batch_sizes,
        reverse,
        engine,
    )
    assert_same_bits(expected[0], actual[0])
    for one, other in zip(expected[1], actual[1], strict=True):
        assert_same_bits(one, other)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("size", [1, 4, 15, 16, 17, 64, 67])
def test_layers(kernel: str, kind: str, size: int, n_threads: int) -> None:
    """eq-recurrent-layer and eq-linear-dynamic: sizes around vectors and tiles, both directions."""
    for batch_sizes in ([1], [1, 1, 1, 1], [7, 7], [17, 17, 5, 1], [33] * 3, [0, 0]):
        assert_same_layer(kind, size, batch_sizes)
        assert_same_layer(kind, size, batch_sizes, reverse=True)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("engine", ["fbgemm", "onednn", "qnnpack"])
@pytest.mark.parametrize("per_channel", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_layers_of_every_engine(
    kernel: str, kind: str, engine: Any, per_channel: bool, has_bias: bool
) -> None:
    """eq-dynamic-output: one rounding or two; 7 bits or 8; weights with zero points."""
    options = {"engine": engine, "per_channel": per_channel, "has_bias": has_bias}
    assert_same_layer(kind, 20, [3, 3, 2], **options)
    zero_points = np.arange(GATES[kind] * 20) % 7
    assert_same_layer(kind, 20, [3, 3, 2], weight_zero_points=zero_points, **options)


@pytest.mark.parametrize("kind", GATES)
def test_long_rows(kernel: str, kind: str, n_threads: int) -> None:
    """Rows that several tasks share."""
    assert_same_layer(kind, 530, [2, 2, 1])


@pytest.mark.parametrize("kind", GATES)
def test_a_hidden_state_without_a_grid(kernel: str, kind: str) -> None:
    """The layer says so, at the first step and later."""
    size = 5
    columns = GATES[kind] * size
    packed = _kernels.pack_linear(np.ones((columns, size), np.int8))
    inputs, ones = np.zeros((3, columns), np.float32), np.ones((1, size), np.float32)

    def run(hidden: np.ndarray, from_input: np.ndarray) -> None:
        weight = packed, 0, np.float64(0.01), None
        states = [hidden, ones] if kind == "LSTM" else [hidden]
        _kernels.recurrent_layer(kind, from_input, *weight, states, [1, 1, 1])

    run(ones, inputs)
    with pytest.raises(_kernels.NoGridError):
        run(np.float32([[1, 2, np.nan, 3, 4]]), inputs)
    inputs[1, -1] = np.nan
    with pytest.raises(_kernels.NoGridError) as caught:
        run(ones, inputs)
    assert not np.isfinite(caught.value.args).all()
