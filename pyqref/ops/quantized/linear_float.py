"""Linear layers with a given grid for their float input, and unpacked float16 weights."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._kernels.layout import PART
from pyqref._kernels.parts import by_rows
from pyqref._typing import Tensor
from pyqref.tensor.base import wrap

from .checks import require_float, require_output_parameters, require_packed
from .linear_dynamic import linear_dynamic_fp16, linear_prepack_fp16
from .packed import PackedLinear

__all__ = [
    "linear_dynamic_fp16_unpacked_weight",
    "linear_with_input_q_dq_qweight_dq_output_fp32",
    "linear_with_input_q_dq_qweight_dq_relu_output_fp32",
]


def linear_with_input_q_dq_qweight_dq_output_fp32(
    X: Tensor, X_scale: float, X_zero_point: int, W_prepack: PackedLinear
) -> Tensor:
    r"""Linear layer with float input and output, the input quantized with given parameters.

    :math:`y = \mathrm{dequantize}(\mathrm{quantize}(x))\,\mathrm{dequantize}(W)^T + b`, on
    integers: equations ``eq-affine-quantize``, ``eq-linear-accumulator`` and
    ``eq-dynamic-output``.

    Parameters
    ----------
    X
        float32 ``(*, K)``.
    X_scale, X_zero_point
        Grid of the input, quint8.
    W_prepack
        From :func:`pyqref.ops.quantized.linear_prepack`.

    Examples
    --------
    >>> import pyqref
    >>> linear = pyqref.ops.quantized.linear_with_input_q_dq_qweight_dq_output_fp32
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[2.0]]), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.linear_prepack(w, pyqref.tensor([0.25]))
    >>> linear(pyqref.tensor([[1.4], [1e6]]), 1.0, 0, packed).flatten().tolist()
    [2.25, 510.25]
    """
    name = "quantized.linear_with_input_q_dq_qweight_dq_output_fp32"
    return wrap(_linear(name, X, X_scale, X_zero_point, W_prepack))


def linear_with_input_q_dq_qweight_dq_relu_output_fp32(
    X: Tensor, X_scale: float, X_zero_point: int, W_prepack: PackedLinear
) -> Tensor:
    """:func:`linear_with_input_q_dq_qweight_dq_output_fp32`, negative results made zero."""
    name = "quantized.linear_with_input_q_dq_qweight_dq_relu_output_fp32"
    y = _linear(name, X, X_scale, X_zero_point, W_prepack)
    return wrap(np.maximum(y, np.float32(0), out=y))


def linear_dynamic_fp16_unpacked_weight(
    X: Tensor, weight: Tensor, bias: Tensor | None = None
) -> Tensor:
    """:func:`pyqref.ops.quantized.linear_dynamic_fp16` of a float32 weight ``(N, K)``."""
    return linear_dynamic_fp16(X, linear_prepack_fp16(weight, bias))


def _linear(name: str, x: Any, scale: float, zero_point: int, packed: Any) -> np.ndarray:
    require_float(name, x)
    scale, zero_point = require_output_parameters(name, scale, zero_point)
    require_packed(name, "W_prepack", packed, PackedLinear, "linear_prepack")
    if x.dim() < 2 or x.shape[-1] != packed.shape[1]:
        raise RuntimeError(
            f"{name}: input must have at least 2 dimensions, the last of length "
            f"{packed.shape[1]}, got shape {tuple(x.shape)}"
        )
    array = x._array
    if array.size > PART:
        run = partial(_run, packed=packed, scale=scale, zero_point=zero_point)
        return by_rows(run, array, packed.shape[0], np.float32)
    return _run(np.ascontiguousarray(array), packed, scale, zero_point)


def _run(x: np.ndarray, packed: PackedLinear, scale: float, zero_point: int) -> np.ndarray:
    integers = _kernels.quantize_per_tensor(x, scale, zero_point, 0, 255, np.uint8)
    return packed.run_float(integers, zero_point, scale)
