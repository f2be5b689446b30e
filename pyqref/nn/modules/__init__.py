"""The modules of :mod:`pyqref.nn`, one family a file. Begin with :mod:`.module`."""

# --- Module and what holds modules ---
from .container import ModuleDict as ModuleDict
from .container import ModuleList as ModuleList
from .container import Sequential as Sequential
from .module import Module as Module
from .parameter_container import ParameterDict as ParameterDict
from .parameter_container import ParameterList as ParameterList
from .shape import Flatten as Flatten
from .shape import Identity as Identity
from .shape import Unflatten as Unflatten

# isort: split
# --- layers ---
from .activation import CELU as CELU
from .activation import ELU as ELU
from .activation import GELU as GELU
from .activation import SELU as SELU
from .activation import Hardsigmoid as Hardsigmoid
from .activation import Hardswish as Hardswish
from .activation import Hardtanh as Hardtanh
from .activation import LeakyReLU as LeakyReLU
from .activation import Mish as Mish
from .activation import ReLU as ReLU
from .activation import ReLU6 as ReLU6
from .activation import Sigmoid as Sigmoid
from .activation import SiLU as SiLU
from .activation import Tanh as Tanh
from .activation import Threshold as Threshold
from .adaptive_pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from .adaptive_pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from .adaptive_pooling import AdaptiveAvgPool3d as AdaptiveAvgPool3d
from .adaptive_pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from .adaptive_pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from .adaptive_pooling import AdaptiveMaxPool3d as AdaptiveMaxPool3d
from .attention import MultiheadAttention as MultiheadAttention
from .batchnorm import BatchNorm1d as BatchNorm1d
from .batchnorm import BatchNorm2d as BatchNorm2d
from .batchnorm import BatchNorm3d as BatchNorm3d
from .conv import Conv1d as Conv1d
from .conv import Conv2d as Conv2d
from .conv import Conv3d as Conv3d
from .conv_transpose import ConvTranspose1d as ConvTranspose1d
from .conv_transpose import ConvTranspose2d as ConvTranspose2d
from .conv_transpose import ConvTranspose3d as ConvTranspose3d
from .dropout import AlphaDropout as AlphaDropout
from .dropout import Dropout as Dropout
from .dropout import Dropout1d as Dropout1d
from .dropout import Dropout2d as Dropout2d
from .dropout import Dropout3d as Dropout3d
from .dropout import FeatureAlphaDropout as FeatureAlphaDropout
from .instancenorm import InstanceNorm1d as InstanceNorm1d
from .instancenorm import InstanceNorm2d as InstanceNorm2d
from .instancenorm import InstanceNorm3d as InstanceNorm3d
from .lazy import LazyModuleMixin as LazyModuleMixin
from .lazy_layers import LazyConv1d as LazyConv1d
from .lazy_layers import LazyConv2d as LazyConv2d
from .lazy_layers import LazyConv3d as LazyConv3d
from .lazy_layers import LazyConvTranspose1d as LazyConvTranspose1d
from .lazy_layers import LazyConvTranspose2d as LazyConvTranspose2d
from .lazy_layers import LazyConvTranspose3d as LazyConvTranspose3d
from .lazy_layers import LazyLinear as LazyLinear
from .lazy_norm import LazyBatchNorm1d as LazyBatchNorm1d
from .lazy_norm import LazyBatchNorm2d as LazyBatchNorm2d
from .lazy_norm import LazyBatchNorm3d as LazyBatchNorm3d
from .lazy_norm import LazyInstanceNorm1d as LazyInstanceNorm1d
from .lazy_norm import LazyInstanceNorm2d as LazyInstanceNorm2d
from .lazy_norm import LazyInstanceNorm3d as LazyInstanceNorm3d
from .linear import Bilinear as Bilinear
from .linear import Linear as Linear
from .loss import BCELoss as BCELoss
from .loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from .loss import CrossEntropyLoss as CrossEntropyLoss
from .loss import HuberLoss as HuberLoss
from .loss import KLDivLoss as KLDivLoss
from .loss import L1Loss as L1Loss
from .loss import MSELoss as MSELoss
from .loss import NLLLoss as NLLLoss
from .loss import SmoothL1Loss as SmoothL1Loss
from .normalization import GroupNorm as GroupNorm
from .normalization import LayerNorm as LayerNorm
from .normalization import LocalResponseNorm as LocalResponseNorm
from .normalization import RMSNorm as RMSNorm
from .padding import CircularPad1d as CircularPad1d
from .padding import CircularPad2d as CircularPad2d
from .padding import CircularPad3d as CircularPad3d
from .padding import ConstantPad1d as ConstantPad1d
from .padding import ConstantPad2d as ConstantPad2d
from .padding import ConstantPad3d as ConstantPad3d
from .padding import ReflectionPad1d as ReflectionPad1d
from .padding import ReflectionPad2d as ReflectionPad2d
from .padding import ReflectionPad3d as ReflectionPad3d
from .padding import ReplicationPad1d as ReplicationPad1d
from .padding import ReplicationPad2d as ReplicationPad2d
from .padding import ReplicationPad3d as ReplicationPad3d
from .padding import ZeroPad1d as ZeroPad1d
from .padding import ZeroPad2d as ZeroPad2d
from .padding import ZeroPad3d as ZeroPad3d
from .pooling import AvgPool1d as AvgPool1d
from .pooling import AvgPool2d as AvgPool2d
from .pooling import AvgPool3d as AvgPool3d
from .pooling import LPPool1d as LPPool1d
from .pooling import LPPool2d as LPPool2d
from .pooling import LPPool3d as LPPool3d
from .pooling import MaxPool1d as MaxPool1d
from .pooling import MaxPool2d as MaxPool2d
from .pooling import MaxPool3d as MaxPool3d
from .ranking_loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from .ranking_loss import HingeEmbeddingLoss as HingeEmbeddingLoss
from .ranking_loss import MarginRankingLoss as MarginRankingLoss
from .ranking_loss import SoftMarginLoss as SoftMarginLoss
from .ranking_loss import TripletMarginLoss as TripletMarginLoss
from .rearrange import ChannelShuffle as ChannelShuffle
from .rearrange import CosineSimilarity as CosineSimilarity
from .rearrange import Fold as Fold
from .rearrange import PairwiseDistance as PairwiseDistance
from .rearrange import PixelShuffle as PixelShuffle
from .rearrange import PixelUnshuffle as PixelUnshuffle
from .rearrange import Unfold as Unfold
from .rnn import GRU as GRU
from .rnn import LSTM as LSTM
from .rnn import RNN as RNN
from .rnn_base import RNNBase as RNNBase
from .rnn_cell import GRUCell as GRUCell
from .rnn_cell import LSTMCell as LSTMCell
from .rnn_cell import RNNCell as RNNCell
from .rnn_cell import RNNCellBase as RNNCellBase
from .shrinking import Hardshrink as Hardshrink
from .shrinking import LogSigmoid as LogSigmoid
from .shrinking import Softplus as Softplus
from .shrinking import Softshrink as Softshrink
from .shrinking import Softsign as Softsign
from .shrinking import Tanhshrink as Tanhshrink
from .softmax import GLU as GLU
from .softmax import LogSoftmax as LogSoftmax
from .softmax import PReLU as PReLU
from .softmax import Softmax as Softmax
from .softmax import Softmax2d as Softmax2d
from .softmax import Softmin as Softmin
from .sparse import Embedding as Embedding
from .sparse import EmbeddingBag as EmbeddingBag
from .sync_batchnorm import SyncBatchNorm as SyncBatchNorm
from .transformer import TransformerEncoder as TransformerEncoder
from .transformer import TransformerEncoderLayer as TransformerEncoderLayer
from .transformer_decoder import Transformer as Transformer
from .transformer_decoder import TransformerDecoder as TransformerDecoder
from .transformer_decoder import TransformerDecoderLayer as TransformerDecoderLayer
from .upsampling import Upsample as Upsample
from .upsampling import UpsamplingBilinear2d as UpsamplingBilinear2d
from .upsampling import UpsamplingNearest2d as UpsamplingNearest2d

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
    "LazyModuleMixin",
    "TransformerEncoder",
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
]
