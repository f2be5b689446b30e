"""Quantize and dequantize between plain tensors: reals on one side, int8 and its like on the other.

Graphs of torch's export write quantization in this form. The product with the reciprocal of the
scale is rounded to float32 and to an integer, and only then the zero point is added;
:func:`pyqref.quantize_per_tensor` rounds once, after the sum. A number halfway between two integers
may therefore go to the other one.

Each operation is also its own overloads ``default``, ``tensor`` and ``tensor2``.
"""

from __future__ import annotations

from .grids import choose_qparams as choose_qparams
from .grids import choose_qparams_symmetric as choose_qparams_symmetric
from .grids import dequantize_per_channel as dequantize_per_channel
from .grids import dequantize_per_tensor as dequantize_per_tensor
from .grids import fake_quant_per_channel as fake_quant_per_channel
from .grids import quantize_per_channel as quantize_per_channel
from .grids import quantize_per_tensor as quantize_per_tensor
from .tokens import choose_qparams_per_token as choose_qparams_per_token
from .tokens import choose_qparams_per_token_asymmetric as choose_qparams_per_token_asymmetric
from .tokens import dequantize_per_token as dequantize_per_token
from .tokens import quantize_per_token as quantize_per_token

__all__ = [
    "choose_qparams",
    "choose_qparams_per_token",
    "choose_qparams_per_token_asymmetric",
    "choose_qparams_symmetric",
    "dequantize_per_channel",
    "dequantize_per_tensor",
    "dequantize_per_token",
    "fake_quant_per_channel",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_token",
]
