"""The layers of quantization-aware training, one family a file."""

from .conv import Conv1d as Conv1d
from .conv import Conv2d as Conv2d
from .conv import Conv3d as Conv3d
from .embedding_ops import Embedding as Embedding
from .embedding_ops import EmbeddingBag as EmbeddingBag
from .linear import Linear as Linear

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "Embedding",
    "EmbeddingBag",
    "Linear",
]
