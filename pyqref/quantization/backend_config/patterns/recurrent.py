"""Recurrent layers and cells, quantized dynamically."""

from __future__ import annotations

from pyqref.nn import modules as nn
from pyqref.nn.quantized import reference as nnqr
from pyqref.quantization.backend_config.pattern_config import BackendPatternConfig

from .building import DTypes, pattern

__all__ = ["recurrent_configs"]

_REFERENCES = {
    nn.GRUCell: nnqr.GRUCell,
    nn.LSTMCell: nnqr.LSTMCell,
    nn.RNNCell: nnqr.RNNCell,
    nn.LSTM: nnqr.LSTM,
    nn.GRU: nnqr.GRU,
}


def recurrent_configs(dtypes: DTypes) -> list[BackendPatternConfig]:
    """Cells first, then layers."""
    return [
        pattern(module, dtypes).set_root_module(module).set_reference_quantized_module(reference)
        for module, reference in _REFERENCES.items()
    ]
