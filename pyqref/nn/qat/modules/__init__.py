"""The layers of quantization-aware training, one family a file."""

from .conv import Conv2d as Conv2d
from .linear import Linear as Linear

__all__ = ["Conv2d", "Linear"]
