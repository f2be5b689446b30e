"""Layers made of parts that can be observed and quantized one by one.

``nn.LSTM`` and ``nn.MultiheadAttention`` do everything in one step, which leaves no place
for observers. The layers here compute the same from linear layers and
:class:`~pyqref.nn.quantized.FloatFunctional` operations. ``prepare`` puts them in the place
of the former, ``convert`` makes :class:`pyqref.nn.quantized.LSTM` and
:class:`pyqref.nn.quantized.MultiheadAttention` of them.
"""

from .modules import LSTM as LSTM
from .modules import LSTMCell as LSTMCell
from .modules import MultiheadAttention as MultiheadAttention

__all__ = ["LSTM", "LSTMCell", "MultiheadAttention"]
