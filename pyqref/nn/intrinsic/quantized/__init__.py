"""Groups of layers that run on integers, ReLU included.

Batch norm does not appear: it is folded into the convolution before.
"""

from .modules import ConvReLU2d as ConvReLU2d
from .modules import ConvReLU3d as ConvReLU3d
from .modules import LinearReLU as LinearReLU

__all__ = ["ConvReLU2d", "ConvReLU3d", "LinearReLU"]
