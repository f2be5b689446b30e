"""The quantized LSTM."""

from __future__ import annotations

from typing import Any, ClassVar, NoReturn

from pyqref.nn.modules import Module
from pyqref.nn.quantizable.modules import rnn as quantizable
from pyqref.nn.quantizable.workflow import convert_parts

__all__ = ["LSTM"]


class LSTM(quantizable.LSTM):
    """Long short-term memory on integers: every part has a grid of its own.

    Made by ``convert`` of an observed :class:`pyqref.nn.quantizable.LSTM`, which ``prepare``
    makes of an ``nn.LSTM``. Outputs lie on the grid of the last operation of the cell;
    states that are not given begin at zero with scale 1.

    Notes
    -----
    Shapes as of :class:`pyqref.nn.LSTM`, quint8 in and out. Of two directions the second is
    put on the grid of the first.

    Examples
    --------
    >>> import pyqref
    >>> float_lstm = pyqref.nn.LSTM(4, 3).eval()
    >>> float_lstm.qconfig = pyqref.quantization.default_qconfig
    >>> observed = pyqref.nn.quantizable.LSTM.from_float(float_lstm)
    >>> x = pyqref.randn(5, 2, 4)
    >>> _ = observed(x)
    >>> quantized = pyqref.nn.quantized.LSTM.from_observed(observed)
    >>> output, _ = quantized(pyqref.quantize_per_tensor(x, 0.05, 128, pyqref.quint8))
    >>> output.dtype, tuple(output.size())
    (pyqref.quint8, (5, 2, 3))
    """

    _FLOAT_MODULE: ClassVar[type[Module]] = quantizable.LSTM

    def _get_name(self) -> str:
        return "QuantizedLSTM"

    @classmethod
    def from_float(cls, other: object = None, *args: object, **kwargs: object) -> NoReturn:
        """Not here: the float LSTM must be observed first."""
        raise NotImplementedError(
            "a float LSTM must be observed first: use nn.quantizable.LSTM.from_float, calibrate, "
            "then nn.quantized.LSTM.from_observed; prepare and convert do so; got "
            f"a {type(other).__name__}"
        )

    @classmethod
    def from_observed(cls, other: Any) -> Module:
        """The quantized LSTM of an observed and calibrated one."""
        if type(other) is not cls._FLOAT_MODULE:
            raise TypeError(
                f"LSTM.from_observed takes an nn.quantizable.LSTM, got {type(other).__name__}"
            )
        converted = convert_parts(other)
        converted.__class__ = cls
        return converted
