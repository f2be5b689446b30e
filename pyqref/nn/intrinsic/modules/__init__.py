"""The float containers of layers that are quantized together."""

from .conv_add import ConvAdd2d as ConvAdd2d
from .conv_add import ConvAddReLU2d as ConvAddReLU2d
from .fused import BNReLU2d as BNReLU2d
from .fused import BNReLU3d as BNReLU3d
from .fused import ConvBn1d as ConvBn1d
from .fused import ConvBn2d as ConvBn2d
from .fused import ConvBn3d as ConvBn3d
from .fused import ConvBnReLU1d as ConvBnReLU1d
from .fused import ConvBnReLU2d as ConvBnReLU2d
from .fused import ConvBnReLU3d as ConvBnReLU3d
from .fused import ConvReLU1d as ConvReLU1d
from .fused import ConvReLU2d as ConvReLU2d
from .fused import ConvReLU3d as ConvReLU3d
from .fused import _FusedModule as _FusedModule
from .fused_linear import LinearBn1d as LinearBn1d
from .fused_linear import LinearLeakyReLU as LinearLeakyReLU
from .fused_linear import LinearReLU as LinearReLU
from .fused_linear import LinearTanh as LinearTanh

__all__ = [
    "BNReLU2d",
    "BNReLU3d",
    "ConvAdd2d",
    "ConvAddReLU2d",
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
    "LinearLeakyReLU",
    "LinearReLU",
    "LinearTanh",
]
