"""The gated recurrent unit with quantized weights that quantizes its input while running."""

from __future__ import annotations

from typing import Any, ClassVar

from pyqref._typing import Tensor
from pyqref.nn import modules
from pyqref.nn.modules import Module

from .rnn import RNNBase

__all__ = ["GRU"]


class GRU(RNNBase):
    r"""Gated recurrent unit with quantized weights, float in and out.

    Equation ``eq-gru-step``, with the projections :math:`\mathrm{dyn}(x_t, W_{ih}) + b_{ih}`
    of the input and :math:`\mathrm{dyn}(h, W_{hh}) + b_{hh}` of the hidden state;
    parameters, shapes and quantization as of :class:`LSTM`.

    Raises
    ------
    RuntimeError
        The input is not float32, or has another number of dimensions or features.
    ValueError
        ``dtype`` is neither qint8 nor float16.

    Examples
    --------
    >>> import pyqref
    >>> rnn = pyqref.nn.quantized.dynamic.GRU(10, 20, 2)
    >>> output, hn = rnn(pyqref.randn(5, 3, 10))
    >>> tuple(output.size()), tuple(hn.size())
    ((5, 3, 20), (2, 3, 20))
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = modules.GRU

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("GRU", *args, **kwargs)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> tuple[Any, Any]:
        """Outputs of the last layer, and the final hidden states."""
        output, finals = self._run(input, None if hx is None else (hx,), ("hidden",))
        return output, finals[0]
