"""Groups of layers that run on integers, ReLU included.

Batch norm does not appear: it is folded into the convolution before.
"""

from . import dynamic as dynamic
from .modules import BNReLU2d as BNReLU2d
from .modules import BNReLU3d as BNReLU3d
from .modules import ConvAdd2d as ConvAdd2d
from .modules import ConvAddReLU2d as ConvAddReLU2d
from .modules import ConvReLU1d as ConvReLU1d
from .modules import ConvReLU2d as ConvReLU2d
from .modules import ConvReLU3d as ConvReLU3d
from .modules import LinearLeakyReLU as LinearLeakyReLU
from .modules import LinearReLU as LinearReLU
from .modules import LinearTanh as LinearTanh

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
    "dynamic",
]
