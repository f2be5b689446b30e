"""Float layers whose weights are rounded as quantization will round them.

The master weights stay float and are trained; ``forward`` uses their fake-quantized
values, so that training sees the error of quantization.
"""

from . import dynamic as dynamic
from .modules import Conv1d as Conv1d
from .modules import Conv2d as Conv2d
from .modules import Conv3d as Conv3d
from .modules import Embedding as Embedding
from .modules import EmbeddingBag as EmbeddingBag
from .modules import Linear as Linear

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "Embedding",
    "EmbeddingBag",
    "Linear",
    "dynamic",
]
