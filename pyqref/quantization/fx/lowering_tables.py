"""Tables of reference patterns and their lowered forms, which the passes read."""

from __future__ import annotations

import operator
from typing import Any

from pyqref.dtypes import float16, qint8, quint8
from pyqref.nn import functional as F
from pyqref.nn import intrinsic as nni
from pyqref.nn import modules as nn
from pyqref.nn import quantized as nnq
from pyqref.nn.intrinsic import quantized as nniq
from pyqref.nn.intrinsic.quantized import dynamic as nniqd
from pyqref.nn.quantized import dynamic as nnqd
from pyqref.nn.quantized import reference as nnqr
from pyqref.ops import quantized as ops
from pyqref.quantization.backend_config import ObservationType, get_native_backend_config
from pyqref.quantization.backend_config.patterns.pointwise import FIXED_QPARAMS
from pyqref.tensor import add, cat, matmul, mul, relu

__all__ = [
    "ARGUMENTS_TO_SKIP",
    "BINARY",
    "DYNAMIC_FUNCTIONS",
    "DYNAMIC_MODULES",
    "KEEPS_GRID",
    "PREPACK",
    "RELU_FUNCTIONS",
    "STATIC_FUNCTIONS",
    "STATIC_MODULES",
    "WEIGHT_ONLY_MODULES",
    "WITH_GRID_FUNCTIONS",
    "WITH_GRID_MODULES",
]

#: Reference class, or fused class with the reference class of its first layer: quantized class.
STATIC_MODULES: dict[Any, Any] = {
    nnqr.Linear: nnq.Linear,
    nnqr.Conv1d: nnq.Conv1d,
    nnqr.Conv2d: nnq.Conv2d,
    nnqr.Conv3d: nnq.Conv3d,
    nnqr.ConvTranspose1d: nnq.ConvTranspose1d,
    nnqr.ConvTranspose2d: nnq.ConvTranspose2d,
    nnqr.ConvTranspose3d: nnq.ConvTranspose3d,
    (nni.LinearReLU, nnqr.Linear): nniq.LinearReLU,
    (nni.LinearLeakyReLU, nnqr.Linear): nniq.LinearLeakyReLU,
    (nni.LinearTanh, nnqr.Linear): nniq.LinearTanh,
    (nni.ConvReLU1d, nnqr.Conv1d): nniq.ConvReLU1d,
    (nni.ConvReLU2d, nnqr.Conv2d): nniq.ConvReLU2d,
    (nni.ConvReLU3d, nnqr.Conv3d): nniq.ConvReLU3d,
    (nni.ConvAdd2d, nnqr.Conv2d): nniq.ConvAdd2d,
    (nni.ConvAddReLU2d, nnqr.Conv2d): nniq.ConvAddReLU2d,
}

#: The same for layers whose input is quantized when the model runs.
DYNAMIC_MODULES: dict[Any, Any] = {
    nnqr.Linear: nnqd.Linear,
    nnqr.GRUCell: nnqd.GRUCell,
    nnqr.LSTMCell: nnqd.LSTMCell,
    nnqr.RNNCell: nnqd.RNNCell,
    nnqr.LSTM: nnqd.LSTM,
    nnqr.GRU: nnqd.GRU,
    (nni.LinearReLU, nnqr.Linear): nniqd.LinearReLU,
}

#: Layers with a quantized weight and float activations.
WEIGHT_ONLY_MODULES: dict[Any, Any] = {
    nnqr.Embedding: nnq.Embedding,
    nnqr.EmbeddingBag: nnq.EmbeddingBag,
}

#: Layers without weights on a grid, that are given one for their output.
WITH_GRID_MODULES: dict[Any, Any] = {
    nn.BatchNorm2d: nnq.BatchNorm2d,
    nn.BatchNorm3d: nnq.BatchNorm3d,
    nni.BNReLU2d: nniq.BNReLU2d,
    nni.BNReLU3d: nniq.BNReLU3d,
    nn.Hardswish: nnq.Hardswish,
    nn.InstanceNorm1d: nnq.InstanceNorm1d,
    nn.InstanceNorm2d: nnq.InstanceNorm2d,
    nn.InstanceNorm3d: nnq.InstanceNorm3d,
    nn.LayerNorm: nnq.LayerNorm,
    nn.Dropout: nnq.Dropout,
    nn.Softmax: nnq.Softmax,
    nn.ELU: nnq.ELU,
    nn.LeakyReLU: nnq.LeakyReLU,
    nn.PReLU: nnq.PReLU,
}

#: Functions that are given a grid for their output, by ``output_scale`` and the like.
WITH_GRID_FUNCTIONS: dict[Any, Any] = {
    F.elu: ops.elu,
    F.hardswish: ops.hardswish,
    F.instance_norm: ops.instance_norm,
    F.layer_norm: ops.layer_norm,
    F.leaky_relu: ops.leaky_relu,
    F.dropout: ops.dropout,
}

#: Arguments of the float functions that the quantized ones do not have.
ARGUMENTS_TO_SKIP: dict[Any, tuple[str, ...]] = {
    ops.hardswish: ("inplace",),
    ops.elu: ("inplace",),
    ops.dropout: ("inplace",),
    ops.instance_norm: ("running_mean", "running_var", "use_input_stats", "momentum"),
}

#: Function: quantized function, and that with ReLU.
STATIC_FUNCTIONS: dict[Any, tuple[Any, Any]] = {
    F.linear: (ops.linear, ops.linear_relu),
    F.conv1d: (ops.conv1d, ops.conv1d_relu),
    F.conv2d: (ops.conv2d, ops.conv2d_relu),
    F.conv3d: (ops.conv3d, ops.conv3d_relu),
    F.conv_transpose1d: (ops.conv_transpose1d, None),
    F.conv_transpose2d: (ops.conv_transpose2d, None),
    F.conv_transpose3d: (ops.conv_transpose3d, None),
}

#: Function and type of the input: quantized function, and that with ReLU.
DYNAMIC_FUNCTIONS: dict[Any, tuple[Any, Any]] = {
    (F.linear, quint8): (ops.linear_dynamic, ops.linear_relu_dynamic),
    (F.linear, qint8): (ops.linear_dynamic, ops.linear_relu_dynamic),
    (F.linear, float16): (ops.linear_dynamic_fp16, ops.linear_relu_dynamic_fp16),
    (F.conv1d, quint8): (ops.conv1d_dynamic, None),
    (F.conv2d, quint8): (ops.conv2d_dynamic, None),
    (F.conv3d, quint8): (ops.conv3d_dynamic, None),
}

_CONV = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
_CONV_TRANSPOSE = {"stride": 1, "padding": 0, "output_padding": 0, "groups": 1, "dilation": 1}
_TRANSPOSE_ORDER = ("stride", "padding", "output_padding", "dilation", "groups")

#: Function: what packs its weight; its options and their defaults, in the order of the
#: float function; their order in the packing function.
PREPACK: dict[Any, tuple[Any, dict[str, int], tuple[str, ...]]] = {
    F.linear: (ops.linear_prepack, {}, ()),
    F.conv1d: (ops.conv1d_prepack, _CONV, tuple(_CONV)),
    F.conv2d: (ops.conv2d_prepack, _CONV, tuple(_CONV)),
    F.conv3d: (ops.conv3d_prepack, _CONV, tuple(_CONV)),
    F.conv_transpose1d: (ops.conv_transpose1d_prepack, _CONV_TRANSPOSE, _TRANSPOSE_ORDER),
    F.conv_transpose2d: (ops.conv_transpose2d_prepack, _CONV_TRANSPOSE, _TRANSPOSE_ORDER),
    F.conv_transpose3d: (ops.conv_transpose3d_prepack, _CONV_TRANSPOSE, _TRANSPOSE_ORDER),
}
PREPACK_HALF: dict[Any, Any] = {F.linear: ops.linear_prepack_fp16}

#: Operator or function: quantized function, and that with ReLU.
BINARY: dict[Any, tuple[Any, Any]] = {
    operator.add: (ops.add, ops.add_relu),
    add: (ops.add, ops.add_relu),
    operator.mul: (ops.mul, ops.mul_relu),
    mul: (ops.mul, ops.mul_relu),
    matmul: (ops.matmul, None),
}

RELU_FUNCTIONS = (F.relu, relu)

_NO_GRID_OF_ITS_OWN = ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT

#: What works on quantized tensors as it is: on the grid of its input, or on a known one.
KEEPS_GRID: frozenset[Any] = frozenset(
    {
        each.pattern
        for each in get_native_backend_config().configs
        if each.observation_type is _NO_GRID_OF_ITS_OWN
    }
    | (FIXED_QPARAMS.keys() - {nn.Softmax})
    | {cat, F.channel_shuffle}
) - {operator.floordiv}
