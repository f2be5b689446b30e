"""The groups of layers for quantization-aware training, one family a file."""

from .bn_stats import freeze_bn_stats as freeze_bn_stats
from .bn_stats import update_bn_stats as update_bn_stats
from .conv_bn import ConvBn1d as ConvBn1d
from .conv_bn import ConvBn2d as ConvBn2d
from .conv_bn import ConvBn3d as ConvBn3d
from .conv_bn_relu import ConvBnReLU1d as ConvBnReLU1d
from .conv_bn_relu import ConvBnReLU2d as ConvBnReLU2d
from .conv_bn_relu import ConvBnReLU3d as ConvBnReLU3d
from .conv_relu import ConvReLU1d as ConvReLU1d
from .conv_relu import ConvReLU2d as ConvReLU2d
from .conv_relu import ConvReLU3d as ConvReLU3d
from .linear_bn import LinearBn1d as LinearBn1d
from .linear_relu import LinearReLU as LinearReLU

__all__ = [
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "LinearBn1d",
    "LinearReLU",
    "freeze_bn_stats",
    "update_bn_stats",
]
