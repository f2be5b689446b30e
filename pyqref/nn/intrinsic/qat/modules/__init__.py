"""The groups of layers for quantization-aware training, one family a file."""

from .conv_bn import ConvBn2d as ConvBn2d
from .conv_bn import ConvBnReLU2d as ConvBnReLU2d
from .conv_bn import freeze_bn_stats as freeze_bn_stats
from .conv_bn import update_bn_stats as update_bn_stats
from .conv_relu import ConvReLU2d as ConvReLU2d
from .linear_relu import LinearReLU as LinearReLU

__all__ = [
    "ConvBn2d",
    "ConvBnReLU2d",
    "ConvReLU2d",
    "LinearReLU",
    "freeze_bn_stats",
    "update_bn_stats",
]
