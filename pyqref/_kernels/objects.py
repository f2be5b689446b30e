"""Tensors as kernels see them: the functions of :mod:`.tensors`, compiled where they were built."""

from __future__ import annotations

try:
    from ._tensors import (
        becomes_grad,
        continues,
        is_recording,
        leaf,
        quantized_leaf,
        root_of,
        set_quantized_type,
        set_recording,
        set_tensor_type,
        wrap,
        wrap_quantized,
    )
except ModuleNotFoundError:  # not if it was built from other sources than these
    from .tensors import (
        becomes_grad,
        continues,
        is_recording,
        leaf,
        quantized_leaf,
        root_of,
        set_quantized_type,
        set_recording,
        set_tensor_type,
        wrap,
        wrap_quantized,
    )

__all__ = [
    "becomes_grad",
    "continues",
    "is_recording",
    "leaf",
    "quantized_leaf",
    "root_of",
    "set_quantized_type",
    "set_recording",
    "set_tensor_type",
    "wrap",
    "wrap_quantized",
]
