"""The dynamic layers of quantization-aware training."""

from .linear import Linear as Linear

__all__ = ["Linear"]
