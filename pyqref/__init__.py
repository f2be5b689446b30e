"""Quantization as ``torch`` documents it, to be read before it is run.

A script written against the documentation of ``torch``'s quantization runs with
``import pyqref as torch`` and gives the same integers, scales and zero points.

Reading order
-------------
1. :mod:`pyqref.dtypes`: number types and quantization schemes.
2. :mod:`pyqref.numerics`: the equations, one function each, in plain NumPy.
3. ``pyqref._kernels``: the same equations, fast.
4. :mod:`pyqref.tape`, ``pyqref.tensor``, :mod:`pyqref.autograd`: tensors and gradients.
5. :mod:`pyqref.nn`, :mod:`pyqref.optim`, :mod:`pyqref.fx`: layers, optimisers, graphs.
6. :mod:`pyqref.ops`, ``pyqref.nn.quantized`` and ``qat``: quantized layers.
7. :mod:`pyqref.quantization`: observers, fake quantization, the workflows.

Below stands the namespace, name by name.
"""

# ruff: noqa: I001  (the order is the reading order)

from typing import TYPE_CHECKING

from ._lazy import on_first_use
from . import _other_paths as _other_paths
from .version import __version__ as __version__

# 1. number types
from .dtypes import channels_last as channels_last
from .dtypes import channels_last_3d as channels_last_3d
from .dtypes import contiguous_format as contiguous_format
from .dtypes import device as device
from .dtypes import dtype as dtype
from .dtypes import finfo as finfo
from .dtypes import float16 as float16
from .dtypes import float32 as float32
from .dtypes import float64 as float64
from .dtypes import iinfo as iinfo
from .dtypes import int8 as int8
from .dtypes import int16 as int16
from .dtypes import int32 as int32
from .dtypes import int64 as int64
from .dtypes import layout as layout
from .dtypes import memory_format as memory_format
from .dtypes import per_channel_affine as per_channel_affine
from .dtypes import per_channel_affine_float_qparams as per_channel_affine_float_qparams
from .dtypes import per_channel_symmetric as per_channel_symmetric
from .dtypes import per_tensor_affine as per_tensor_affine
from .dtypes import per_tensor_symmetric as per_tensor_symmetric
from .dtypes import preserve_format as preserve_format
from .dtypes import qint8 as qint8
from .dtypes import qint32 as qint32
from .dtypes import qscheme as qscheme
from .dtypes import quint2x4 as quint2x4
from .dtypes import quint4x2 as quint4x2
from .dtypes import quint8 as quint8
from .dtypes import strided as strided
from .dtypes import uint8 as uint8
from .dtypes import bool_ as bool
from .dtypes import bfloat16 as bfloat16
from .dtypes import complex32 as complex32
from .dtypes import complex64 as complex64
from .dtypes import complex128 as complex128
from .dtypes import float8_e4m3fn as float8_e4m3fn
from .dtypes import float8_e4m3fnuz as float8_e4m3fnuz
from .dtypes import float8_e5m2 as float8_e5m2
from .dtypes import float8_e5m2fnuz as float8_e5m2fnuz
from .dtypes import uint16 as uint16
from .dtypes import uint32 as uint32
from .dtypes import uint64 as uint64
from .dtypes import complex64 as cfloat
from .dtypes import complex128 as cdouble
from .dtypes import complex32 as chalf
from .dtypes import float32 as float
from .dtypes import float64 as double
from .dtypes import float16 as half
from .dtypes import int32 as int
from .dtypes import int64 as long
from .dtypes import int16 as short

# 2. settings, kernels
from . import backends as backends
from ._kernels import get_num_threads as get_num_threads
from ._kernels import set_num_threads as set_num_threads
from ._kernels.uncompiled import warn_if_uncompiled as _warn_if_uncompiled

# 3. gradients
from .tape import enable_grad as enable_grad
from .tape import inference_mode as inference_mode
from .tape import is_grad_enabled as is_grad_enabled
from .tape import no_grad as no_grad
from .tape import set_grad_enabled as set_grad_enabled

# 4. tensors
from .tensor import Generator as Generator
from .tensor import BoolTensor as BoolTensor
from .tensor import ByteTensor as ByteTensor
from .tensor import CharTensor as CharTensor
from .tensor import DoubleTensor as DoubleTensor
from .tensor import FloatTensor as FloatTensor
from .tensor import HalfTensor as HalfTensor
from .tensor import IntTensor as IntTensor
from .tensor import LongTensor as LongTensor
from .tensor import ShortTensor as ShortTensor
from .tensor import Parameter as Parameter
from .tensor import PerChannelQuantizer as PerChannelQuantizer
from .tensor import PerTensorQuantizer as PerTensorQuantizer
from .tensor import QuantizedTensor as QuantizedTensor
from .tensor import Size as Size
from .tensor import Tensor as Tensor
from .tensor import _assert as _assert
from .tensor import _check as _check
from .tensor import abs as abs
from .tensor import absolute as absolute
from .tensor import acos as acos
from .tensor import add as add
from .tensor import addbmm as addbmm
from .tensor import addcdiv as addcdiv
from .tensor import addcmul as addcmul
from .tensor import addmm as addmm
from .tensor import addmv as addmv
from .tensor import all as all
from .tensor import allclose as allclose
from .tensor import amax as amax
from .tensor import amin as amin
from .tensor import aminmax as aminmax
from .tensor import any as any
from .tensor import arange as arange
from .tensor import arccos as arccos
from .tensor import arcsin as arcsin
from .tensor import arctan as arctan
from .tensor import argmax as argmax
from .tensor import argmin as argmin
from .tensor import argsort as argsort
from .tensor import argwhere as argwhere
from .tensor import as_strided as as_strided
from .tensor import as_tensor as as_tensor
from .tensor import asin as asin
from .tensor import atan as atan
from .tensor import atan2 as atan2
from .tensor import atleast_1d as atleast_1d
from .tensor import atleast_2d as atleast_2d
from .tensor import atleast_3d as atleast_3d
from .tensor import baddbmm as baddbmm
from .tensor import bernoulli as bernoulli
from .tensor import bincount as bincount
from .tensor import bitwise_and as bitwise_and
from .tensor import bitwise_left_shift as bitwise_left_shift
from .tensor import bitwise_not as bitwise_not
from .tensor import bitwise_or as bitwise_or
from .tensor import bitwise_right_shift as bitwise_right_shift
from .tensor import bitwise_xor as bitwise_xor
from .tensor import bmm as bmm
from .tensor import broadcast_tensors as broadcast_tensors
from .tensor import broadcast_to as broadcast_to
from .tensor import bucketize as bucketize
from .tensor import can_cast as can_cast
from .tensor import cartesian_prod as cartesian_prod
from .tensor import cat as cat
from .tensor import cdist as cdist
from .tensor import ceil as ceil
from .tensor import chunk as chunk
from .tensor import clamp as clamp
from .tensor import clamp_ as clamp_
from .tensor import clamp_max as clamp_max
from .tensor import clamp_min as clamp_min
from .tensor import clip as clip
from .tensor import clone as clone
from .tensor import column_stack as column_stack
from .tensor import concat as concat
from .tensor import concatenate as concatenate
from .tensor import cos as cos
from .tensor import cosh as cosh
from .tensor import count_nonzero as count_nonzero
from .tensor import cross as cross
from .tensor import cummax as cummax
from .tensor import cummin as cummin
from .tensor import cumprod as cumprod
from .tensor import cumsum as cumsum
from .tensor import default_generator as default_generator
from .tensor import deg2rad as deg2rad
from .tensor import dequantize as dequantize
from .tensor import diag as diag
from .tensor import diagonal as diagonal
from .tensor import diff as diff
from .tensor import dist as dist
from .tensor import div as div
from .tensor import divide as divide
from .tensor import dot as dot
from .tensor import dstack as dstack
from .tensor import einsum as einsum
from .tensor import empty as empty
from .tensor import empty_like as empty_like
from .tensor import empty_strided as empty_strided
from .tensor import eq as eq
from .tensor import equal as equal
from .tensor import erf as erf
from .tensor import erfc as erfc
from .tensor import erfinv as erfinv
from .tensor import exp as exp
from .tensor import exp2 as exp2
from .tensor import expm1 as expm1
from .tensor import eye as eye
from .tensor import flatten as flatten
from .tensor import flip as flip
from .tensor import fliplr as fliplr
from .tensor import flipud as flipud
from .tensor import floor as floor
from .tensor import floor_divide as floor_divide
from .tensor import fmax as fmax
from .tensor import fmin as fmin
from .tensor import fmod as fmod
from .tensor import frac as frac
from .tensor import from_dlpack as from_dlpack
from .tensor import from_numpy as from_numpy
from .tensor import frombuffer as frombuffer
from .tensor import full as full
from .tensor import full_like as full_like
from .tensor import gather as gather
from .tensor import ge as ge
from .tensor import get_default_dtype as get_default_dtype
from .tensor import get_device as get_device
from .tensor import get_rng_state as get_rng_state
from .tensor import greater as greater
from .tensor import greater_equal as greater_equal
from .tensor import gt as gt
from .tensor import histc as histc
from .tensor import histogram as histogram
from .tensor import hstack as hstack
from .tensor import hypot as hypot
from .tensor import index_add as index_add
from .tensor import index_copy as index_copy
from .tensor import index_fill as index_fill
from .tensor import index_put as index_put
from .tensor import index_reduce as index_reduce
from .tensor import index_select as index_select
from .tensor import initial_seed as initial_seed
from .tensor import inner as inner
from .tensor import int_repr as int_repr
from .tensor import is_complex as is_complex
from .tensor import is_floating_point as is_floating_point
from .tensor import is_inference_mode_enabled as is_inference_mode_enabled
from .tensor import is_nonzero as is_nonzero
from .tensor import is_same_size as is_same_size
from .tensor import is_signed as is_signed
from .tensor import is_tensor as is_tensor
from .tensor import isclose as isclose
from .tensor import isfinite as isfinite
from .tensor import isin as isin
from .tensor import isinf as isinf
from .tensor import isnan as isnan
from .tensor import isneginf as isneginf
from .tensor import isposinf as isposinf
from .tensor import isreal as isreal
from .tensor import kthvalue as kthvalue
from .tensor import le as le
from .tensor import lerp as lerp
from .tensor import less as less
from .tensor import less_equal as less_equal
from .tensor import linspace as linspace
from .tensor import log as log
from .tensor import log10 as log10
from .tensor import log1p as log1p
from .tensor import log2 as log2
from .tensor import log_softmax as log_softmax
from .tensor import logaddexp as logaddexp
from .tensor import logical_and as logical_and
from .tensor import logical_not as logical_not
from .tensor import logical_or as logical_or
from .tensor import logical_xor as logical_xor
from .tensor import logit as logit
from .tensor import logspace as logspace
from .tensor import logsumexp as logsumexp
from .tensor import lt as lt
from .tensor import make_per_channel as make_per_channel
from .tensor import make_per_tensor as make_per_tensor
from .tensor import make_quantized as make_quantized
from .tensor import manual_seed as manual_seed
from .tensor import masked_fill as masked_fill
from .tensor import masked_scatter as masked_scatter
from .tensor import masked_select as masked_select
from .tensor import matmul as matmul
from .tensor import max as max
from .tensor import maximum as maximum
from .tensor import mean as mean
from .tensor import median as median
from .tensor import meshgrid as meshgrid
from .tensor import min as min
from .tensor import minimum as minimum
from .tensor import mm as mm
from .tensor import mode as mode
from .tensor import moveaxis as moveaxis
from .tensor import movedim as movedim
from .tensor import msort as msort
from .tensor import mul as mul
from .tensor import multinomial as multinomial
from .tensor import multiply as multiply
from .tensor import mv as mv
from .tensor import nan_to_num as nan_to_num
from .tensor import nanmean as nanmean
from .tensor import nansum as nansum
from .tensor import narrow as narrow
from .tensor import ne as ne
from .tensor import neg as neg
from .tensor import negative as negative
from .tensor import nonzero as nonzero
from .tensor import norm as norm
from .tensor import normal as normal
from .tensor import not_equal as not_equal
from .tensor import numel as numel
from .tensor import ones as ones
from .tensor import ones_like as ones_like
from .tensor import outer as outer
from .tensor import permute as permute
from .tensor import positive as positive
from .tensor import pow as pow
from .tensor import prod as prod
from .tensor import promote_types as promote_types
from .tensor import q_per_channel_axis as q_per_channel_axis
from .tensor import q_per_channel_scales as q_per_channel_scales
from .tensor import q_per_channel_zero_points as q_per_channel_zero_points
from .tensor import q_scale as q_scale
from .tensor import q_zero_point as q_zero_point
from .tensor import quantile as quantile
from .tensor import quantize_per_channel as quantize_per_channel
from .tensor import quantize_per_tensor as quantize_per_tensor
from .tensor import quantize_per_tensor_dynamic as quantize_per_tensor_dynamic
from .tensor import rad2deg as rad2deg
from .tensor import rand as rand
from .tensor import rand_like as rand_like
from .tensor import randint as randint
from .tensor import randint_like as randint_like
from .tensor import randn as randn
from .tensor import randn_like as randn_like
from .tensor import randperm as randperm
from .tensor import ravel as ravel
from .tensor import reciprocal as reciprocal
from .tensor import relu as relu
from .tensor import relu_ as relu_
from .tensor import remainder as remainder
from .tensor import repeat_interleave as repeat_interleave
from .tensor import reshape as reshape
from .tensor import result_type as result_type
from .tensor import roll as roll
from .tensor import rot90 as rot90
from .tensor import round as round
from .tensor import rsqrt as rsqrt
from .tensor import rsub as rsub
from .tensor import scalar_tensor as scalar_tensor
from .tensor import scatter as scatter
from .tensor import scatter_add as scatter_add
from .tensor import scatter_reduce as scatter_reduce
from .tensor import searchsorted as searchsorted
from .tensor import seed as seed
from .tensor import select as select
from .tensor import set_default_dtype as set_default_dtype
from .tensor import set_printoptions as set_printoptions
from .tensor import set_rng_state as set_rng_state
from .tensor import sgn as sgn
from .tensor import sigmoid as sigmoid
from .tensor import sign as sign
from .tensor import signbit as signbit
from .tensor import sin as sin
from .tensor import sinh as sinh
from .tensor import softmax as softmax
from .tensor import sort as sort
from .tensor import split as split
from .tensor import split_with_sizes as split_with_sizes
from .tensor import sqrt as sqrt
from .tensor import square as square
from .tensor import squeeze as squeeze
from .tensor import stack as stack
from .tensor import std as std
from .tensor import std_mean as std_mean
from .tensor import sub as sub
from .tensor import subtract as subtract
from .tensor import sum as sum
from .tensor import swapaxes as swapaxes
from .tensor import swapdims as swapdims
from .tensor import t as t
from .tensor import take as take
from .tensor import take_along_dim as take_along_dim
from .tensor import tan as tan
from .tensor import tanh as tanh
from .tensor import tensor as tensor
from .tensor import tensor_split as tensor_split
from .tensor import tensordot as tensordot
from .tensor import tile as tile
from .tensor import topk as topk
from .tensor import trace as trace
from .tensor import transpose as transpose
from .tensor import tril as tril
from .tensor import tril_indices as tril_indices
from .tensor import triu as triu
from .tensor import triu_indices as triu_indices
from .tensor import true_divide as true_divide
from .tensor import trunc as trunc
from .tensor import typename as typename
from .tensor import unbind as unbind
from .tensor import unflatten as unflatten
from .tensor import unique as unique
from .tensor import unique_consecutive as unique_consecutive
from .tensor import unsqueeze as unsqueeze
from .tensor import var as var
from .tensor import var_mean as var_mean
from .tensor import vdot as vdot
from .tensor import vstack as vstack
from .tensor import where as where
from .tensor import xlogy as xlogy
from .tensor import zeros as zeros
from .tensor import zeros_like as zeros_like
from .tensor.quantized.create import empty_affine_quantized as _empty_affine_quantized
from .tensor.quantized.create import (
    make_per_channel_quantized_tensor as _make_per_channel_quantized_tensor,
)
from .tensor.quantized.create import (
    make_per_tensor_quantized_tensor as _make_per_tensor_quantized_tensor,
)

# 5. numbers
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi

# 6. the packages, imported when first used
if TYPE_CHECKING:
    from . import _C as _C
    from . import ao as ao
    from . import cuda as cuda
    from . import autograd as autograd
    from . import explaining as explaining
    from . import export as export
    from . import func as func
    from . import fx as fx
    from . import interop as interop
    from . import kernels as kernels
    from . import nn as nn
    from . import onnx as onnx
    from . import ops as ops
    from .explaining import explain as explain
    from .explaining import explain_diff as explain_diff
    from .explaining import ledger as ledger
    from .ops.int8_weights import fbgemm_linear_int8_weight as fbgemm_linear_int8_weight
    from .ops.int8_weights import (
        fbgemm_linear_int8_weight_fp32_activation as fbgemm_linear_int8_weight_fp32_activation,
    )
    from .ops.int8_weights import fbgemm_linear_quantize_weight as fbgemm_linear_quantize_weight
    from .ops.int8_weights import fbgemm_pack_quantized_matrix as fbgemm_pack_quantized_matrix
    from .ops.int8_weights import quantized_gru_cell as quantized_gru_cell
    from .ops.int8_weights import quantized_lstm_cell as quantized_lstm_cell
    from .ops.int8_weights import quantized_rnn_relu_cell as quantized_rnn_relu_cell
    from .ops.int8_weights import quantized_rnn_tanh_cell as quantized_rnn_tanh_cell
    from .ops.legacy import choose_qparams_optimized as choose_qparams_optimized
    from .ops.legacy import quantized_batch_norm as quantized_batch_norm
    from .ops.legacy import quantized_max_pool1d as quantized_max_pool1d
    from .ops.legacy import quantized_max_pool2d as quantized_max_pool2d
    from .ops.legacy import quantized_max_pool3d as quantized_max_pool3d
    from . import optim as optim
    from . import library as library
    from . import quantization as quantization
    from . import run as run
    from . import __config__ as __config__
    from . import _dynamo as _dynamo
    from . import _inductor as _inductor
    from . import accelerator as accelerator
    from . import amp as amp
    from . import arithmetic as arithmetic
    from . import compiler as compiler
    from . import distributed as distributed
    from . import distributions as distributions
    from . import hub as hub
    from . import jit as jit
    from . import multiprocessing as multiprocessing
    from . import profiler as profiler
    from . import random as random
    from . import testing as testing
    from . import xpu as xpu
    from .amp import autocast as autocast
    from .amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
    from .compiler import compile as compile
    from .switches import (
        are_deterministic_algorithms_enabled as are_deterministic_algorithms_enabled,
    )
    from .switches import get_default_device as get_default_device
    from .switches import get_deterministic_debug_mode as get_deterministic_debug_mode
    from .switches import get_float32_matmul_precision as get_float32_matmul_precision
    from .switches import get_num_interop_threads as get_num_interop_threads
    from .switches import is_deterministic_algorithms_warn_only_enabled
    from .switches import set_default_device as set_default_device
    from .switches import set_default_tensor_type as set_default_tensor_type
    from .switches import set_deterministic_debug_mode as set_deterministic_debug_mode
    from .switches import set_float32_matmul_precision as set_float32_matmul_precision
    from .switches import set_flush_denormal as set_flush_denormal
    from .switches import set_num_interop_threads as set_num_interop_threads
    from .switches import use_deterministic_algorithms as use_deterministic_algorithms
    from . import serialization as serialization
    from . import types as types
    from . import utils as utils
    from .run import install_as_torch as install_as_torch
    from .run import load_ipython_extension as load_ipython_extension
    from .run import unload_ipython_extension as unload_ipython_extension
    from .serialization import load as load
    from .serialization import save as save
    from .tensor.fake_quantize import (
        fake_quantize_per_channel_affine as fake_quantize_per_channel_affine,
    )
    from .tensor.fake_quantize import (
        fake_quantize_per_tensor_affine as fake_quantize_per_tensor_affine,
    )
    from .tensor.learnable_fake_quantize import (
        _fake_quantize_learnable_per_channel_affine as _fake_quantize_learnable_per_channel_affine,
    )
    from .tensor.learnable_fake_quantize import (
        _fake_quantize_learnable_per_tensor_affine as _fake_quantize_learnable_per_tensor_affine,
    )
    from .tensor.fused_fake_quantize import (
        fused_moving_avg_obs_fake_quant as fused_moving_avg_obs_fake_quant,
    )
    from .nn.functional import adaptive_avg_pool1d as adaptive_avg_pool1d
    from .nn.functional import adaptive_max_pool1d as adaptive_max_pool1d
    from .nn.functional import alpha_dropout as alpha_dropout
    from .nn.functional import avg_pool1d as avg_pool1d
    from .nn.functional import batch_norm as batch_norm
    from .nn.functional import bilinear as bilinear
    from .nn.functional import binary_cross_entropy_with_logits as binary_cross_entropy_with_logits
    from .nn.functional import celu as celu
    from .nn.functional import channel_shuffle as channel_shuffle
    from .nn.functional import conv1d as conv1d
    from .nn.functional import conv2d as conv2d
    from .nn.functional import conv3d as conv3d
    from .nn.functional import conv_transpose1d as conv_transpose1d
    from .nn.functional import conv_transpose2d as conv_transpose2d
    from .nn.functional import conv_transpose3d as conv_transpose3d
    from .nn.functional import cosine_embedding_loss as cosine_embedding_loss
    from .nn.functional import cosine_similarity as cosine_similarity
    from .nn.functional.dropout import dropout as dropout
    from .nn.functional.embedding import embedding as embedding
    from .nn.functional import embedding_bag as embedding_bag
    from .nn.functional import feature_alpha_dropout as feature_alpha_dropout
    from .nn.functional import group_norm as group_norm
    from .nn.functional import hardshrink as hardshrink
    from .nn.functional import hinge_embedding_loss as hinge_embedding_loss
    from .nn.functional import instance_norm as instance_norm
    from .nn.functional import kl_div as kl_div
    from .nn.functional import layer_norm as layer_norm
    from .nn.functional import margin_ranking_loss as margin_ranking_loss
    from .nn.functional import max_pool1d as max_pool1d
    from .nn.functional import max_pool2d as max_pool2d
    from .nn.functional import max_pool3d as max_pool3d
    from .nn.functional import native_channel_shuffle as native_channel_shuffle
    from .nn.functional import pairwise_distance as pairwise_distance
    from .nn.functional import pixel_shuffle as pixel_shuffle
    from .nn.functional import pixel_unshuffle as pixel_unshuffle
    from .nn.functional import prelu as prelu
    from .nn.functional import rms_norm as rms_norm
    from .nn.functional import selu as selu
    from .nn.functional import threshold as threshold
    from .nn.functional import triplet_margin_loss as triplet_margin_loss

_warn_if_uncompiled()

__getattr__ = on_first_use(
    __name__,
    {
        ".run": ("install_as_torch", "load_ipython_extension", "unload_ipython_extension"),
        ".amp": ("autocast",),
        ".amp.autocast_mode": ("is_autocast_enabled",),
        ".compiler": ("compile",),
        ".explaining": ("explain", "explain_diff", "ledger"),
        ".switches": (
            "are_deterministic_algorithms_enabled",
            "get_default_device",
            "get_deterministic_debug_mode",
            "get_float32_matmul_precision",
            "get_num_interop_threads",
            "is_deterministic_algorithms_warn_only_enabled",
            "set_default_device",
            "set_default_tensor_type",
            "set_deterministic_debug_mode",
            "set_float32_matmul_precision",
            "set_flush_denormal",
            "set_num_interop_threads",
            "use_deterministic_algorithms",
        ),
        ".ops.int8_weights": (
            "fbgemm_linear_int8_weight",
            "fbgemm_linear_int8_weight_fp32_activation",
            "fbgemm_linear_quantize_weight",
            "fbgemm_pack_quantized_matrix",
            "quantized_gru_cell",
            "quantized_lstm_cell",
            "quantized_rnn_relu_cell",
            "quantized_rnn_tanh_cell",
        ),
        ".ops.legacy": (
            "choose_qparams_optimized",
            "quantized_batch_norm",
            "quantized_max_pool1d",
            "quantized_max_pool2d",
            "quantized_max_pool3d",
        ),
        ".serialization": (
            "load",
            "save",
        ),
        ".tensor.fake_quantize": (
            "fake_quantize_per_channel_affine",
            "fake_quantize_per_tensor_affine",
        ),
        ".tensor.learnable_fake_quantize": (
            "_fake_quantize_learnable_per_channel_affine",
            "_fake_quantize_learnable_per_tensor_affine",
        ),
        ".tensor.fused_fake_quantize": ("fused_moving_avg_obs_fake_quant",),
        ".nn.functional": (
            "adaptive_avg_pool1d",
            "adaptive_max_pool1d",
            "alpha_dropout",
            "avg_pool1d",
            "batch_norm",
            "bilinear",
            "binary_cross_entropy_with_logits",
            "celu",
            "channel_shuffle",
            "conv1d",
            "conv2d",
            "conv3d",
            "conv_transpose1d",
            "conv_transpose2d",
            "conv_transpose3d",
            "cosine_embedding_loss",
            "cosine_similarity",
            "dropout",
            "embedding",
            "embedding_bag",
            "feature_alpha_dropout",
            "group_norm",
            "hardshrink",
            "hinge_embedding_loss",
            "instance_norm",
            "kl_div",
            "layer_norm",
            "margin_ranking_loss",
            "max_pool1d",
            "max_pool2d",
            "max_pool3d",
            "native_channel_shuffle",
            "pairwise_distance",
            "pixel_shuffle",
            "pixel_unshuffle",
            "prelu",
            "rms_norm",
            "selu",
            "threshold",
            "triplet_margin_loss",
        ),
    },
    modules=(
        "_C",
        "__config__",
        "_dynamo",
        "_inductor",
        "accelerator",
        "amp",
        "arithmetic",
        "compiler",
        "distributed",
        "distributions",
        "explaining",
        "export",
        "hub",
        "jit",
        "multiprocessing",
        "profiler",
        "random",
        "testing",
        "xpu",
        "ao",
        "cuda",
        "autograd",
        "func",
        "fx",
        "interop",
        "kernels",
        "nn",
        "onnx",
        "onnx",
        "ops",
        "optim",
        "library",
        "quantization",
        "run",
        "serialization",
        "types",
        "utils",
    ),
)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "BoolTensor",
    "Generator",
    "Parameter",
    "PerChannelQuantizer",
    "PerTensorQuantizer",
    "QuantizedTensor",
    "Size",
    "Tensor",
    "__version__",
    "abs",
    "absolute",
    "accelerator",
    "acos",
    "adaptive_avg_pool1d",
    "adaptive_max_pool1d",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "all",
    "allclose",
    "alpha_dropout",
    "amax",
    "amin",
    "aminmax",
    "amp",
    "any",
    "ao",
    "arange",
    "arccos",
    "arcsin",
    "arctan",
    "are_deterministic_algorithms_enabled",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "arithmetic",
    "as_strided",
    "as_tensor",
    "asin",
    "atan",
    "atan2",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "autocast",
    "autograd",
    "avg_pool1d",
    "backends",
    "baddbmm",
    "batch_norm",
    "bernoulli",
    "bfloat16",
    "bilinear",
    "binary_cross_entropy_with_logits",
    "bincount",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bmm",
    "bool",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "can_cast",
    "cartesian_prod",
    "cat",
    "cdist",
    "cdouble",
    "ceil",
    "celu",
    "cfloat",
    "chalf",
    "channel_shuffle",
    "channels_last",
    "channels_last_3d",
    "chunk",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_min",
    "clip",
    "clone",
    "column_stack",
    "compile",
    "compiler",
    "complex32",
    "complex64",
    "complex128",
    "concat",
    "concatenate",
    "contiguous_format",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cos",
    "cosh",
    "cosine_embedding_loss",
    "cosine_similarity",
    "count_nonzero",
    "cross",
    "cuda",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "default_generator",
    "deg2rad",
    "dequantize",
    "device",
    "diag",
    "diagonal",
    "diff",
    "dist",
    "distributed",
    "distributions",
    "div",
    "divide",
    "dot",
    "double",
    "dropout",
    "dstack",
    "dtype",
    "e",
    "einsum",
    "embedding",
    "embedding_bag",
    "empty",
    "empty_like",
    "empty_strided",
    "enable_grad",
    "eq",
    "equal",
    "erf",
    "erfc",
    "erfinv",
    "exp",
    "exp2",
    "explain",
    "explain_diff",
    "explaining",
    "export",
    "expm1",
    "eye",
    "fake_quantize_per_channel_affine",
    "fake_quantize_per_tensor_affine",
    "feature_alpha_dropout",
    "finfo",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "float",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float16",
    "float32",
    "float64",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "from_dlpack",
    "from_numpy",
    "frombuffer",
    "full",
    "full_like",
    "fused_moving_avg_obs_fake_quant",
    "func",
    "fx",
    "gather",
    "ge",
    "get_default_device",
    "get_default_dtype",
    "get_deterministic_debug_mode",
    "get_device",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "get_rng_state",
    "greater",
    "greater_equal",
    "group_norm",
    "gt",
    "half",
    "hardshrink",
    "hinge_embedding_loss",
    "histc",
    "histogram",
    "hstack",
    "hub",
    "hypot",
    "iinfo",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "index_select",
    "inf",
    "inference_mode",
    "initial_seed",
    "inner",
    "install_as_torch",
    "instance_norm",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_repr",
    "interop",
    "is_autocast_enabled",
    "is_complex",
    "is_deterministic_algorithms_warn_only_enabled",
    "is_floating_point",
    "is_grad_enabled",
    "is_inference_mode_enabled",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_tensor",
    "isclose",
    "isfinite",
    "isin",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "jit",
    "kernels",
    "kl_div",
    "kthvalue",
    "layer_norm",
    "layout",
    "le",
    "ledger",
    "lerp",
    "less",
    "less_equal",
    "library",
    "linspace",
    "load",
    "log",
    "log1p",
    "log2",
    "log10",
    "log_softmax",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logspace",
    "logsumexp",
    "long",
    "lt",
    "make_per_channel",
    "make_per_tensor",
    "make_quantized",
    "manual_seed",
    "margin_ranking_loss",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "max",
    "max_pool1d",
    "max_pool2d",
    "max_pool3d",
    "maximum",
    "mean",
    "median",
    "memory_format",
    "meshgrid",
    "min",
    "minimum",
    "mm",
    "mode",
    "moveaxis",
    "movedim",
    "msort",
    "mul",
    "multinomial",
    "multiply",
    "multiprocessing",
    "mv",
    "nan",
    "nan_to_num",
    "nanmean",
    "nansum",
    "narrow",
    "native_channel_shuffle",
    "ne",
    "neg",
    "negative",
    "nn",
    "no_grad",
    "nonzero",
    "norm",
    "normal",
    "not_equal",
    "numel",
    "ones",
    "ones_like",
    "ops",
    "optim",
    "outer",
    "pairwise_distance",
    "per_channel_affine",
    "per_channel_affine_float_qparams",
    "per_channel_symmetric",
    "per_tensor_affine",
    "per_tensor_symmetric",
    "permute",
    "pi",
    "pixel_shuffle",
    "pixel_unshuffle",
    "positive",
    "pow",
    "prelu",
    "preserve_format",
    "prod",
    "profiler",
    "promote_types",
    "q_per_channel_axis",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_scale",
    "q_zero_point",
    "qint8",
    "qint32",
    "qscheme",
    "quantile",
    "quantization",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_tensor_dynamic",
    "quint2x4",
    "quint4x2",
    "quint8",
    "rad2deg",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "random",
    "randperm",
    "ravel",
    "reciprocal",
    "relu",
    "relu_",
    "remainder",
    "repeat_interleave",
    "reshape",
    "result_type",
    "rms_norm",
    "roll",
    "rot90",
    "round",
    "rsqrt",
    "rsub",
    "run",
    "save",
    "scalar_tensor",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "seed",
    "select",
    "selu",
    "serialization",
    "set_default_device",
    "set_default_dtype",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_grad_enabled",
    "set_num_interop_threads",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
    "sgn",
    "short",
    "sigmoid",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "softmax",
    "sort",
    "split",
    "split_with_sizes",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "std",
    "std_mean",
    "strided",
    "sub",
    "subtract",
    "sum",
    "swapaxes",
    "swapdims",
    "t",
    "take",
    "take_along_dim",
    "tan",
    "tanh",
    "tensor",
    "tensor_split",
    "tensordot",
    "testing",
    "threshold",
    "tile",
    "topk",
    "trace",
    "transpose",
    "tril",
    "tril_indices",
    "triplet_margin_loss",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "typename",
    "types",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "unbind",
    "unflatten",
    "unique",
    "unique_consecutive",
    "unsqueeze",
    "use_deterministic_algorithms",
    "utils",
    "var",
    "var_mean",
    "vdot",
    "vstack",
    "where",
    "xlogy",
    "xpu",
    "zeros",
    "zeros_like",
]
