"""Linear layers and recurrent cells of torch 1.0, whose int8 weights are plain tensors.

``fbgemm_linear_quantize_weight`` gives the parts that the others take: the integers, the sums of
their columns, scale and zero point. torch keeps a second copy of the integers, packed for one
library; here ``fbgemm_pack_quantized_matrix`` returns the integers themselves, and those who take
them look at the first copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from .._kernels import gru_step, lstm_step, rnn_step
from .._typing import Tensor
from ..dtypes import int8, qint8
from ..tensor.arguments import described
from ..tensor.base import wrap
from ..tensor.dispatch import require_tensor
from ..tensor.quantized.create import make_per_tensor_quantized_tensor, quantize_per_tensor_dynamic
from .quantized.checks import require_float
from .quantized.linear import linear_prepack
from .quantized.linear_dynamic import linear_dynamic

__all__ = [
    "fbgemm_linear_int8_weight",
    "fbgemm_linear_int8_weight_fp32_activation",
    "fbgemm_linear_quantize_weight",
    "fbgemm_pack_quantized_matrix",
    "quantized_gru_cell",
    "quantized_lstm_cell",
    "quantized_rnn_relu_cell",
    "quantized_rnn_tanh_cell",
]

#: Integers, scale and zero point of a weight, and its bias.
_Weight: TypeAlias = tuple[Any, Any, Any, Any]


def fbgemm_linear_quantize_weight(input: Tensor) -> tuple[Any, Any, float, int]:
    """Quantize a weight over its range, as ``qint8`` (equation ``eq-affine-qparams``).

    Parameters
    ----------
    input
        float32 ``(N, K)``.

    Returns
    -------
    tuple
        The integers, int8 ``(N, K)``; ``sum(q - zero_point)`` of each row, int32 ``(N,)``; scale
        and zero point.

    Examples
    --------
    >>> import pyqref
    >>> q, sums, scale, zero_point = pyqref.fbgemm_linear_quantize_weight(
    ...     pyqref.tensor([[-1.0, 0.0], [0.5, 1.55]])
    ... )
    >>> q.tolist(), sums.tolist(), round(scale, 6), zero_point
    ([[-128, -28], [22, 127]], [-100, 205], 0.01, -28)
    """
    name = "fbgemm_linear_quantize_weight"
    require_float(name, input, "input")
    _require_matrix(name, "input", input)
    q = quantize_per_tensor_dynamic(input.detach(), qint8, False)
    integers, zero_point = q.int_repr(), q.q_zero_point()
    sums = (integers._array.astype(np.int32) - zero_point).sum(1, dtype=np.int32)
    return integers, wrap(sums), float(np.float32(q.q_scale())), zero_point


def fbgemm_pack_quantized_matrix(
    input: Tensor, K: int | None = None, N: int | None = None
) -> Tensor:
    """The integers themselves: pyqref needs no second order of them.

    Parameters
    ----------
    input
        int8 ``(N, K)``.
    K, N
        Its sizes, which it has itself.

    Examples
    --------
    >>> import pyqref
    >>> q = pyqref.ones(2, 3, dtype=pyqref.int8)
    >>> pyqref.fbgemm_pack_quantized_matrix(q) is q
    True
    """
    name = "fbgemm_pack_quantized_matrix"
    _require_integers(name, "input", input)
    if K is not None and (K, N) != (input.shape[1], input.shape[0]):
        raise ValueError(f"{name}: K and N must be {tuple(input.shape)[::-1]}, got {K} and {N}")
    return input


def fbgemm_linear_int8_weight_fp32_activation(
    input: Tensor,
    weight: Tensor,
    packed: Tensor,
    col_offsets: Tensor,
    weight_scale: float,
    weight_zero_point: int,
    bias: Tensor | None,
) -> Tensor:
    """Linear layer that quantizes its input over its range: equation ``eq-linear-dynamic``.

    Parameters
    ----------
    input
        float32 ``(*, K)``, quantized to 8 bits.
    weight, weight_scale, weight_zero_point
        From :func:`pyqref.fbgemm_linear_quantize_weight`.
    packed, col_offsets
        Not looked at: they are other forms of the weight.
    bias
        float32 ``(N,)``.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.tensor([[1.27, -1.28]])
    >>> q, sums, scale, zero_point = pyqref.fbgemm_linear_quantize_weight(w)
    >>> linear = pyqref.fbgemm_linear_int8_weight_fp32_activation
    >>> y = linear(pyqref.tensor([[2.55, 0.0]]), q, q, sums, scale, zero_point, pyqref.ones(1))
    >>> round(y.item(), 4)
    4.2385
    """
    name = "fbgemm_linear_int8_weight_fp32_activation"
    return _projection(name, "weight", input, (weight, weight_scale, weight_zero_point, bias))


#: The same by an older name.
fbgemm_linear_int8_weight = fbgemm_linear_int8_weight_fp32_activation


def quantized_lstm_cell(
    input: Tensor,
    hx: Sequence[Any],
    w_ih: Tensor,
    w_hh: Tensor,
    b_ih: Tensor,
    b_hh: Tensor,
    packed_ih: Tensor,
    packed_hh: Tensor,
    col_offsets_ih: Tensor,
    col_offsets_hh: Tensor,
    scale_ih: float,
    scale_hh: float,
    zero_point_ih: int,
    zero_point_hh: int,
) -> tuple[Any, Any]:
    """One step of an LSTM (equation ``eq-lstm-step``) with int8 weights.

    Parameters
    ----------
    input
        float32 ``(B, K)``.
    hx
        Hidden and cell state, float32 ``(B, H)`` each.
    w_ih, w_hh
        int8 ``(4 * H, K)`` and ``(4 * H, H)``.
    b_ih, b_hh
        float32 ``(4 * H,)``.
    packed_ih, packed_hh, col_offsets_ih, col_offsets_hh
        Not looked at: they are other forms of the weights.
    scale_ih, scale_hh, zero_point_ih, zero_point_hh
        Of the weights.

    Returns
    -------
    tuple
        The new hidden and cell state.

    Examples
    --------
    >>> import pyqref
    >>> q, sums, s, z = pyqref.fbgemm_linear_quantize_weight(pyqref.zeros(8, 2))
    >>> bias, x, state = pyqref.zeros(8), pyqref.ones(1, 2), (pyqref.zeros(1, 2), pyqref.ones(1, 2))
    >>> h, c = pyqref.quantized_lstm_cell(x, state, q, q, bias, bias, q, q, sums, sums, s, s, z, z)
    >>> c.tolist()  # all gates are half open
    [[0.5, 0.5]]
    """
    name = "quantized_lstm_cell"
    if not isinstance(hx, list | tuple) or len(hx) != 2:
        raise TypeError(f"{name}: hx must be a hidden and a cell state, got {described(hx)}")
    weights = (w_ih, scale_ih, zero_point_ih, b_ih), (w_hh, scale_hh, zero_point_hh, b_hh)
    gates = _gates(name, 4, input, hx[0], *weights)
    _require_shape(name, "hx[1]", hx[1], tuple(hx[0].shape))
    hidden, cell = lstm_step(*gates, hx[1]._array)
    return wrap(hidden), wrap(cell)


def _cell(name: str, kind: str, gates: int, step: Callable[..., Any]) -> Callable[..., Any]:
    """A cell of one state."""

    def cell(
        input: Any,
        hx: Any,
        w_ih: Any,
        w_hh: Any,
        b_ih: Any,
        b_hh: Any,
        packed_ih: Any,
        packed_hh: Any,
        col_offsets_ih: Any,
        col_offsets_hh: Any,
        scale_ih: Any,
        scale_hh: Any,
        zero_point_ih: Any,
        zero_point_hh: Any,
    ) -> Any:
        weights = (w_ih, scale_ih, zero_point_ih, b_ih), (w_hh, scale_hh, zero_point_hh, b_hh)
        return wrap(step(*_gates(name, gates, input, hx, *weights), hx._array))

    cell.__name__ = cell.__qualname__ = name
    cell.__doc__ = (
        f"One step of {kind} with int8 weights; arguments as of :func:`quantized_lstm_cell`, with "
        "one state."
    )
    return cell


quantized_gru_cell = _cell("quantized_gru_cell", "a GRU (``eq-gru-step``)", 3, gru_step)
quantized_rnn_relu_cell = _cell(
    "quantized_rnn_relu_cell",
    "a plain cell (``eq-rnn-step``) with ReLU",
    1,
    lambda x, h, _: rnn_step(x, h, "relu"),
)
quantized_rnn_tanh_cell = _cell(
    "quantized_rnn_tanh_cell",
    "a plain cell (``eq-rnn-step``) with tanh",
    1,
    lambda x, h, _: rnn_step(x, h, "tanh"),
)


def _gates(
    name: str, gates: int, input: Any, hidden: Any, of_input: _Weight, of_hidden: _Weight
) -> tuple[np.ndarray, np.ndarray]:
    """Return the parts of input and hidden state in the gates, float32 ``(B, gates * H)`` each."""
    for label, weight in (("w_ih", of_input[0]), ("w_hh", of_hidden[0])):
        _require_integers(name, label, weight)
    (rows, width), of_rows = of_hidden[0].shape, of_input[0].shape[0]
    if rows != gates * width or of_rows != rows:
        raise RuntimeError(
            f"{name}: w_ih and w_hh must have {gates} times as many rows as the hidden state has "
            f"features, got shapes {tuple(of_input[0].shape)} and {tuple(of_hidden[0].shape)}"
        )
    require_float(name, input)
    if input.dim() != 2:
        raise RuntimeError(f"{name}: input must have shape (B, K), got {tuple(input.shape)}")
    _require_shape(name, "hx", hidden, (input.shape[0], width))
    projections = (
        _projection(name, "w_ih", input, of_input),
        _projection(name, "w_hh", hidden, of_hidden),
    )
    return projections[0]._array, projections[1]._array


def _projection(name: str, label: str, input: Any, weight: _Weight) -> Any:
    integers, scale, zero_point, bias = weight
    _require_integers(name, label, integers)
    require_float(name, input)
    made = make_per_tensor_quantized_tensor(integers, scale, zero_point)
    return linear_dynamic(input.detach(), linear_prepack(made, bias), False)


def _require_integers(name: str, label: str, value: Any) -> None:
    require_tensor(name, label, value)
    if value.dtype is not int8:
        raise TypeError(
            f"{name}: {label} must be int8, got {value.dtype}; fbgemm_linear_quantize_weight makes "
            "it of a float weight"
        )
    _require_matrix(name, label, value)


def _require_matrix(name: str, label: str, value: Any) -> None:
    if value.dim() != 2:
        raise RuntimeError(f"{name}: {label} must be a matrix, got shape {tuple(value.shape)}")


def _require_shape(name: str, label: str, state: Any, shape: tuple[int, ...]) -> None:
    require_float(name, state, label)
    if tuple(state.shape) != shape:
        raise RuntimeError(f"{name}: {label} must have shape {shape}, got {tuple(state.shape)}")
