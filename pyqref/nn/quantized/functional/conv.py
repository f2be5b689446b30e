"""The quantized convolutions as functions: the weight is packed in each call."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref._typing import Dtype, Ints, Tensor
from pyqref.ops import quantized as ops
from pyqref.tensor.arguments import described

__all__ = ["conv1d", "conv2d", "conv3d"]


def conv1d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Dtype = dtypes.quint8,
) -> Tensor:
    """One-dimensional form of :func:`conv2d`.

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
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Dtype = dtypes.quint8,
) -> Tensor:
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
    input: Tensor,
    weight: Tensor,
    bias: Tensor,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Dtype = dtypes.quint8,
) -> Tensor:
    """Three-dimensional form of :func:`conv2d`.

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
