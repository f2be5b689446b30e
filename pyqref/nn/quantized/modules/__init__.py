"""The quantized layers, one family a file."""

from pyqref.nn.modules import MaxPool2d as MaxPool2d

from .activation import ReLU as ReLU
from .activation import ReLU6 as ReLU6
from .attention import MultiheadAttention as MultiheadAttention
from .batchnorm import BatchNorm2d as BatchNorm2d
from .batchnorm import BatchNorm3d as BatchNorm3d
from .conv import Conv1d as Conv1d
from .conv import Conv2d as Conv2d
from .conv import Conv3d as Conv3d
from .conv_transpose import ConvTranspose1d as ConvTranspose1d
from .conv_transpose import ConvTranspose2d as ConvTranspose2d
from .conv_transpose import ConvTranspose3d as ConvTranspose3d
from .dropout import Dropout as Dropout
from .embedding_ops import Embedding as Embedding
from .embedding_ops import EmbeddingBag as EmbeddingBag
from .embedding_packed import EmbeddingPackedParams as EmbeddingPackedParams
from .functional_modules import FloatFunctional as FloatFunctional
from .functional_modules import FXFloatFunctional as FXFloatFunctional
from .functional_modules import QFunctional as QFunctional
from .linear import Linear as Linear
from .linear import LinearPackedParams as LinearPackedParams
from .normalization import GroupNorm as GroupNorm
from .normalization import InstanceNorm1d as InstanceNorm1d
from .normalization import InstanceNorm2d as InstanceNorm2d
from .normalization import InstanceNorm3d as InstanceNorm3d
from .normalization import LayerNorm as LayerNorm
from .prelu import PReLU as PReLU
from .quantize import DeQuantize as DeQuantize
from .quantize import Quantize as Quantize
from .rnn import LSTM as LSTM
from .scaled_activation import ELU as ELU
from .scaled_activation import Hardswish as Hardswish
from .scaled_activation import LeakyReLU as LeakyReLU
from .scaled_activation import Sigmoid as Sigmoid
from .scaled_activation import Softmax as Softmax

__all__ = [
    "LSTM",
    "MultiheadAttention",
    "BatchNorm2d",
    "BatchNorm3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "DeQuantize",
    "Dropout",
    "ELU",
    "Embedding",
    "EmbeddingBag",
    "EmbeddingPackedParams",
    "FXFloatFunctional",
    "FloatFunctional",
    "GroupNorm",
    "Hardswish",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LinearPackedParams",
    "MaxPool2d",
    "PReLU",
    "QFunctional",
    "Quantize",
    "ReLU",
    "ReLU6",
    "Sigmoid",
    "Softmax",
]
