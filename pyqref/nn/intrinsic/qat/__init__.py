"""Groups of layers for quantization-aware training, batch norm included."""

from .modules import ConvBn2d as ConvBn2d
from .modules import ConvBnReLU2d as ConvBnReLU2d
from .modules import ConvReLU2d as ConvReLU2d
from .modules import LinearReLU as LinearReLU
from .modules import freeze_bn_stats as freeze_bn_stats
from .modules import update_bn_stats as update_bn_stats

__all__ = [
    "ConvBn2d",
    "ConvBnReLU2d",
    "ConvReLU2d",
    "LinearReLU",
    "freeze_bn_stats",
    "update_bn_stats",
]
