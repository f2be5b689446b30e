"""Neural networks: modules, their parameters, and the functions behind them.

Read :class:`Module` first, then a layer such as ``Linear``, then
:mod:`~pyqref.nn.functional`.
"""

from typing import TYPE_CHECKING

from .._lazy import on_first_use

# --- Module and what holds modules ---
from . import init as init
from . import parallel as parallel
from . import parameter as parameter
from . import utils as utils
from .module_path import describe_module as describe_module
from .module_path import module_path as module_path
from .modules import Flatten as Flatten
from .modules import Identity as Identity
from .modules import Module as Module
from .modules import ModuleDict as ModuleDict
from .modules import ModuleList as ModuleList
from .modules import ParameterDict as ParameterDict
from .modules import ParameterList as ParameterList
from .modules import Sequential as Sequential
from .modules import Unflatten as Unflatten
from .parallel import DataParallel as DataParallel
from .parameter import Buffer as Buffer
from .parameter import Parameter as Parameter
from .parameter import UninitializedBuffer as UninitializedBuffer
from .parameter import UninitializedParameter as UninitializedParameter

# isort: split
# --- layers ---
from . import functional as functional
from .modules import CELU as CELU
from .modules import ELU as ELU
from .modules import GELU as GELU
from .modules import GLU as GLU
from .modules import GRU as GRU
from .modules import LSTM as LSTM
from .modules import RNN as RNN
from .modules import SELU as SELU
from .modules import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from .modules import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from .modules import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from .modules import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from .modules import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from .modules import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from .modules import AlphaDropout as AlphaDropout
from .modules import AvgPool1d as AvgPool1d
from .modules import AvgPool2d as AvgPool2d
from .modules import AvgPool3d as AvgPool3d
from .modules import BatchNorm1d as BatchNorm1d
from .modules import BatchNorm2d as BatchNorm2d
from .modules import BatchNorm3d as BatchNorm3d
from .modules import BCELoss as BCELoss
from .modules import BCEWithLogitsLoss as BCEWithLogitsLoss
from .modules import Bilinear as Bilinear
from .modules import ChannelShuffle as ChannelShuffle
from .modules import CircularPad1d as CircularPad1d
from .modules import CircularPad2d as CircularPad2d
from .modules import CircularPad3d as CircularPad3d
from .modules import ConstantPad1d as ConstantPad1d
from .modules import ConstantPad2d as ConstantPad2d
from .modules import ConstantPad3d as ConstantPad3d
from .modules import Conv1d as Conv1d
from .modules import Conv2d as Conv2d
from .modules import Conv3d as Conv3d
from .modules import ConvTranspose1d as ConvTranspose1d
from .modules import ConvTranspose2d as ConvTranspose2d
from .modules import ConvTranspose3d as ConvTranspose3d
from .modules import CosineEmbeddingLoss as CosineEmbeddingLoss
from .modules import CosineSimilarity as CosineSimilarity
from .modules import CrossEntropyLoss as CrossEntropyLoss
from .modules import Dropout as Dropout
from .modules import Dropout1d as Dropout1d
from .modules import Dropout2d as Dropout2d
from .modules import Dropout3d as Dropout3d
from .modules import Embedding as Embedding
from .modules import EmbeddingBag as EmbeddingBag
from .modules import FeatureAlphaDropout as FeatureAlphaDropout
from .modules import Fold as Fold
from .modules import GroupNorm as GroupNorm
from .modules import GRUCell as GRUCell
from .modules import Hardshrink as Hardshrink
from .modules import Hardsigmoid as Hardsigmoid
from .modules import Hardswish as Hardswish
from .modules import Hardtanh as Hardtanh
from .modules import HingeEmbeddingLoss as HingeEmbeddingLoss
from .modules import HuberLoss as HuberLoss
from .modules import InstanceNorm1d as InstanceNorm1d
from .modules import InstanceNorm2d as InstanceNorm2d
from .modules import InstanceNorm3d as InstanceNorm3d
from .modules import KLDivLoss as KLDivLoss
from .modules import L1Loss as L1Loss
from .modules import LayerNorm as LayerNorm
from .modules import LazyBatchNorm1d as LazyBatchNorm1d
from .modules import LazyBatchNorm2d as LazyBatchNorm2d
from .modules import LazyBatchNorm3d as LazyBatchNorm3d
from .modules import LazyConv1d as LazyConv1d
from .modules import LazyConv2d as LazyConv2d
from .modules import LazyConv3d as LazyConv3d
from .modules import LazyConvTranspose1d as LazyConvTranspose1d
from .modules import LazyConvTranspose2d as LazyConvTranspose2d
from .modules import LazyConvTranspose3d as LazyConvTranspose3d
from .modules import LazyInstanceNorm1d as LazyInstanceNorm1d
from .modules import LazyInstanceNorm2d as LazyInstanceNorm2d
from .modules import LazyInstanceNorm3d as LazyInstanceNorm3d
from .modules import LazyLinear as LazyLinear
from .modules import LeakyReLU as LeakyReLU
from .modules import Linear as Linear
from .modules import LocalResponseNorm as LocalResponseNorm
from .modules import LogSigmoid as LogSigmoid
from .modules import LogSoftmax as LogSoftmax
from .modules import LPPool1d as LPPool1d
from .modules import LPPool2d as LPPool2d
from .modules import LPPool3d as LPPool3d
from .modules import LSTMCell as LSTMCell
from .modules import MarginRankingLoss as MarginRankingLoss
from .modules import MaxPool1d as MaxPool1d
from .modules import MaxPool2d as MaxPool2d
from .modules import MaxPool3d as MaxPool3d
from .modules import Mish as Mish
from .modules import MSELoss as MSELoss
from .modules import MultiheadAttention as MultiheadAttention
from .modules import NLLLoss as NLLLoss
from .modules import PairwiseDistance as PairwiseDistance
from .modules import PixelShuffle as PixelShuffle
from .modules import PixelUnshuffle as PixelUnshuffle
from .modules import PReLU as PReLU
from .modules import ReflectionPad1d as ReflectionPad1d
from .modules import ReflectionPad2d as ReflectionPad2d
from .modules import ReflectionPad3d as ReflectionPad3d
from .modules import ReLU as ReLU
from .modules import ReLU6 as ReLU6
from .modules import ReplicationPad1d as ReplicationPad1d
from .modules import ReplicationPad2d as ReplicationPad2d
from .modules import ReplicationPad3d as ReplicationPad3d
from .modules import RMSNorm as RMSNorm
from .modules import RNNBase as RNNBase
from .modules import RNNCell as RNNCell
from .modules import RNNCellBase as RNNCellBase
from .modules import Sigmoid as Sigmoid
from .modules import SiLU as SiLU
from .modules import SmoothL1Loss as SmoothL1Loss
from .modules import SoftMarginLoss as SoftMarginLoss
from .modules import Softmax as Softmax
from .modules import Softmax2d as Softmax2d
from .modules import Softmin as Softmin
from .modules import Softplus as Softplus
from .modules import Softshrink as Softshrink
from .modules import Softsign as Softsign
from .modules import SyncBatchNorm as SyncBatchNorm
from .modules import Tanh as Tanh
from .modules import Tanhshrink as Tanhshrink
from .modules import Threshold as Threshold
from .modules import Transformer as Transformer
from .modules import TransformerDecoder as TransformerDecoder
from .modules import TransformerDecoderLayer as TransformerDecoderLayer
from .modules import TransformerEncoder as TransformerEncoder
from .modules import TransformerEncoderLayer as TransformerEncoderLayer
from .modules import TripletMarginLoss as TripletMarginLoss
from .modules import Unfold as Unfold
from .modules import Upsample as Upsample
from .modules import UpsamplingBilinear2d as UpsamplingBilinear2d
from .modules import UpsamplingNearest2d as UpsamplingNearest2d
from .modules import ZeroPad1d as ZeroPad1d
from .modules import ZeroPad2d as ZeroPad2d
from .modules import ZeroPad3d as ZeroPad3d

# isort: split
# --- quantization side: intrinsic, qat, quantized, quantizable ---
from . import intrinsic as intrinsic
from . import qat as qat
from . import quantized as quantized

# isort: split
# The quantized layers come first: they import those from which they are made.
from . import quantizable as quantizable
from .intrinsic import qat as _intrinsic_qat
from .intrinsic import quantized as _intrinsic_quantized

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {}, modules=("attention",))

__all__ = [
    "CELU",
    "ELU",
    "GELU",
    "GLU",
    "GRU",
    "LSTM",
    "RNN",
    "SELU",
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AlphaDropout",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "BCELoss",
    "BCEWithLogitsLoss",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Bilinear",
    "Buffer",
    "ChannelShuffle",
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "CosineEmbeddingLoss",
    "CosineSimilarity",
    "CrossEntropyLoss",
    "DataParallel",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "EmbeddingBag",
    "FeatureAlphaDropout",
    "Flatten",
    "Fold",
    "GRUCell",
    "GroupNorm",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "Identity",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "KLDivLoss",
    "L1Loss",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "LSTMCell",
    "LayerNorm",
    "LeakyReLU",
    "Linear",
    "LocalResponseNorm",
    "LogSigmoid",
    "LogSoftmax",
    "MSELoss",
    "MarginRankingLoss",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "Mish",
    "Module",
    "ModuleDict",
    "ModuleList",
    "MultiheadAttention",
    "NLLLoss",
    "PReLU",
    "PairwiseDistance",
    "Parameter",
    "ParameterDict",
    "ParameterList",
    "PixelShuffle",
    "PixelUnshuffle",
    "RMSNorm",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
    "ReLU",
    "ReLU6",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "Sequential",
    "SiLU",
    "Sigmoid",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "Softmax",
    "Softmax2d",
    "Softmin",
    "Softplus",
    "Softshrink",
    "Softsign",
    "Tanh",
    "Tanhshrink",
    "Threshold",
    "LazyLinear",
    "LazyConv1d",
    "LazyConvTranspose1d",
    "LazyBatchNorm1d",
    "LazyInstanceNorm1d",
    "LazyConv2d",
    "LazyConvTranspose2d",
    "LazyBatchNorm2d",
    "LazyInstanceNorm2d",
    "LazyConv3d",
    "LazyConvTranspose3d",
    "LazyBatchNorm3d",
    "LazyInstanceNorm3d",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "SyncBatchNorm",
    "TransformerEncoder",
    "UninitializedParameter",
    "UninitializedBuffer",
    "TransformerEncoderLayer",
    "TripletMarginLoss",
    "Unflatten",
    "Unfold",
    "Upsample",
    "UpsamplingBilinear2d",
    "UpsamplingNearest2d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
    "describe_module",
    "functional",
    "init",
    "intrinsic",
    "module_path",
    "parallel",
    "parameter",
    "qat",
    "quantizable",
    "quantized",
    "utils",
]
