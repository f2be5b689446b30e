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
    """eq-piecewise and eq-sigmoid over float32, by the cells that return them."""
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


def projections(
    rng: np.random.Generator,
    columns: int,
    depths: tuple[int, int],
    engine: Any = "fbgemm",
    per_channel: bool = False,
    has_bias: bool = True,
    weight_zero_points: Any = 0,
) -> tuple[Any, Any]:
    """Return both weights of a layer, as kernels take them, and as NumPy projects by them."""
    packed, by_numpy = [], []
    for depth in depths:
        weight = integers(rng, (columns, depth), np.int8)
        scales = rng.uniform(0.001, 0.01, columns) if per_channel else np.float64(0.004)
        bias = rng.standard_normal(columns).astype(np.float32) if has_bias else None
        rest = weight_zero_points, scales, bias, engine
        packed.append(_kernels.Projection(_kernels.pack_linear(weight), *rest))
        by_numpy.append(
            lambda x, weight=weight, scales=scales, bias=bias: dynamic.linear_dynamic(
                x, weight, scales, weight_zero_points, bias, engine=engine
            )
        )
    return packed, by_numpy


def assert_same_layer(
    kind: str,
    size: int,
    batch_sizes: list[int],
    *,
    depth: int = 5,
    reverse: bool = False,
    **options: Any,
) -> None:
    rng = np.random.default_rng(size)
    rows = batch_sizes[0]
    packed, project = projections(rng, GATES[kind] * size, (depth, size), **options)
    x = rng.standard_normal((sum(batch_sizes), depth)).astype(np.float32)
    states = list(rng.standard_normal((2 if kind == "LSTM" else 1, rows, size)).astype(np.float32))
    expected = recurrent.recurrent_layer(
        kind, project[0](x), project[1], states, batch_sizes, reverse
    )
    # Backwards, beside the outputs of the other direction.
    both = np.full((len(x), 2 * size), 7, np.float32)
    out = both[:, size:] if reverse else None
    actual = _kernels.recurrent_layer(kind, x, *packed, states, batch_sizes, reverse, out)
    for one, other in zip([expected[0], *expected[1]], [actual, *states], strict=True):
        assert_same_bits(one, np.ascontiguousarray(other))
    assert (both[:, :size] == 7).all()


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
@pytest.mark.parametrize("reverse", [False, True])
def test_some_steps_at_a_time(
    kernel: str, kind: str, reverse: bool, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More rows than are projected at a time: of many steps, of few, of one."""
    monkeypatch.setattr("pyqref._kernels.recurrent.layer._HELD", 3000)
    for batch_sizes in ([3] * 10 + [2] * 7 + [1] * 9, [15, 15, 9, 5], [50, 40, 3, 1]):
        assert_same_layer(kind, 17, batch_sizes, depth=33, reverse=reverse)


@pytest.mark.parametrize("kind", [*GATES, "RNN"])
@pytest.mark.parametrize("rows", [0, 1, 7, 40])
def test_cells(
    kernel: str, kind: str, rows: int, n_threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One step, of more rows than are projected at a time, too."""
    monkeypatch.setattr("pyqref._kernels.recurrent.layer._HELD", 3000)
    rng, size = np.random.default_rng(rows), 17
    packed, project = projections(rng, GATES.get(kind, 1) * size, (41, size))
    x, hidden, cell = (
        rng.standard_normal((rows, width)).astype(np.float32) for width in (41, size, size)
    )
    both = project[0](x), project[1](hidden)
    expected = {
        "LSTM": lambda: recurrent.lstm_step(*both, cell),
        "GRU": lambda: (recurrent.gru_step(*both, hidden),),
        "RNN": lambda: (recurrent.rnn_step(*both),),
    }[kind]()
    states = [hidden, cell] if kind == "LSTM" else [hidden]
    _kernels.recurrent_cell(kind, x, *packed, states)
    for one, other in zip(expected, states, strict=True):
        assert_same_bits(one, other)


@pytest.mark.parametrize("kind", GATES)
def test_what_has_no_grid(kernel: str, kind: str) -> None:
    """The layer says so: of its input, at the first step, and later."""
    size = 5
    columns = GATES[kind] * size
    packed = _kernels.pack_linear(np.ones((columns, size), np.int8))
    zeros, ones = np.zeros((3, size), np.float32), np.ones((1, size), np.float32)
    bias = np.zeros(columns, np.float32)
    hole = np.float32([[1, 2, np.nan, 3, 4]])

    def run(hidden: np.ndarray, x: np.ndarray) -> None:
        weight = _kernels.Projection(packed, 0, np.float64(0.01), bias)
        states = [hidden.copy(), ones.copy()][: 2 if kind == "LSTM" else 1]
        _kernels.recurrent_layer(kind, x, weight, weight, states, [1, 1, 1])

    run(ones, zeros)
    for arguments, is_input in (((ones, hole.repeat(3, 0)), True), ((hole, zeros), False)):
        with pytest.raises(_kernels.NoGridError) as caught:
            run(*arguments)
        assert not np.isfinite(caught.value.args[:2]).all()
        assert caught.value.args[2] == is_input
    bias[-1] = np.nan
    with pytest.raises(_kernels.NoGridError):
        run(ones, zeros)


@pytest.mark.parametrize("kind", GATES)
@pytest.mark.parametrize("size", [1, 5, 16, 33, 260])
def test_floats(kernel: str, kind: str, size: int, n_threads: int) -> None:
    """eq-float-product in a layer, with rows around a tile and depths around a block."""
    rng, columns = np.random.default_rng(size), GATES[kind] * size
    weight = rng.standard_normal((columns, size)).astype(np.float32)
    runs = [([7, 3, 2, 1], False)]
    if size < 100:
        runs = [([13, 7, 6, 3, 2, 1, 1], False), ([9, 9, 8, 5], True)]
    for batch_sizes, reverse in runs:
        from_input = rng.standard_normal((sum(batch_sizes), columns)).astype(np.float32)
        states = rng.standard_normal((2, batch_sizes[0], size)).astype(np.float32)
        used = states[: 2 if kind == "LSTM" else 1]
        for bias in (None, from_input[0] / 3)[-len(runs) :]:
            given = kind, from_input, weight, bias, list(used), batch_sizes, reverse
            expected = recurrent.float_layer(*given)
            assert _kernels.recurrent_floats(*given, keeps=False) is not None
            actual = _kernels.recurrent_floats(*given, keeps=True)
            assert_same_bits(expected[0], actual.outputs)
            assert_same_bits(expected[2], actual.from_hidden)
            for one, other in zip(expected[1], actual.states, strict=True):
                assert_same_bits(one, other)
            if kind == "LSTM":
                assert_same_bits(expected[3], actual.cells)
