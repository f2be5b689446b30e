"""Quantized matrix product: weights packed once, requantization fused into the store.

The same results as :mod:`pyqref.numerics.linear`.
"""

from .dynamic import Projection as Projection
from .dynamic import linear_dynamic as linear_dynamic
from .linear import linear as linear
from .linear import linear_accumulator as linear_accumulator
from .linear import linear_float as linear_float
from .matmul import quantized_matmul as quantized_matmul
from .pack import PackedLinear as PackedLinear
from .pack import pack_linear as pack_linear

__all__ = [
    "PackedLinear",
    "Projection",
    "linear",
    "linear_accumulator",
    "linear_dynamic",
    "linear_float",
    "pack_linear",
    "quantized_matmul",
]
