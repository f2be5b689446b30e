"""The dynamic layers, one family a file."""

from .linear import Linear as Linear
from .rnn import GRU as GRU
from .rnn import LSTM as LSTM
from .rnn_cell import GRUCell as GRUCell
from .rnn_cell import LSTMCell as LSTMCell
from .rnn_cell import RNNCell as RNNCell

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell", "Linear", "RNNCell"]
