"""Layers on integers followed by a function, with one rounding for both.

torch 2.13 has them for the engine ``onednn`` only; here they run on every engine, with
the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.parts import parts
from pyqref._typing import Tensor
from pyqref.dtypes import qint8, quint8
from pyqref.numerics.elementwise import Grid
from pyqref.numerics.fused_function import leaky
from pyqref.tensor.quantized import (
    PerTensorQuantizer,
    QuantizedTensor,
    make_per_tensor,
    make_quantized,
)
from pyqref.tensor.quantized.other_arithmetic import replaced

from .checks import (
    output_quantizer,
    require_number,
    require_output_parameters,
    require_per_tensor,
)
from .conv_run import require_conv_input, require_packed_conv
from .linear import require_linear_input
from .packed import PackedLinear
from .packed_conv import PackedConv

__all__ = ["conv2d_add", "conv2d_add_relu", "linear_leaky_relu", "linear_tanh"]

#: Real numbers of a part, to which a function is applied.
_PART = 1 << 15


def linear_leaky_relu(
    X: Tensor,
    W_prepack: PackedLinear,
    Y_scale_i: float,
    Y_zero_point_i: int,
    negative_slope: float = 0.01,
) -> Tensor:
    r"""Quantized linear layer and leaky ReLU in one.

    Equation ``eq-requantize-function`` with :math:`g(v) = v` where v > 0, else
    ``negative_slope * v``.

    Parameters
    ----------
    X, W_prepack, Y_scale_i, Y_zero_point_i
        As in :func:`pyqref.ops.quantized.linear`.
    negative_slope
        Factor of negative values.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[3.0, -1.0]]), 0.5, 0, pyqref.qint8)
    >>> packed = ops.linear_prepack(w, pyqref.tensor([0.5]))
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, 2.0]]), 0.5, 0, pyqref.quint8)
    >>> ops.linear_leaky_relu(x, packed, 0.125, 8).item()
    1.5
    """
    name = "quantized.linear_leaky_relu"
    function = leaky(require_number(name, "negative_slope", negative_slope))
    return _linear(name, X, W_prepack, Y_scale_i, Y_zero_point_i, function)


def linear_tanh(
    X: Tensor, W_prepack: PackedLinear, Y_scale_i: float, Y_zero_point_i: int
) -> Tensor:
    r"""Quantized linear layer and tanh in one.

    Equation ``eq-requantize-function`` with :math:`g = \tanh`; parameters as in
    :func:`pyqref.ops.quantized.linear`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[3.0, -1.0]]), 0.5, 0, pyqref.qint8)
    >>> packed = ops.linear_prepack(w, pyqref.tensor([0.5]))
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, 2.0]]), 0.5, 0, pyqref.quint8)
    >>> ops.linear_tanh(x, packed, 0.125, 8).item()
    0.875
    """
    return _linear("quantized.linear_tanh", X, W_prepack, Y_scale_i, Y_zero_point_i, np.tanh)


def conv2d_add(
    qx: Tensor,
    qaccum: Tensor,
    packed_weight: PackedConv,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    r"""Quantized 2-D convolution and the addition of another tensor in one.

    Equation ``eq-requantize-function`` with :math:`g(v) = v + s_o (q_o - z_o)`.

    Parameters
    ----------
    qx
        quint8 ``(B, C, H, W)``.
    qaccum
        What is added: quint8 or qint8 of the shape of the output, or of one that broadcasts
        to it, with a scale and zero point of its own.
    packed_weight
        From :func:`pyqref.ops.quantized.conv2d_prepack`.
    output_scale, output_zero_point
        Parameters of the output, quint8 ``(B, N, H_out, W_out)``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 1, 1), 0.1, 0, pyqref.qint8)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 5, 5), 1 / 255, 0, pyqref.quint8)
    >>> y = pyqref.quantize_per_tensor(pyqref.rand(2, 4, 5, 5), 1 / 255, 0, pyqref.quint8)
    >>> ops.conv2d_add(x, y, ops.conv2d_prepack(w, pyqref.zeros(4)), 0.1, 128).shape
    pyqref.Size([2, 4, 5, 5])
    """
    name = "quantized.conv2d_add"
    return _conv_add(name, qx, qaccum, packed_weight, output_scale, output_zero_point, False)


def conv2d_add_relu(
    qx: Tensor,
    qaccum: Tensor,
    packed_weight: PackedConv,
    output_scale: float,
    output_zero_point: int,
) -> Tensor:
    """:func:`conv2d_add`, with negative sums replaced by zero.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 1, 1), 0.1, 0, pyqref.qint8)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 5, 5), 1 / 255, 0, pyqref.quint8)
    >>> y = pyqref.quantize_per_tensor(pyqref.rand(2, 4, 5, 5), 1 / 255, 0, pyqref.quint8)
    >>> ops.conv2d_add_relu(x, y, ops.conv2d_prepack(w, pyqref.zeros(4)), 0.1, 128).shape
    pyqref.Size([2, 4, 5, 5])
    """
    name = "quantized.conv2d_add_relu"
    return _conv_add(name, qx, qaccum, packed_weight, output_scale, output_zero_point, True)


def _linear(
    name: str,
    x: Any,
    packed: Any,
    scale: float,
    zero_point: int,
    function: Callable[[np.ndarray], np.ndarray],
) -> Any:
    own = require_linear_input(name, x, packed)
    scale, zero_point = require_output_parameters(name, scale, zero_point)
    out = Grid(scale, zero_point)
    made = replaced(name, "fused", packed, x._array, own.grid, out, function)
    if made is not None:
        return make_per_tensor(made, scale, zero_point, quint8)
    bias = None if packed.bias_tensor is None else packed.bias_tensor.numpy()
    result = np.empty((*x.shape[:-1], packed.shape[0]), np.uint8)
    for at in parts(result, whole=(x.dim() - 1,), most=_PART):
        # The engine that has these operations multiplies and adds in two steps.
        real = _kernels.linear_float(
            x._array[at[:-1]],
            x.q_zero_point(),
            packed.packed,
            packed.weight_zero_points,
            x.q_scale(),
            packed.weight_scales,
            bias,
            "qnnpack",
        )
        result[at] = _kernels.quantize_per_tensor(
            function(real), scale, zero_point, 0, 255, np.uint8
        )
    return make_per_tensor(result, scale, zero_point, quint8)


def _conv_add(
    name: str, x: Any, other: Any, packed: Any, scale: float, zero_point: int, relu: bool
) -> Any:
    call = None
    if (
        type(x) is QuantizedTensor
        and type(other) is QuantizedTensor
        and isinstance(packed, PackedConv)
        and type(scale) is float
        and type(zero_point) is int
    ):
        inputs = x._quantizer, x._array.shape, other._quantizer, other._array.shape
        call = packed.call(name, *inputs, scale, zero_point)
        last = packed.prepared
        if last.call == call:
            return make_quantized(last.run(x._array, other._array), last.out)
    own = require_per_tensor(name, x, (quint8,))
    others = require_per_tensor(name, other, (quint8, qint8), "qaccum")
    require_packed_conv(name, packed, 2, transposed=False)
    out = output_quantizer(name, scale, zero_point)
    require_conv_input(name, x, packed)
    shape = (x.shape[0], packed.shape[0], *packed.out_size(tuple(x.shape[2:])))
    added = other._array
    if added.shape != shape:
        call = None
        try:
            added = np.ascontiguousarray(np.broadcast_to(added, shape))
        except ValueError:
            raise RuntimeError(
                f"{name}: qaccum must have the shape {shape} of the output, or one that broadcasts "
                f"to it, got {tuple(other.shape)}"
            ) from None
    made = _added_elsewhere(name, x._array, own, packed, added, others, out, relu)
    if made is not None:
        return make_quantized(made, out)
    run = packed.prepare_add(x._array, own.grid, added, others.grid, out.grid, relu)
    packed.keep(call, run, out)
    return make_quantized(run(x._array, added), out)


def _added_elsewhere(
    name: str,
    x: np.ndarray,
    own: PerTensorQuantizer,
    packed: PackedConv,
    added: np.ndarray,
    others: PerTensorQuantizer,
    out: PerTensorQuantizer,
    relu: bool,
) -> np.ndarray | None:
    """The sum in the arithmetic in use; None if the engine is to compute it."""

    def function(real: np.ndarray) -> np.ndarray:
        total = real + others.dequantize(added)
        return np.maximum(total, total.dtype.type(0)) if relu else total

    made: np.ndarray | None = replaced(name, "fused", packed, x, own.grid, out.grid, function)
    return made
