"""Functional forms of the quantized layers; those that round take output parameters."""

from .activation import celu as celu
from .activation import clamp as clamp
from .activation import elu as elu
from .activation import hardsigmoid as hardsigmoid
from .activation import hardswish as hardswish
from .activation import hardtanh as hardtanh
from .activation import leaky_relu as leaky_relu
from .activation import relu as relu
from .activation import threshold as threshold
from .conv import conv1d as conv1d
from .conv import conv2d as conv2d
from .conv import conv3d as conv3d
from .linear import linear as linear
from .pooling import adaptive_avg_pool2d as adaptive_avg_pool2d
from .pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from .pooling import avg_pool2d as avg_pool2d
from .pooling import avg_pool3d as avg_pool3d
from .pooling import max_pool1d as max_pool1d
from .pooling import max_pool2d as max_pool2d
from .resize import interpolate as interpolate
from .resize import upsample as upsample
from .resize import upsample_bilinear as upsample_bilinear
from .resize import upsample_nearest as upsample_nearest

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool2d",
    "avg_pool3d",
    "celu",
    "clamp",
    "conv1d",
    "conv2d",
    "conv3d",
    "elu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "interpolate",
    "leaky_relu",
    "linear",
    "max_pool1d",
    "max_pool2d",
    "relu",
    "threshold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
