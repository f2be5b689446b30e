"""Quantize and dequantize, per tensor and per channel.

The same arguments and results as in :mod:`pyqref.numerics.affine`.
"""

from .affine import dequantize_per_channel as dequantize_per_channel
from .affine import dequantize_per_tensor as dequantize_per_tensor
from .affine import quantize_per_channel as quantize_per_channel
from .affine import quantize_per_tensor as quantize_per_tensor

__all__ = [
    "dequantize_per_channel",
    "dequantize_per_tensor",
    "quantize_per_channel",
    "quantize_per_tensor",
]
