"""Functional forms of the quantized layers; those that round take output parameters."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops
from pyqref.tensor.arguments import as_number, described

from .functional_activation import celu as celu
from .functional_activation import elu as elu
from .functional_activation import hardsigmoid as hardsigmoid
from .functional_activation import hardswish as hardswish
from .functional_activation import leaky_relu as leaky_relu
from .functional_activation import threshold as threshold
from .functional_pooling import adaptive_avg_pool3d as adaptive_avg_pool3d
from .functional_pooling import avg_pool3d as avg_pool3d
from .functional_pooling import divisor
from .functional_pooling import max_pool1d as max_pool1d
from .functional_resize import interpolate as interpolate
from .functional_resize import upsample as upsample
from .functional_resize import upsample_bilinear as upsample_bilinear
from .functional_resize import upsample_nearest as upsample_nearest

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


def relu(input: Any, inplace: bool = False) -> Any:
    r"""Rectified linear unit: :math:`\max(q, z)` on the integers.

    Parameters
    ----------
    input
        Quantized tensor of any dtype.
    inplace
        Write the result into ``input``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.relu(q).dequantize().tolist()
    [0.0, 0.5, 3.0]
    """
    ops.require_per_tensor("quantized.functional.relu", input)
    return ops.relu(input, inplace)


def linear(
    input: Any,
    weight: Any,
    bias: Any = None,
    scale: float | None = None,
    zero_point: int | None = None,
) -> Any:
    r"""Linear map of quantized data, :math:`y = x W^T + b` (``eq-linear-accumulator``).

    Parameters
    ----------
    input
        quint8 ``(*, in_features)``, at least two dimensions.
    weight
        qint8 ``(out_features, in_features)``.
    bias
        float32 ``(out_features,)``, or None.
    scale, zero_point
        Of the output; those of the input if None.

    Notes
    -----
    The weight is packed at every call; :class:`pyqref.nn.quantized.Linear` packs it once.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[1.0, 2.0]]), 0.5, 0, pyqref.quint8)
    >>> w = pyqref.quantize_per_tensor(pyqref.tensor([[3.0, -1.0]]), 0.5, 0, pyqref.qint8)
    >>> qF.linear(x, w, pyqref.tensor([0.5]), scale=0.5, zero_point=0).item()
    1.5
    """
    ops.require_per_tensor("quantized.functional.linear", input, (dtypes.quint8,))
    scale = input.q_scale() if scale is None else scale
    zero_point = input.q_zero_point() if zero_point is None else zero_point
    return ops.linear(input, ops.linear_prepack(weight, bias), scale, zero_point)


def conv1d(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Any = dtypes.quint8,
) -> Any:
    """As :func:`conv2d`, along one dimension.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.quantize_per_tensor(pyqref.randn(2, 4, 8), 0.1, 128, pyqref.quint8)
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(8, 4, 3), 0.1, 0, pyqref.qint8)
    >>> qF.conv1d(x, w, pyqref.zeros(8), padding=1, scale=0.2, zero_point=128).shape
    pyqref.Size([2, 8, 8])
    """
    _require_conv_options("conv1d", padding_mode, dtype)
    packed = ops.conv1d_prepack(weight, bias, stride, padding, dilation, groups)
    return ops.conv1d(input, packed, scale, zero_point)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Any = dtypes.quint8,
) -> Any:
    r"""2-D convolution of quantized data (``eq-conv-accumulator``).

    Parameters
    ----------
    input
        quint8 ``(N, C_in, H, W)``.
    weight
        qint8 ``(C_out, C_in / groups, kH, kW)``.
    bias
        float32 ``(C_out,)``, or None.
    stride, padding, dilation
        An integer, or one for each spatial dimension.
    groups
        Divides the channels.
    padding_mode
        ``"zeros"`` only.
    scale, zero_point
        Of the output.
    dtype
        Of the output: quint8 only.

    Raises
    ------
    RuntimeError
        Input or weight has another dtype or a shape that does not fit.
    ValueError
        ``padding_mode`` or ``dtype`` is another.

    Notes
    -----
    The example in the documentation of 1.4 passes ``scale, zero_point`` where
    ``stride`` stands, a weight of quint8 and a bias of the wrong length; corrected:

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> filters, inputs = pyqref.randn(8, 4, 3, 3), pyqref.randn(1, 4, 5, 5)
    >>> bias = pyqref.randn(8)
    >>> scale, zero_point = 1.0, 0
    >>> q_filters = pyqref.quantize_per_tensor(filters, scale, zero_point, pyqref.qint8)
    >>> q_inputs = pyqref.quantize_per_tensor(inputs, scale, zero_point, pyqref.quint8)
    >>> y = qF.conv2d(q_inputs, q_filters, bias, padding=1, scale=scale, zero_point=zero_point)
    >>> tuple(y.size())
    (1, 8, 5, 5)
    """
    _require_conv_options("conv2d", padding_mode, dtype)
    packed = ops.conv2d_prepack(weight, bias, stride, padding, dilation, groups)
    return ops.conv2d(input, packed, scale, zero_point)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Any = dtypes.quint8,
) -> Any:
    """As :func:`conv2d`, along three dimensions.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.quantize_per_tensor(pyqref.randn(2, 4, 4, 6, 6), 0.1, 128, pyqref.quint8)
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(8, 4, 3, 3, 3), 0.1, 0, pyqref.qint8)
    >>> qF.conv3d(x, w, pyqref.zeros(8), padding=1, scale=0.2, zero_point=128).shape
    pyqref.Size([2, 8, 4, 6, 6])
    """
    _require_conv_options("conv3d", padding_mode, dtype)
    packed = ops.conv3d_prepack(weight, bias, stride, padding, dilation, groups)
    return ops.conv3d(input, packed, scale, zero_point)


def _require_conv_options(name: str, padding_mode: str, dtype: Any) -> None:
    if not isinstance(padding_mode, str) or padding_mode != "zeros":
        raise ValueError(
            f"quantized.functional.{name}: padding_mode must be 'zeros', "
            f"got {described(padding_mode)}"
        )
    if dtype is not dtypes.quint8:
        raise ValueError(
            f"quantized.functional.{name}: dtype must be quint8, got {described(dtype)}"
        )


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest integer of each window; scale and zero point stay as they are.

    Parameters
    ----------
    input
        Quantized ``(N, C, H, W)`` or ``(C, H, W)``.
    kernel_size, stride, padding, dilation, ceil_mode
        As of :func:`pyqref.nn.functional.max_pool2d`.
    return_indices
        Must be False.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(16.0).reshape(1, 1, 4, 4)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> qF.max_pool2d(q, 2).dequantize().tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    ops.require_per_tensor("quantized.functional.max_pool2d", input)
    ops.require_flags(
        "quantized.functional.max_pool2d", ceil_mode=ceil_mode, return_indices=return_indices
    )
    if return_indices:
        raise ValueError("quantized.functional.max_pool2d: return_indices must be False, got True")
    return F.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """Mean of each window, rounded once; scale and zero point stay as they are.

    Parameters
    ----------
    input
        Quantized ``(N, C, H, W)`` or ``(C, H, W)``.
    kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        As of :func:`pyqref.nn.functional.avg_pool2d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(16.0).reshape(1, 1, 4, 4)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> qF.avg_pool2d(q, 2).dequantize().tolist()  # 2.5 is rounded to 2
    [[[[2.0, 4.0], [10.0, 12.0]]]]
    """
    ops.require_per_tensor("quantized.functional.avg_pool2d", input)
    ops.require_flags(
        "quantized.functional.avg_pool2d", ceil_mode=ceil_mode, count_include_pad=count_include_pad
    )
    divisor_override = divisor("avg_pool2d", divisor_override)
    return F.avg_pool2d(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Any:
    """Mean over windows such that the output has a given size.

    Scale and zero point stay as they are.

    Parameters
    ----------
    input
        Quantized ``(N, C, H, W)`` or ``(C, H, W)``.
    output_size
        An integer, or a pair of integers (None: as the input).

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(16.0).reshape(1, 1, 4, 4)
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 0, pyqref.quint8)
    >>> qF.adaptive_avg_pool2d(q, 1).item()
    7.5
    """
    ops.require_per_tensor("quantized.functional.adaptive_avg_pool2d", input)
    return F.adaptive_avg_pool2d(input, output_size)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """Clamp to [min_val, max_val] on the integers; scale and zero point stay as they are.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.hardtanh(q, -1.0, 1.0).dequantize().tolist()
    [-1.0, 0.5, 1.0]
    """
    ops.require_per_tensor("quantized.functional.hardtanh", input)
    ops.require_flags("quantized.functional.hardtanh", inplace=inplace)
    min_val = as_number(min_val, "quantized.functional.hardtanh: min_val")
    max_val = as_number(max_val, "quantized.functional.hardtanh: max_val")
    return F.hardtanh(input, min_val, max_val, inplace)


def clamp(input: Any, min_: float, max_: float) -> Any:
    """Clamp to ``[min_, max_]`` on the integers; scale and zero point stay as they are.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.tensor([-2.0, 0.5, 3.0])
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 128, pyqref.quint8)
    >>> qF.clamp(q, 0.0, 1.0).dequantize().tolist()
    [0.0, 0.5, 1.0]
    """
    return ops.clamp(input, min_, max_)
