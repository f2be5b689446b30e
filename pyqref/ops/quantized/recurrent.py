"""Recurrent layers with quantized weights and float states: one step, or all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from pyqref import _kernels
from pyqref._kernels import gru_step, lstm_step, rnn_step
from pyqref._kernels.parts import parts
from pyqref._typing import Tensor
from pyqref.backends import quantized as settings
from pyqref.numerics.recurrent import steps
from pyqref.tensor.arguments import described
from pyqref.tensor.base import wrap

from .checks import require_float
from .input import quantize_rows, require_finite_range
from .linear_dynamic import PackedLinearFloat16, run_dynamic
from .packed import PackedLinear

__all__ = [
    "quantized_gru_cell_dynamic",
    "quantized_lstm_cell_dynamic",
    "quantized_rnn_relu_cell_dynamic",
    "quantized_rnn_tanh_cell_dynamic",
    "quantize_in_place",
    "run_recurrent_cell",
    "run_recurrent_layer",
]

Weight: TypeAlias = PackedLinear | PackedLinearFloat16

#: What messages call the two that are multiplied.
_INPUT, _HIDDEN = "the input", "hx, the hidden state,"

#: Bytes of projections of floats that are held at a time.
_HELD = 15 << 14


def quantized_lstm_cell_dynamic(
    input: Tensor,
    hx: Sequence[Any],
    w_ih: PackedLinear | PackedLinearFloat16,
    w_hh: PackedLinear | PackedLinearFloat16,
    bias_ih: Tensor | None = None,
    bias_hh: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    r"""One step of an LSTM: equation ``eq-lstm-step`` on two projections ``eq-linear-dynamic``.

    Parameters
    ----------
    input
        float32 ``(B, K)``.
    hx
        Hidden and cell state, float32 ``(B, H)`` each.
    w_ih, w_hh
        Packed weights ``(4 * H, K)`` and ``(4 * H, H)``, with their biases.
    bias_ih, bias_hh
        Not looked at, as in torch: the packed weights hold the biases.

    Returns
    -------
    The new hidden and cell state.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.zeros(8, 2), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w, pyqref.zeros(8))
    >>> x, state = pyqref.ones(1, 2), (pyqref.zeros(1, 2), pyqref.ones(1, 2))
    >>> cell = pyqref.ops.quantized.quantized_lstm_cell_dynamic
    >>> h, c = cell(x, state, packed, packed, None, None)
    >>> c.tolist()  # all gates are half open
    [[0.5, 0.5]]
    """
    name = "quantized.quantized_lstm_cell_dynamic"
    if not isinstance(hx, list | tuple) or len(hx) != 2:
        wrong = RuntimeError if isinstance(hx, list | tuple) else TypeError
        raise wrong(f"{name}: hx must be a hidden and a cell state, got {described(hx)}")
    _require(name, input, hx[0], w_ih, w_hh, 4)
    _require_state(name, "hx[1]", hx[1], input, w_hh)
    states = [np.array(each._array, order="C") for each in hx]
    run_recurrent_cell("LSTM", input._array, w_ih, w_hh, states)
    return wrap(states[0]), wrap(states[1])


def quantized_gru_cell_dynamic(
    input: Tensor,
    hx: Tensor,
    w_ih: object,
    w_hh: object,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a GRU (``eq-gru-step``); arguments as of the LSTM, with one state.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.zeros(6, 2), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w, pyqref.zeros(6))
    >>> x, h = pyqref.ones(1, 2), pyqref.ones(1, 2)
    >>> cell = pyqref.ops.quantized.quantized_gru_cell_dynamic
    >>> cell(x, h, packed, packed, None, None).tolist()  # all gates are half open
    [[0.5, 0.5]]
    """
    name = "quantized.quantized_gru_cell_dynamic"
    return _one_state(name, "GRU", input, hx, w_ih, w_hh, 3)


def quantized_rnn_tanh_cell_dynamic(
    input: Tensor,
    hx: Tensor,
    w_ih: object,
    w_hh: object,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a plain cell (``eq-rnn-step``) with tanh.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.zeros(2, 2), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w, pyqref.tensor([1.0, -1.0]))
    >>> cell = pyqref.ops.quantized.quantized_rnn_tanh_cell_dynamic
    >>> h = cell(pyqref.ones(1, 2), pyqref.zeros(1, 2), packed, packed, None, None)
    >>> [round(each, 3) for each in h.flatten().tolist()]
    [0.964, -0.964]
    """
    name = "quantized.quantized_rnn_tanh_cell_dynamic"
    return _one_state(name, "RNN", input, hx, w_ih, w_hh, 1)


def quantized_rnn_relu_cell_dynamic(
    input: Tensor,
    hx: Tensor,
    w_ih: object,
    w_hh: object,
    b_ih: Tensor | None = None,
    b_hh: Tensor | None = None,
) -> Tensor:
    """One step of a plain cell (``eq-rnn-step``) with ReLU.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.zeros(2, 2), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w, pyqref.tensor([1.0, -1.0]))
    >>> cell = pyqref.ops.quantized.quantized_rnn_relu_cell_dynamic
    >>> h = cell(pyqref.ones(1, 2), pyqref.zeros(1, 2), packed, packed, None, None)
    >>> [round(each, 3) for each in h.flatten().tolist()]
    [2.0, 0.0]
    """
    name = "quantized.quantized_rnn_relu_cell_dynamic"
    return _one_state(name, "ReLU", input, hx, w_ih, w_hh, 1)


def _one_state(
    name: str, kind: str, input: Any, hidden: Any, w_ih: Any, w_hh: Any, gates: int
) -> Any:
    _require(name, input, hidden, w_ih, w_hh, gates)
    state = np.array(hidden._array, order="C")
    run_recurrent_cell(kind, input._array, w_ih, w_hh, [state])
    return wrap(state)


def _require(name: str, input: Any, hidden: Any, w_ih: Any, w_hh: Any, gates: int) -> None:
    for label, packed in (("w_ih", w_ih), ("w_hh", w_hh)):
        if not isinstance(packed, PackedLinear | PackedLinearFloat16):
            raise TypeError(
                f"{name}: {label} must come from quantized.linear_prepack, got {described(packed)}"
            )
    rows, width = w_hh.shape
    if rows != gates * width or w_ih.shape[0] != rows:
        raise RuntimeError(
            f"{name}: w_ih and w_hh must have {gates} times as many rows as the hidden state has "
            f"features, got shapes {w_ih.shape} and {w_hh.shape}"
        )
    require_float(name, input)
    if input.dim() != 2 or input.shape[1] != w_ih.shape[1]:
        raise RuntimeError(
            f"{name}: input must have shape (B, {w_ih.shape[1]}), got {tuple(input.shape)}"
        )
    _require_state(name, "hx", hidden, input, w_hh)


def _require_state(name: str, label: str, state: Any, input: Any, w_hh: Any) -> None:
    require_float(name, state, label)
    shape = (input.shape[0], w_hh.shape[1])
    if tuple(state.shape) != shape:
        raise RuntimeError(f"{name}: {label} must have shape {shape}, got {tuple(state.shape)}")


def run_recurrent_cell(
    kind: str,
    x: np.ndarray,
    of_input: Weight,
    of_hidden: Weight,
    states: Sequence[np.ndarray],
) -> None:
    """Change states, in arrays, by one step: of an LSTM, a GRU, an RNN with tanh, or ReLU."""
    if _is_elsewhere(of_input, of_hidden):
        projected = run_dynamic(x, of_input), run_dynamic(states[0], of_hidden, what=_HIDDEN)
        _step(kind, list(states), *projected)
        return
    projections = _projections(of_input, of_hidden)
    if projections and kind != "ReLU":
        with _grids_named():
            _kernels.recurrent_cell(kind, x, *projections, states)
        return
    projects = _by_rows(x, of_input, _INPUT), _by_rows(states[0], of_hidden, _HIDDEN)
    rows = _rows_held(of_hidden)
    for first in range(0, len(x), rows):
        at = slice(first, first + rows)
        some = [each[at] for each in states]
        _step(kind, some, *(project(at) for project in projects))


def _step(
    kind: str, states: list[np.ndarray], from_input: np.ndarray, from_hidden: np.ndarray
) -> None:
    if kind == "LSTM":
        states[0][...], states[1][...] = lstm_step(from_input, from_hidden, states[1])
    elif kind == "GRU":
        states[0][...] = gru_step(from_input, from_hidden, states[0])
    else:
        states[0][...] = rnn_step(from_input, from_hidden, "relu" if kind == "ReLU" else "tanh")


def run_recurrent_layer(
    kind: str,
    x: np.ndarray,
    of_input: Weight,
    of_hidden: Weight,
    states: Sequence[np.ndarray],
    batch_sizes: Sequence[int],
    reverse: bool,
    out: np.ndarray,
    grid: tuple[float, int] | None = None,
) -> None:
    """One layer in one direction, in arrays: equation ``eq-recurrent-layer``.

    Changes states, and writes the outputs into ``out``; the other arguments are those of
    :func:`pyqref._kernels.recurrent_layer`.
    """
    elsewhere = _is_elsewhere(of_input, of_hidden)
    projections = None if elsewhere else _projections(of_input, of_hidden)
    if projections:
        with _grids_named():
            _kernels.recurrent_layer(kind, x, *projections, states, batch_sizes, reverse, out, grid)
        return
    # The whole input has one grid: another arithmetic is given all of it.
    held_rows = sum(batch_sizes) if elsewhere else _rows_held(of_hidden)
    for rows, first, sizes in _blocks(batch_sizes, held_rows, reverse):
        held = [each[first : first + sizes[0]] for each in states]
        out[rows], after = _kernels.recurrent_loop(
            kind,
            run_dynamic(_rows(x, rows), of_input),
            lambda hidden: run_dynamic(hidden, of_hidden, what=_HIDDEN),
            held,
            sizes,
            reverse,
        )
        for state, new in zip(held, after, strict=True):
            state[...] = new


def quantize_in_place(
    x: np.ndarray, weights: Sequence[Weight]
) -> tuple[np.ndarray, tuple[float, int]] | None:
    """The inputs of both directions of a layer as bytes, in the second half of their own rows.

    So that what the first direction gives, and then the second, replaces them: neither array needs
    room beside the other.

    Parameters
    ----------
    x
        float32 ``(rows, K)`` in C order; overwritten.
    weights
        All of the layer, beginning with one of the inputs.

    Returns
    -------
    The bytes ``(rows, K)``, scale and zero point; None where the directions have no grid in common.
    """
    if any(isinstance(weight, PackedLinearFloat16) for weight in weights):
        return None
    if settings.arithmetic is not None:
        return None
    engines = [weight.engine for weight in weights if isinstance(weight, PackedLinear)]
    if len({engine == "qnnpack" for engine in engines}) > 1:
        return None
    quantize, scale, zero_point = quantize_rows(x, engines[0], True, _INPUT)
    width = x.shape[1]
    integers = x.view(np.uint8)[:, 2 * width : 3 * width]
    for at in parts(x, whole=(1,)):
        integers[at] = quantize(at)
    return integers, (scale, zero_point)


def _is_elsewhere(*weights: Weight) -> bool:
    """Return True if the arithmetic of another system multiplies by these weights."""
    is_float = any(isinstance(weight, PackedLinearFloat16) for weight in weights)
    return settings.arithmetic is not None and not is_float


def _rows(x: np.ndarray, at: slice) -> np.ndarray:
    """Rows of ``(rows, K)``, or of ``(steps, rows, K)``: of whole steps, or some of one."""
    if x.ndim == 2:
        return x[at]
    if x.shape[1] == 0:
        return x[0]
    step, first = divmod(at.start, x.shape[1])
    count = at.stop - at.start
    if count < x.shape[1]:
        return x[step, first : first + count]
    return x[step : step + count // x.shape[1]].reshape(count, x.shape[2])


def _projections(
    of_input: Weight, of_hidden: Weight
) -> tuple[_kernels.Projection, _kernels.Projection] | None:
    """Return the projections for the kernel of a layer, if both its weights are int8."""
    if isinstance(of_input, PackedLinear) and isinstance(of_hidden, PackedLinear):
        return of_input.projection(), of_hidden.projection()
    return None


@contextmanager
def _grids_named() -> Iterator[None]:
    """Say in words which of inputs and hidden state has no grid."""
    try:
        yield
    except _kernels.NoGridError as error:
        low, high, is_input = error.args
        require_finite_range(low, high, _INPUT if is_input else _HIDDEN)
        raise


def _rows_held(weight: Weight) -> int:
    """Rows that are projected at a time."""
    return max(1, _HELD // (4 * weight.shape[0]))


def _by_rows(x: np.ndarray, weight: Weight, what: str) -> Callable[[slice], np.ndarray]:
    """Return a function that projects some rows of ``x``, on the grid of all of them."""
    if isinstance(weight, PackedLinearFloat16):
        return lambda at: run_dynamic(x[at], weight)
    quantize, scale, zero_point = quantize_rows(x, weight.engine, True, what)
    return lambda at: weight.run_float(quantize(at), zero_point, scale)


def _blocks(
    batch_sizes: Sequence[int], most: int, reverse: bool
) -> Iterator[tuple[slice, int, list[int]]]:
    """Some steps at a time, or some rows of one: where they are, first sequence, batch sizes."""
    order = list(steps(batch_sizes, reverse))
    while order:
        rows, count = order.pop(0)
        if count > most:
            for first in range(0, count, most):
                size = min(most, count - first)
                begin = rows.start + first
                yield slice(begin, begin + size), first, [size]
            continue
        start, stop, sizes = rows.start, rows.stop, [count]
        while order and stop - start + order[0][1] <= most:
            rows, count = order.pop(0)
            start, stop = min(start, rows.start), max(stop, rows.stop)
            sizes.insert(0 if reverse else len(sizes), count)
        yield slice(start, stop), 0, sizes
