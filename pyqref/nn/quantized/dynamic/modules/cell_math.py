"""One step of each recurrent cell, from the projections of input and hidden state."""

from __future__ import annotations

from typing import Any

from .....ops import quantized as ops
from .... import functional as F

__all__ = ["PackedProjections", "gru_step", "lstm_step", "prepack", "project", "rnn_step"]


def prepack(weight: Any, bias: Any) -> Any:
    """Pack a qint8 weight, or a float one to be kept as float16."""
    return (ops.linear_prepack if weight.is_quantized else ops.linear_prepack_fp16)(weight, bias)


def project(x: Any, packed: Any) -> Any:
    """Dynamic linear map: quantized once over all of ``x``, 7 bits on fbgemm."""
    if isinstance(packed, ops.PackedLinear):
        return ops.linear_dynamic(x, packed, reduce_range=True)
    return ops.linear_dynamic_fp16(x, packed)


class PackedProjections:
    """The two packed weights of one cell: of the input, and of the hidden state."""

    def __init__(self, weight_ih: Any, bias_ih: Any, weight_hh: Any, bias_hh: Any) -> None:
        self.of_input = prepack(weight_ih, bias_ih)
        self.of_hidden = prepack(weight_hh, bias_hh)

    def unpack(self) -> tuple[Any, Any, Any, Any]:
        """``weight_ih, bias_ih, weight_hh, bias_hh``."""
        return (*self.of_input.unpack(), *self.of_hidden.unpack())


def lstm_step(from_input: Any, from_hidden: Any, cell: Any) -> tuple[Any, Any]:
    r"""Hidden and cell state after one step.

    .. math::
        i, f, g, o = a_x + a_h, \qquad
        c' = \sigma(f) c + \sigma(i) \tanh(g), \qquad h' = \sigma(o) \tanh(c')
    """
    i, f, g, o = (from_input + from_hidden).chunk(4, 1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def gru_step(from_input: Any, from_hidden: Any, hidden: Any) -> Any:
    r"""Hidden state after one step.

    .. math::
        r = \sigma(r_x + r_h), \quad z = \sigma(z_x + z_h), \quad
        n = \tanh(n_x + r\, n_h), \quad h' = (h - n) z + n
    """
    reset_x, update_x, new_x = from_input.chunk(3, 1)
    reset_h, update_h, new_h = from_hidden.chunk(3, 1)
    reset = (reset_x + reset_h).sigmoid()
    update = (update_x + update_h).sigmoid()
    new = (new_x + reset * new_h).tanh()
    return (hidden - new) * update + new


def rnn_step(from_input: Any, from_hidden: Any, nonlinearity: str) -> Any:
    r"""Hidden state after one step, :math:`h' = \phi(a_x + a_h)`, tanh or ReLU."""
    total = from_input + from_hidden
    return total.tanh() if nonlinearity == "tanh" else F.relu(total)
