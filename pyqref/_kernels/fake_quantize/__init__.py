"""Fake quantization with its straight-through mask, per tensor and per channel.

The same arguments and results as in :mod:`pyqref.numerics.fake_quantize`.
"""

from .grid import fake_quantize_per_channel as fake_quantize_per_channel
from .grid import fake_quantize_per_tensor as fake_quantize_per_tensor
from .grid import is_grid as is_grid
from .grid import straight_through as straight_through
from .learnable import learnable_gradients as learnable_gradients

__all__ = [
    "fake_quantize_per_channel",
    "fake_quantize_per_tensor",
    "is_grid",
    "learnable_gradients",
    "straight_through",
]
