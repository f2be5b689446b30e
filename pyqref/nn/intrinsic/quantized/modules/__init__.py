"""The groups of layers that run on integers, one family a file."""

from .bn_relu import BNReLU2d as BNReLU2d
from .bn_relu import BNReLU3d as BNReLU3d
from .conv_add import ConvAdd2d as ConvAdd2d
from .conv_add import ConvAddReLU2d as ConvAddReLU2d
from .conv_relu import ConvReLU1d as ConvReLU1d
from .conv_relu import ConvReLU2d as ConvReLU2d
from .conv_relu import ConvReLU3d as ConvReLU3d
from .linear_function import LinearLeakyReLU as LinearLeakyReLU
from .linear_function import LinearTanh as LinearTanh
from .linear_relu import LinearReLU as LinearReLU

__all__ = [
    "BNReLU2d",
    "BNReLU3d",
    "ConvAdd2d",
    "ConvAddReLU2d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "LinearLeakyReLU",
    "LinearReLU",
    "LinearTanh",
]
