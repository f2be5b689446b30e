# ruff: noqa: I001  (the class is imported first for a reason)
"""Tensors: arrays of numbers with a place in the graph.

Read ``base`` (what a tensor is made of), ``dispatch`` (the one door through
which operations go) and ``tensor`` (the class, a table of contents); then the
functions, family by family, and ``quantized``.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

from .tensor import Tensor as Tensor

# The function ``tensor`` takes the name that the import above gave to its file.
from .arithmetic import add as add
from .combined import addcdiv as addcdiv
from .combined import addcmul as addcmul
from .combined import atan2 as atan2
from .arithmetic import clamp as clamp
from .arithmetic import clamp_ as clamp_
from .arithmetic import clamp_max as clamp_max
from .arithmetic import clamp_min as clamp_min
from .arithmetic import clip as clip
from .arithmetic import div as div
from .arithmetic import divide as divide
from .arithmetic import floor_divide as floor_divide
from .combined import fmax as fmax
from .combined import fmin as fmin
from .arithmetic import fmod as fmod
from .combined import hypot as hypot
from .combined import lerp as lerp
from .combined import logaddexp as logaddexp
from .arithmetic import maximum as maximum
from .arithmetic import minimum as minimum
from .arithmetic import mul as mul
from .arithmetic import multiply as multiply
from .arithmetic import neg as neg
from .arithmetic import negative as negative
from .arithmetic import pow as pow
from .arithmetic import remainder as remainder
from .arithmetic import rsub as rsub
from .arithmetic import sub as sub
from .arithmetic import subtract as subtract
from .arithmetic import true_divide as true_divide
from .arithmetic import where as where
from .combined import xlogy as xlogy
from .comparison import allclose as allclose
from .comparison import eq as eq
from .comparison import equal as equal
from .comparison import ge as ge
from .comparison import greater as greater
from .comparison import greater_equal as greater_equal
from .comparison import gt as gt
from .comparison import isclose as isclose
from .comparison import le as le
from .comparison import less as less
from .comparison import less_equal as less_equal
from .comparison import lt as lt
from .comparison import ne as ne
from .comparison import not_equal as not_equal
from .conversion import from_dlpack as from_dlpack
from .sequences import arange as arange
from .creation import as_tensor as as_tensor
from .creation import empty as empty
from .creation import empty_strided as empty_strided
from .creation import eye as eye
from .creation import from_numpy as from_numpy
from .creation import full as full
from .sequences import linspace as linspace
from .sequences import logspace as logspace
from .creation import ones as ones
from .creation import scalar_tensor as scalar_tensor
from .creation import tensor as tensor
from .sequences import tril_indices as tril_indices
from .sequences import triu_indices as triu_indices
from .creation import zeros as zeros
from .creation_like import empty_like as empty_like
from .creation_like import full_like as full_like
from .creation_like import ones_like as ones_like
from .creation_like import zeros_like as zeros_like
from .generator import Generator as Generator
from .generator import default_generator as default_generator
from .generator import get_rng_state as get_rng_state
from .generator import initial_seed as initial_seed
from .generator import manual_seed as manual_seed
from .generator import seed as seed
from .generator import set_rng_state as set_rng_state
from .finding import argwhere as argwhere
from .picking import gather as gather
from .picking import index_add as index_add
from .picking import index_copy as index_copy
from .picking import index_fill as index_fill
from .indexing import index_put as index_put
from .picking import index_select as index_select
from .picking import masked_fill as masked_fill
from .picking import masked_scatter as masked_scatter
from .picking import masked_select as masked_select
from .finding import nonzero as nonzero
from .picking import scatter as scatter
from .picking import scatter_add as scatter_add
from .picking import take as take
from .reducing_at import index_reduce as index_reduce
from .reducing_at import scatter_reduce as scatter_reduce
from .picking import take_along_dim as take_along_dim
from .joining import atleast_1d as atleast_1d
from .joining import atleast_2d as atleast_2d
from .joining import atleast_3d as atleast_3d
from .joining import broadcast_tensors as broadcast_tensors
from .joining import cartesian_prod as cartesian_prod
from .joining import cat as cat
from .joining import chunk as chunk
from .joining import column_stack as column_stack
from .joining import concat as concat
from .joining import concatenate as concatenate
from .joining import dstack as dstack
from .joining import hstack as hstack
from .meshes import meshgrid as meshgrid
from .joining import split as split
from .joining import split_with_sizes as split_with_sizes
from .joining import stack as stack
from .joining import tensor_split as tensor_split
from .joining import unbind as unbind
from .joining import vstack as vstack
from .more_in_place import erfinv as erfinv
from .histograms import histogram as histogram
from .assertions import _assert as _assert
from .assertions import _check as _check
from .buffers import frombuffer as frombuffer
from .typed import BoolTensor as BoolTensor
from .typed import ByteTensor as ByteTensor
from .typed import CharTensor as CharTensor
from .typed import DoubleTensor as DoubleTensor
from .typed import FloatTensor as FloatTensor
from .typed import HalfTensor as HalfTensor
from .typed import IntTensor as IntTensor
from .typed import LongTensor as LongTensor
from .typed import ShortTensor as ShortTensor
from .layout import as_strided as as_strided
from .layout import clone as clone
from .linalg import addbmm as addbmm
from .linalg import addmm as addmm
from .linalg import addmv as addmv
from .linalg import baddbmm as baddbmm
from .linalg import bmm as bmm
from .linalg import cdist as cdist
from .linalg import cross as cross
from .linalg import dot as dot
from .contraction import einsum as einsum
from .linalg import inner as inner
from .linalg import matmul as matmul
from .linalg import mm as mm
from .linalg import mv as mv
from .linalg import outer as outer
from .contraction import tensordot as tensordot
from .linalg import trace as trace
from .linalg import vdot as vdot
from .logic import bitwise_and as bitwise_and
from .logic import bitwise_left_shift as bitwise_left_shift
from .logic import bitwise_not as bitwise_not
from .logic import bitwise_or as bitwise_or
from .logic import bitwise_right_shift as bitwise_right_shift
from .logic import bitwise_xor as bitwise_xor
from .logic import logical_and as logical_and
from .logic import logical_not as logical_not
from .logic import logical_or as logical_or
from .logic import logical_xor as logical_xor
from .ordering import argsort as argsort
from .ordering import bincount as bincount
from .ordering import bucketize as bucketize
from .ordering import histc as histc
from .ordering import kthvalue as kthvalue
from .ordering import median as median
from .ordering import mode as mode
from .ordering import msort as msort
from .ordering import quantile as quantile
from .ordering import searchsorted as searchsorted
from .ordering import sort as sort
from .ordering import topk as topk
from .ordering import unique as unique
from .ordering import unique_consecutive as unique_consecutive
from .parameter import Parameter as Parameter
from .pointwise import abs as abs
from .pointwise import absolute as absolute
from .transcendental import acos as acos
from .transcendental import arccos as arccos
from .transcendental import arcsin as arcsin
from .transcendental import arctan as arctan
from .transcendental import asin as asin
from .transcendental import atan as atan
from .pointwise import ceil as ceil
from .transcendental import cos as cos
from .transcendental import cosh as cosh
from .pointwise import deg2rad as deg2rad
from .transcendental import erf as erf
from .transcendental import erfc as erfc
from .transcendental import exp as exp
from .transcendental import exp2 as exp2
from .transcendental import expm1 as expm1
from .pointwise import floor as floor
from .pointwise import frac as frac
from .pointwise import isfinite as isfinite
from .pointwise import isinf as isinf
from .pointwise import isnan as isnan
from .transcendental import log as log
from .transcendental import log10 as log10
from .transcendental import log1p as log1p
from .transcendental import log2 as log2
from .transcendental import logit as logit
from .pointwise import nan_to_num as nan_to_num
from .pointwise import positive as positive
from .pointwise import rad2deg as rad2deg
from .pointwise import reciprocal as reciprocal
from .pointwise import relu as relu
from .pointwise import relu_ as relu_
from .pointwise import round as round
from .transcendental import rsqrt as rsqrt
from .pointwise import sgn as sgn
from .transcendental import sigmoid as sigmoid
from .pointwise import sign as sign
from .transcendental import sin as sin
from .transcendental import sinh as sinh
from .transcendental import sqrt as sqrt
from .pointwise import square as square
from .transcendental import tan as tan
from .transcendental import tanh as tanh
from .pointwise import trunc as trunc
from .printing import set_printoptions as set_printoptions
from .promotion import get_default_dtype as get_default_dtype
from .promotion import result_type as result_type
from .promotion import set_default_dtype as set_default_dtype
from .quantized import PerChannelQuantizer as PerChannelQuantizer
from .quantized import PerTensorQuantizer as PerTensorQuantizer
from .quantized import QuantizedTensor as QuantizedTensor
from .quantized import dequantize as dequantize
from .quantized import int_repr as int_repr
from .quantized import make_per_channel as make_per_channel
from .quantized import make_per_tensor as make_per_tensor
from .quantized import make_quantized as make_quantized
from .quantized import q_per_channel_axis as q_per_channel_axis
from .quantized import q_per_channel_scales as q_per_channel_scales
from .quantized import q_per_channel_zero_points as q_per_channel_zero_points
from .quantized import q_scale as q_scale
from .quantized import q_zero_point as q_zero_point
from .quantized import quantize_per_channel as quantize_per_channel
from .quantized import quantize_per_tensor as quantize_per_tensor
from .quantized import quantize_per_tensor_dynamic as quantize_per_tensor_dynamic
from .queries import can_cast as can_cast
from .queries import get_device as get_device
from .queries import is_complex as is_complex
from .queries import is_floating_point as is_floating_point
from .queries import is_inference_mode_enabled as is_inference_mode_enabled
from .queries import is_nonzero as is_nonzero
from .queries import is_same_size as is_same_size
from .queries import is_signed as is_signed
from .queries import is_tensor as is_tensor
from .queries import isin as isin
from .queries import isneginf as isneginf
from .queries import isposinf as isposinf
from .queries import isreal as isreal
from .queries import numel as numel
from .queries import promote_types as promote_types
from .queries import signbit as signbit
from .queries import typename as typename
from .random import bernoulli as bernoulli
from .random import multinomial as multinomial
from .random import normal as normal
from .random import rand as rand
from .random import rand_like as rand_like
from .random import randint as randint
from .random import randint_like as randint_like
from .random import randn as randn
from .random import randn_like as randn_like
from .random import randperm as randperm
from .reduction import all as all
from .extremes import amax as amax
from .extremes import amin as amin
from .extremes import aminmax as aminmax
from .reduction import any as any
from .extremes import argmax as argmax
from .extremes import argmin as argmin
from .reduction import count_nonzero as count_nonzero
from .extremes import cummax as cummax
from .extremes import cummin as cummin
from .reduction import cumprod as cumprod
from .reduction import cumsum as cumsum
from .reduction import diff as diff
from .reduction import dist as dist
from .reduction import logsumexp as logsumexp
from .extremes import max as max
from .reduction import mean as mean
from .extremes import min as min
from .reduction import nanmean as nanmean
from .reduction import nansum as nansum
from .reduction import norm as norm
from .reduction import prod as prod
from .reduction import std as std
from .reduction import std_mean as std_mean
from .reduction import sum as sum
from .reduction import var as var
from .reduction import var_mean as var_mean
from .shape import broadcast_to as broadcast_to
from .diagonals import diag as diag
from .diagonals import diagonal as diagonal
from .shape import flatten as flatten
from .arranging import flip as flip
from .arranging import fliplr as fliplr
from .arranging import flipud as flipud
from .shape import moveaxis as moveaxis
from .shape import movedim as movedim
from .shape import narrow as narrow
from .shape import permute as permute
from .shape import ravel as ravel
from .arranging import repeat_interleave as repeat_interleave
from .shape import reshape as reshape
from .arranging import roll as roll
from .arranging import rot90 as rot90
from .shape import select as select
from .shape import squeeze as squeeze
from .shape import swapaxes as swapaxes
from .shape import swapdims as swapdims
from .shape import t as t
from .arranging import tile as tile
from .shape import transpose as transpose
from .diagonals import tril as tril
from .diagonals import triu as triu
from .shape import unflatten as unflatten
from .shape import unsqueeze as unsqueeze
from .size import Size as Size
from .softmax import log_softmax as log_softmax
from .softmax import softmax as softmax

__all__ = [
    "erfinv",
    "histogram",
    "frombuffer",
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "Generator",
    "Parameter",
    "PerChannelQuantizer",
    "PerTensorQuantizer",
    "QuantizedTensor",
    "Size",
    "Tensor",
    "abs",
    "absolute",
    "acos",
    "add",
    "addbmm",
    "addcdiv",
    "addcmul",
    "addmm",
    "addmv",
    "all",
    "allclose",
    "amax",
    "amin",
    "aminmax",
    "any",
    "arange",
    "arccos",
    "arcsin",
    "arctan",
    "argmax",
    "argmin",
    "argsort",
    "argwhere",
    "as_strided",
    "as_tensor",
    "asin",
    "atan",
    "atan2",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "baddbmm",
    "bernoulli",
    "bincount",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "bmm",
    "broadcast_tensors",
    "broadcast_to",
    "bucketize",
    "can_cast",
    "cartesian_prod",
    "cat",
    "cdist",
    "ceil",
    "chunk",
    "clamp",
    "clamp_",
    "clamp_max",
    "clamp_min",
    "clip",
    "clone",
    "column_stack",
    "concat",
    "concatenate",
    "cos",
    "cosh",
    "count_nonzero",
    "cross",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "default_generator",
    "deg2rad",
    "dequantize",
    "diag",
    "diagonal",
    "diff",
    "dist",
    "div",
    "divide",
    "dot",
    "dstack",
    "einsum",
    "empty",
    "empty_like",
    "empty_strided",
    "eq",
    "equal",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "eye",
    "flatten",
    "flip",
    "fliplr",
    "flipud",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frac",
    "from_dlpack",
    "from_numpy",
    "full",
    "full_like",
    "gather",
    "ge",
    "get_default_dtype",
    "get_device",
    "get_rng_state",
    "greater",
    "greater_equal",
    "gt",
    "histc",
    "hstack",
    "hypot",
    "index_add",
    "index_copy",
    "index_fill",
    "index_put",
    "index_reduce",
    "index_select",
    "initial_seed",
    "inner",
    "int_repr",
    "is_complex",
    "is_floating_point",
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
    "kthvalue",
    "le",
    "lerp",
    "less",
    "less_equal",
    "linspace",
    "log",
    "log10",
    "log1p",
    "log2",
    "log_softmax",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "logit",
    "logspace",
    "logsumexp",
    "lt",
    "make_per_channel",
    "make_per_tensor",
    "make_quantized",
    "manual_seed",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "matmul",
    "max",
    "maximum",
    "mean",
    "median",
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
    "mv",
    "nan_to_num",
    "nanmean",
    "nansum",
    "narrow",
    "ne",
    "neg",
    "negative",
    "nonzero",
    "norm",
    "normal",
    "not_equal",
    "numel",
    "ones",
    "ones_like",
    "outer",
    "permute",
    "positive",
    "pow",
    "prod",
    "promote_types",
    "q_per_channel_axis",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_scale",
    "q_zero_point",
    "quantile",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_tensor_dynamic",
    "rad2deg",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "randperm",
    "ravel",
    "reciprocal",
    "relu",
    "relu_",
    "remainder",
    "repeat_interleave",
    "reshape",
    "result_type",
    "roll",
    "rot90",
    "round",
    "rsqrt",
    "rsub",
    "scalar_tensor",
    "scatter",
    "scatter_add",
    "scatter_reduce",
    "searchsorted",
    "seed",
    "select",
    "set_default_dtype",
    "set_printoptions",
    "set_rng_state",
    "sgn",
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
    "tile",
    "topk",
    "trace",
    "transpose",
    "tril",
    "tril_indices",
    "triu",
    "triu_indices",
    "true_divide",
    "trunc",
    "typename",
    "unbind",
    "unflatten",
    "unique",
    "unique_consecutive",
    "unsqueeze",
    "var",
    "var_mean",
    "vdot",
    "vstack",
    "where",
    "xlogy",
    "zeros",
    "zeros_like",
]


class _CallableModule(ModuleType):
    """``pyqref.tensor`` names this package and the function ``tensor``: the package is callable.

    The name stands for the function; tools that import the package again, and so put it
    in the place of the function, do no harm.
    """

    def __call__(self, data: object, **options: Any) -> Any:
        return tensor(data, **options)


sys.modules[__name__].__class__ = _CallableModule
