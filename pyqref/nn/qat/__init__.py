"""Float layers whose weights are rounded as quantization will round them.

The master weights stay float and are trained; ``forward`` uses their fake-quantized
values, so that training sees the error of quantization.
"""

from .modules import Conv2d as Conv2d
from .modules import Linear as Linear

__all__ = ["Conv2d", "Linear"]
