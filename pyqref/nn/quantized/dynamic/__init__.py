"""Layers with a quantized weight that quantize their float input while running."""

from .modules import GRU as GRU
from .modules import LSTM as LSTM
from .modules import GRUCell as GRUCell
from .modules import Linear as Linear
from .modules import LSTMCell as LSTMCell
from .modules import RNNCell as RNNCell

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell", "Linear", "RNNCell"]
