"""Dynamic quantization: integer weights now, activations when they are known."""

from __future__ import annotations

import pyqref
from pyqref import nn
from pyqref.quantization import quantize_dynamic

from .static import use_engine

__all__ = ["quantize_recurrent"]


def quantize_recurrent(model: nn.Module, *, engine: str, dtype: pyqref.dtype) -> nn.Module:
    """A copy of ``model`` whose LSTM and linear layers hold weights of ``dtype``.

    No calibration: the range of each activation is measured whenever the model runs.

    Parameters
    ----------
    model
        A trained :class:`~pyqref.demo.models.RowLSTM`.
    engine
        ``"fbgemm"`` or ``"qnnpack"``.
    dtype
        ``pyqref.qint8`` or ``pyqref.float16``.
    """
    with use_engine(engine):
        return quantize_dynamic(model, {nn.LSTM, nn.Linear}, dtype=dtype)
