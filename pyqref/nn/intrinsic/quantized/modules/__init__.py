"""The groups of layers that run on integers, one family a file."""

from .conv_relu import ConvReLU2d as ConvReLU2d
from .conv_relu import ConvReLU3d as ConvReLU3d
from .linear_relu import LinearReLU as LinearReLU

__all__ = ["ConvReLU2d", "ConvReLU3d", "LinearReLU"]
