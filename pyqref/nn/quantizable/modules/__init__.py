"""The quantizable layers, one family a file."""

from .activation import MultiheadAttention as MultiheadAttention
from .rnn import LSTM as LSTM
from .rnn_cell import LSTMCell as LSTMCell

__all__ = ["LSTM", "LSTMCell", "MultiheadAttention"]
