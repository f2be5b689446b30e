"""Float layers that hold the grid of their weight: a model's form before it is lowered.

Each computes with its weight quantized and dequantized, so that it shows in float what the
quantized layer will do, and carries what that layer needs: ``get_quantized_weight``. The
layers of :mod:`pyqref.nn.quantized` are made from them by ``from_reference``.
"""

from .modules import GRU as GRU
from .modules import LSTM as LSTM
from .modules import Conv1d as Conv1d
from .modules import Conv2d as Conv2d
from .modules import Conv3d as Conv3d
from .modules import ConvTranspose1d as ConvTranspose1d
from .modules import ConvTranspose2d as ConvTranspose2d
from .modules import ConvTranspose3d as ConvTranspose3d
from .modules import Embedding as Embedding
from .modules import EmbeddingBag as EmbeddingBag
from .modules import GRUCell as GRUCell
from .modules import Linear as Linear
from .modules import LSTMCell as LSTMCell
from .modules import RNNCell as RNNCell

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "Embedding",
    "EmbeddingBag",
    "GRU",
    "GRUCell",
    "LSTM",
    "LSTMCell",
    "Linear",
    "RNNCell",
]
