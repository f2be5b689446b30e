"""Layers that belong together: containers such as convolution, batch norm and ReLU.

Quantizing a group at once keeps the values between its layers exact and costs one
rounding instead of several. The float containers stand here; :mod:`.qat` holds their
versions for quantization-aware training, :mod:`.quantized` those that run on integers.
"""

from .modules import BNReLU2d as BNReLU2d
from .modules import BNReLU3d as BNReLU3d
from .modules import ConvAdd2d as ConvAdd2d
from .modules import ConvAddReLU2d as ConvAddReLU2d
from .modules import ConvBn1d as ConvBn1d
from .modules import ConvBn2d as ConvBn2d
from .modules import ConvBn3d as ConvBn3d
from .modules import ConvBnReLU1d as ConvBnReLU1d
from .modules import ConvBnReLU2d as ConvBnReLU2d
from .modules import ConvBnReLU3d as ConvBnReLU3d
from .modules import ConvReLU1d as ConvReLU1d
from .modules import ConvReLU2d as ConvReLU2d
from .modules import ConvReLU3d as ConvReLU3d
from .modules import LinearBn1d as LinearBn1d
from .modules import LinearLeakyReLU as LinearLeakyReLU
from .modules import LinearReLU as LinearReLU
from .modules import LinearTanh as LinearTanh
from .modules import _FusedModule as _FusedModule

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
