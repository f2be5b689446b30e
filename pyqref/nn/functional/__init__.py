"""Functions behind the layers of :mod:`pyqref.nn`, one family a file."""

from typing import TYPE_CHECKING

from ..._lazy import on_first_use
from .activation import celu as celu
from .activation import celu_ as celu_
from .activation import elu as elu
from .activation import elu_ as elu_
from .activation import gelu as gelu
from .activation import hardshrink as hardshrink
from .activation import hardsigmoid as hardsigmoid
from .activation import hardswish as hardswish
from .activation import hardtanh as hardtanh
from .activation import hardtanh_ as hardtanh_
from .activation import leaky_relu as leaky_relu
from .activation import leaky_relu_ as leaky_relu_
from .activation import logsigmoid as logsigmoid
from .activation import mish as mish
from .activation import relu as relu
from .activation import relu6 as relu6
from .activation import relu_ as relu_
from .activation import selu as selu
from .activation import selu_ as selu_
from .activation import sigmoid as sigmoid
from .activation import silu as silu
from .activation import softplus as softplus
from .activation import softshrink as softshrink
from .activation import softsign as softsign
from .activation import tanh as tanh
from .activation import tanhshrink as tanhshrink
from .activation import threshold as threshold
from .activation import threshold_ as threshold_
from .adaptive_pooling import adaptive_avg_pool1d as adaptive_avg_pool1d
from .adaptive_pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from .adaptive_pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from .adaptive_pooling import adaptive_max_pool1d as adaptive_max_pool1d
from .adaptive_pooling import adaptive_max_pool1d_with_indices as adaptive_max_pool1d_with_indices
from .adaptive_pooling import adaptive_max_pool2d as adaptive_max_pool2d
from .adaptive_pooling import adaptive_max_pool2d_with_indices as adaptive_max_pool2d_with_indices
from .adaptive_pooling import adaptive_max_pool3d as adaptive_max_pool3d
from .adaptive_pooling import adaptive_max_pool3d_with_indices as adaptive_max_pool3d_with_indices
from .attention import multi_head_attention_forward as multi_head_attention_forward
from .attention import scaled_dot_product_attention as scaled_dot_product_attention
from .class_loss import cross_entropy as cross_entropy
from .class_loss import nll_loss as nll_loss
from .conv import conv1d as conv1d
from .conv import conv2d as conv2d
from .conv import conv3d as conv3d
from .conv import conv_transpose1d as conv_transpose1d
from .conv import conv_transpose2d as conv_transpose2d
from .conv import conv_transpose3d as conv_transpose3d
from .distance import cosine_embedding_loss as cosine_embedding_loss
from .distance import cosine_similarity as cosine_similarity
from .distance import hinge_embedding_loss as hinge_embedding_loss
from .distance import margin_ranking_loss as margin_ranking_loss
from .distance import pairwise_distance as pairwise_distance
from .distance import soft_margin_loss as soft_margin_loss
from .distance import triplet_margin_loss as triplet_margin_loss
from .dropout import alpha_dropout as alpha_dropout
from .dropout import dropout as dropout
from .dropout import dropout1d as dropout1d
from .dropout import dropout2d as dropout2d
from .dropout import dropout3d as dropout3d
from .dropout import feature_alpha_dropout as feature_alpha_dropout
from .embedding import embedding as embedding
from .embedding import embedding_bag as embedding_bag
from .embedding import one_hot as one_hot
from .fold import fold as fold
from .fold import unfold as unfold
from .grid import affine_grid as affine_grid
from .grid import grid_sample as grid_sample
from .linear import bilinear as bilinear
from .linear import linear as linear
from .loss import binary_cross_entropy as binary_cross_entropy
from .loss import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
from .loss import huber_loss as huber_loss
from .loss import kl_div as kl_div
from .loss import l1_loss as l1_loss
from .loss import mse_loss as mse_loss
from .loss import smooth_l1_loss as smooth_l1_loss
from .normalization import batch_norm as batch_norm
from .normalization import group_norm as group_norm
from .normalization import instance_norm as instance_norm
from .normalization import layer_norm as layer_norm
from .normalization import local_response_norm as local_response_norm
from .normalization import normalize as normalize
from .normalization import rms_norm as rms_norm
from .padding import pad as pad
from .pooling import avg_pool1d as avg_pool1d
from .pooling import avg_pool2d as avg_pool2d
from .pooling import avg_pool3d as avg_pool3d
from .pooling import max_pool1d as max_pool1d
from .pooling import max_pool1d_with_indices as max_pool1d_with_indices
from .pooling import max_pool2d as max_pool2d
from .pooling import max_pool2d_with_indices as max_pool2d_with_indices
from .pooling import max_pool3d as max_pool3d
from .pooling import max_pool3d_with_indices as max_pool3d_with_indices
from .power_pooling import lp_pool1d as lp_pool1d
from .power_pooling import lp_pool2d as lp_pool2d
from .power_pooling import lp_pool3d as lp_pool3d
from .resize import channel_shuffle as channel_shuffle
from .resize import interpolate as interpolate
from .resize import native_channel_shuffle as native_channel_shuffle
from .resize import pixel_shuffle as pixel_shuffle
from .resize import pixel_unshuffle as pixel_unshuffle
from .resize import upsample as upsample
from .resize import upsample_bilinear as upsample_bilinear
from .resize import upsample_nearest as upsample_nearest
from .softmax import glu as glu
from .softmax import gumbel_softmax as gumbel_softmax
from .softmax import log_softmax as log_softmax
from .softmax import prelu as prelu
from .softmax import softmax as softmax
from .softmax import softmin as softmin

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {})

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "alpha_dropout",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "batch_norm",
    "bilinear",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "celu",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_embedding_loss",
    "cosine_similarity",
    "cross_entropy",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "elu",
    "elu_",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "gelu",
    "affine_grid",
    "grid_sample",
    "glu",
    "group_norm",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "hinge_embedding_loss",
    "huber_loss",
    "instance_norm",
    "interpolate",
    "kl_div",
    "l1_loss",
    "layer_norm",
    "leaky_relu",
    "leaky_relu_",
    "linear",
    "local_response_norm",
    "log_softmax",
    "logsigmoid",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "margin_ranking_loss",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "mish",
    "mse_loss",
    "multi_head_attention_forward",
    "native_channel_shuffle",
    "nll_loss",
    "normalize",
    "one_hot",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rms_norm",
    "scaled_dot_product_attention",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "smooth_l1_loss",
    "soft_margin_loss",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
    "triplet_margin_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
