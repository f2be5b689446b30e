"""Settings of the back ends, at their ``torch`` paths."""

from . import quantized as quantized

__all__ = ["quantized"]
