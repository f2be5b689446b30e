"""Transposed convolutions on integers, in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Ints, Tensor
from pyqref.backends import quantized as settings

from .checks import require_bias, require_weight, tuple_of, unpacked
from .conv_run import convolve, require_groups
from .packed_conv import PackedConvTranspose

__all__ = [
    "conv_transpose1d",
    "conv_transpose1d_prepack",
    "conv_transpose1d_unpack",
    "conv_transpose2d",
    "conv_transpose2d_prepack",
    "conv_transpose2d_unpack",
    "conv_transpose3d",
    "conv_transpose3d_prepack",
    "conv_transpose3d_unpack",
]


def conv_transpose1d_prepack(
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> PackedConvTranspose:
    """Pack a weight ``(C, N / groups, K)``, like :func:`conv_transpose2d_prepack`."""
    return _prepack(1, weight, bias, stride, padding, output_padding, dilation, groups)


def conv_transpose2d_prepack(
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> PackedConvTranspose:
    """Make a weight ready for :func:`conv_transpose2d`, on the engine that is set now.

    Parameters
    ----------
    weight
        qint8 ``(C, N / groups, kH, kW)``, per tensor; with the engine qnnpack and one
        group also per channel along axis 1.
    bias
        float32 ``(N,)``, or None.
    stride, padding, output_padding, dilation
        An integer, or one for each spatial dimension.
    groups
        Divides C.

    Raises
    ------
    RuntimeError
        The weight is quantized per channel and the engine is not qnnpack, or there are
        several groups.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 2, 2), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose2d_prepack(w, None, stride=2)
    >>> x = pyqref.quantize_per_tensor(pyqref.full((1, 1, 1, 1), 3.0), 1.0, 0, pyqref.quint8)
    >>> pyqref.ops.quantized.conv_transpose2d(x, packed, 1.0, 0).int_repr().tolist()
    [[[[3, 3], [3, 3]]]]
    """
    return _prepack(2, weight, bias, stride, padding, output_padding, dilation, groups)


def conv_transpose3d_prepack(
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    output_padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> PackedConvTranspose:
    """Pack a weight ``(C, N / groups, kD, kH, kW)``, like :func:`conv_transpose2d_prepack`."""
    return _prepack(3, weight, bias, stride, padding, output_padding, dilation, groups)


def conv_transpose1d_unpack(packed_weights: PackedConvTranspose) -> tuple[Tensor, Tensor | None]:
    """The weight and the bias that were packed.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3), 0.5, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose1d_prepack(w, pyqref.tensor([3.0]))
    >>> weight, bias = pyqref.ops.quantized.conv_transpose1d_unpack(packed)
    >>> weight.shape, weight.q_scale(), bias.item()
    (pyqref.Size([1, 1, 3]), 0.5, 3.0)
    """
    return _unpack("conv_transpose1d_unpack", packed_weights)


def conv_transpose2d_unpack(packed_weights: PackedConvTranspose) -> tuple[Tensor, Tensor | None]:
    """The weight and the bias that were packed.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 0.5, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose2d_prepack(w, pyqref.tensor([3.0]))
    >>> weight, bias = pyqref.ops.quantized.conv_transpose2d_unpack(packed)
    >>> weight.shape, weight.q_scale(), bias.item()
    (pyqref.Size([1, 1, 3, 3]), 0.5, 3.0)
    """
    return _unpack("conv_transpose2d_unpack", packed_weights)


def conv_transpose3d_unpack(packed_weights: PackedConvTranspose) -> tuple[Tensor, Tensor | None]:
    """The weight and the bias that were packed.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 0.5, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose3d_prepack(w, pyqref.tensor([3.0]))
    >>> weight, bias = pyqref.ops.quantized.conv_transpose3d_unpack(packed)
    >>> weight.shape, weight.q_scale(), bias.item()
    (pyqref.Size([1, 1, 3, 3, 3]), 0.5, 3.0)
    """
    return _unpack("conv_transpose3d_unpack", packed_weights)


def conv_transpose1d(
    qx: Tensor, packed_weight: PackedConvTranspose, output_scale: float, output_zero_point: int
) -> Tensor:
    """One-dimensional form of :func:`conv_transpose2d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(1, 4, 3), 0.1, 0, pyqref.qint8)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 8), 1 / 255, 0, pyqref.quint8)
    >>> packed = ops.conv_transpose1d_prepack(w, pyqref.zeros(4))
    >>> ops.conv_transpose1d(x, packed, 0.1, 128).shape
    pyqref.Size([2, 4, 10])
    """
    return convolve(
        "quantized.conv_transpose1d",
        1,
        qx,
        packed_weight,
        output_scale,
        output_zero_point,
        transposed=True,
    )


def conv_transpose2d(
    qx: Tensor, packed_weight: PackedConvTranspose, output_scale: float, output_zero_point: int
) -> Tensor:
    r"""Quantized 2-D transposed convolution.

    Equations ``eq-conv-transpose-accumulator`` and ``eq-requantize``.

    Parameters
    ----------
    qx
        quint8 ``(B, C, H, W)``, quantized per tensor.
    packed_weight
        From :func:`conv_transpose2d_prepack`.
    output_scale, output_zero_point
        Parameters of the output, quint8 ``(B, N, H_out, W_out)`` with
        ``out = (in - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1``.

    Raises
    ------
    RuntimeError
        The input has another dtype, number of dimensions or of channels, or nothing is
        left of the output.
    ValueError
        The scale is not positive and finite, or the zero point is not in [0, 255].

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 1, 2), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose2d_prepack(w, None, stride=(1, 2))
    >>> x = pyqref.quantize_per_tensor(pyqref.tensor([[[[1.0, 2.0]]]]), 1.0, 0, pyqref.quint8)
    >>> pyqref.ops.quantized.conv_transpose2d(x, packed, 1.0, 0).int_repr().tolist()
    [[[[1, 1, 2, 2]]]]
    """
    return convolve(
        "quantized.conv_transpose2d",
        2,
        qx,
        packed_weight,
        output_scale,
        output_zero_point,
        transposed=True,
    )


def conv_transpose3d(
    qx: Tensor, packed_weight: PackedConvTranspose, output_scale: float, output_zero_point: int
) -> Tensor:
    """Three-dimensional form of :func:`conv_transpose2d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(1, 4, 3, 3, 3), 0.1, 0, pyqref.qint8)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 4, 6, 6), 1 / 255, 0, pyqref.quint8)
    >>> packed = ops.conv_transpose3d_prepack(w, pyqref.zeros(4))
    >>> ops.conv_transpose3d(x, packed, 0.1, 128).shape
    pyqref.Size([2, 4, 6, 8, 8])
    """
    return convolve(
        "quantized.conv_transpose3d",
        3,
        qx,
        packed_weight,
        output_scale,
        output_zero_point,
        transposed=True,
    )


def _prepack(
    spatial: int,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
) -> PackedConvTranspose:
    name = f"quantized.conv_transpose{spatial}d_prepack"
    require_weight(name, weight, spatial + 2, axis=1)
    require_groups(name, groups, weight.shape[0], "input channels")
    require_bias(name, bias, weight.shape[1] * groups)
    if weight.qscheme().is_per_channel and (settings.engine != "qnnpack" or groups > 1):
        raise RuntimeError(
            f"{name}: the weight of a transposed convolution must be quantized per tensor (per "
            "channel with engine 'qnnpack' and one group only), got engine "
            f"{settings.engine!r} and groups={groups}; use default_weight_observer"
        )
    strides = tuple_of(name, "stride", stride, spatial, 1)
    dilations = tuple_of(name, "dilation", dilation, spatial, 1)
    extra = tuple_of(name, "output_padding", output_padding, spatial, 0)
    for each, s, d in zip(extra, strides, dilations, strict=True):
        if each >= max(s, d):
            raise RuntimeError(
                f"{name}: output_padding must be smaller than stride or dilation, got "
                f"{extra} with stride {strides} and dilation {dilations}"
            )
    return PackedConvTranspose(
        weight,
        None if bias is None else bias.detach(),
        strides,
        tuple_of(name, "padding", padding, spatial, 0),
        extra,
        dilations,
        int(groups),
    )


def _unpack(operation: str, packed: Any) -> tuple[Any, Any]:
    name = f"quantized.{operation}"
    parts: tuple[Any, Any] = unpacked(name, "packed_weights", packed, PackedConvTranspose)
    return parts
