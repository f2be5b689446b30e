"""Convolutions on integers, in one, two and three dimensions."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Ints, Tensor

from .checks import (
    padding_pairs,
    require_bias,
    require_weight,
    tuple_of,
    unpacked,
)
from .conv_run import convolve, require_groups
from .packed_conv import PackedConv

__all__ = [
    "conv1d",
    "conv1d_prepack",
    "conv1d_relu",
    "conv1d_unpack",
    "conv2d",
    "conv2d_prepack",
    "conv2d_relu",
    "conv2d_unpack",
    "conv3d",
    "conv3d_prepack",
    "conv3d_relu",
    "conv3d_unpack",
]


def conv1d_prepack(
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> PackedConv:
    """Pack a weight ``(N, C / groups, K)``, like :func:`conv2d_prepack`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 3), 0.1, 0, pyqref.qint8)
    >>> packed = ops.conv1d_prepack(w, pyqref.zeros(4), stride=2)
    >>> weight, bias = ops.conv1d_unpack(packed)
    >>> bool((weight.int_repr() == w.int_repr()).all())
    True
    """
    return _prepack(1, weight, bias, stride, padding, dilation, groups)


def conv2d_prepack(
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> PackedConv:
    """Make a weight ready for :func:`conv2d`, on the engine that is set now.

    Parameters
    ----------
    weight
        qint8 ``(N, C / groups, kH, kW)``, per tensor or per channel along axis 0.
    bias
        float32 ``(N,)``, or None.
    stride, padding, dilation
        An integer, or one for each spatial dimension; ``padding`` may be ``"valid"`` or, for odd
        kernels, ``"same"``.
    groups
        Divides N.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 3, 3), 0.1, 0, pyqref.qint8)
    >>> packed = ops.conv2d_prepack(w, pyqref.zeros(4), stride=2)
    >>> weight, bias = ops.conv2d_unpack(packed)
    >>> bool((weight.int_repr() == w.int_repr()).all())
    True
    """
    return _prepack(2, weight, bias, stride, padding, dilation, groups)


def conv3d_prepack(
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Ints = 1,
    padding: Ints = 0,
    dilation: Ints = 1,
    groups: int = 1,
) -> PackedConv:
    """Pack a weight ``(N, C / groups, kD, kH, kW)``, like :func:`conv2d_prepack`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 3, 3, 3), 0.1, 0, pyqref.qint8)
    >>> packed = ops.conv3d_prepack(w, pyqref.zeros(4), stride=2)
    >>> weight, bias = ops.conv3d_unpack(packed)
    >>> bool((weight.int_repr() == w.int_repr()).all())
    True
    """
    return _prepack(3, weight, bias, stride, padding, dilation, groups)


def conv1d_unpack(packed_weights: PackedConv) -> tuple[Tensor, Tensor | None]:
    """The weight and the bias that were packed.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3), 0.5, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv1d_prepack(w, pyqref.tensor([3.0]))
    >>> weight, bias = pyqref.ops.quantized.conv1d_unpack(packed)
    >>> weight.shape, weight.q_scale(), bias.item()
    (pyqref.Size([1, 1, 3]), 0.5, 3.0)
    """
    return _unpack("conv1d_unpack", packed_weights)


def conv2d_unpack(packed_weights: PackedConv) -> tuple[Tensor, Tensor | None]:
    """The weight and the bias that were packed.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 0.5, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv2d_prepack(w, pyqref.tensor([3.0]))
    >>> weight, bias = pyqref.ops.quantized.conv2d_unpack(packed)
    >>> weight.shape, weight.q_scale(), bias.item()
    (pyqref.Size([1, 1, 3, 3]), 0.5, 3.0)
    """
    return _unpack("conv2d_unpack", packed_weights)


def conv3d_unpack(packed_weights: PackedConv) -> tuple[Tensor, Tensor | None]:
    """The weight and the bias that were packed.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 0.5, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv3d_prepack(w, pyqref.tensor([3.0]))
    >>> weight, bias = pyqref.ops.quantized.conv3d_unpack(packed)
    >>> weight.shape, weight.q_scale(), bias.item()
    (pyqref.Size([1, 1, 3, 3, 3]), 0.5, 3.0)
    """
    return _unpack("conv3d_unpack", packed_weights)


def conv1d(
    qx: Tensor, packed_weight: PackedConv, output_scale: float, output_zero_point: int
) -> Tensor:
    """One-dimensional form of :func:`conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 3), 0.1, 0, pyqref.qint8)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 8), 1 / 255, 0, pyqref.quint8)
    >>> packed = ops.conv1d_prepack(w, pyqref.zeros(4))
    >>> ops.conv1d(x, packed, 0.1, 128).shape
    pyqref.Size([2, 4, 6])
    """
    return convolve("quantized.conv1d", 1, qx, packed_weight, output_scale, output_zero_point)


def conv1d_relu(
    qx: Tensor, packed_weight: PackedConv, output_scale: float, output_zero_point: int
) -> Tensor:
    """:func:`conv1d`, with no integer below the zero point of the output.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 3), 0.1, 0, pyqref.qint8)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 8), 1 / 255, 0, pyqref.quint8)
    >>> packed = ops.conv1d_prepack(w, pyqref.zeros(4))
    >>> ops.conv1d_relu(x, packed, 0.1, 128).shape
    pyqref.Size([2, 4, 6])
    """
    return convolve(
        "quantized.conv1d_relu", 1, qx, packed_weight, output_scale, output_zero_point, relu=True
    )


def conv2d(
    qx: Tensor, packed_weight: PackedConv, output_scale: float, output_zero_point: int
) -> Tensor:
    r"""Quantized 2-D convolution.

    Equations ``eq-conv-accumulator`` and ``eq-requantize``.

    Parameters
    ----------
    qx
        quint8 ``(B, C, H, W)``, quantized per tensor.
    packed_weight
        From :func:`conv2d_prepack`; holds stride, padding, dilation and groups.
    output_scale, output_zero_point
        Parameters of the output, quint8 ``(B, N, H_out, W_out)``.

    Raises
    ------
    RuntimeError
        The input has another dtype, number of dimensions or of channels, or is
        smaller than the kernel.
    ValueError
        The scale is not positive and finite, or the zero point is not in [0, 255].

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 3, 3), 0.1, 0, pyqref.qint8)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 8, 8), 1 / 255, 0, pyqref.quint8)
    >>> packed = ops.conv2d_prepack(w, pyqref.zeros(4))
    >>> ops.conv2d(x, packed, 0.1, 128).shape
    pyqref.Size([2, 4, 6, 6])
    """
    return convolve("quantized.conv2d", 2, qx, packed_weight, output_scale, output_zero_point)


def conv2d_relu(
    qx: Tensor, packed_weight: PackedConv, output_scale: float, output_zero_point: int
) -> Tensor:
    """:func:`conv2d`, with no integer below the zero point of the output.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 3, 3), 0.1, 0, pyqref.qint8)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 8, 8), 1 / 255, 0, pyqref.quint8)
    >>> packed = ops.conv2d_prepack(w, pyqref.zeros(4))
    >>> ops.conv2d_relu(x, packed, 0.1, 128).shape
    pyqref.Size([2, 4, 6, 6])
    """
    return convolve(
        "quantized.conv2d_relu", 2, qx, packed_weight, output_scale, output_zero_point, relu=True
    )


def conv3d(
    qx: Tensor, packed_weight: PackedConv, output_scale: float, output_zero_point: int
) -> Tensor:
    """Three-dimensional form of :func:`conv2d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 3, 3, 3), 0.1, 0, pyqref.qint8)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 4, 6, 6), 1 / 255, 0, pyqref.quint8)
    >>> packed = ops.conv3d_prepack(w, pyqref.zeros(4))
    >>> ops.conv3d(x, packed, 0.1, 128).shape
    pyqref.Size([2, 4, 2, 4, 4])
    """
    return convolve("quantized.conv3d", 3, qx, packed_weight, output_scale, output_zero_point)


def conv3d_relu(
    qx: Tensor, packed_weight: PackedConv, output_scale: float, output_zero_point: int
) -> Tensor:
    """:func:`conv3d`, with no integer below the zero point of the output.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.ops import quantized as ops
    >>> w = pyqref.quantize_per_tensor(pyqref.randn(4, 1, 3, 3, 3), 0.1, 0, pyqref.qint8)
    >>> x = pyqref.quantize_per_tensor(pyqref.rand(2, 1, 4, 6, 6), 1 / 255, 0, pyqref.quint8)
    >>> packed = ops.conv3d_prepack(w, pyqref.zeros(4))
    >>> ops.conv3d_relu(x, packed, 0.1, 128).shape
    pyqref.Size([2, 4, 2, 4, 4])
    """
    return convolve(
        "quantized.conv3d_relu", 3, qx, packed_weight, output_scale, output_zero_point, relu=True
    )


def _prepack(
    spatial: int, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> PackedConv:
    name = f"quantized.conv{spatial}d_prepack"
    require_weight(name, weight, spatial + 2)
    require_bias(name, bias, weight.shape[0])
    require_groups(name, groups, weight.shape[0], "output channels")
    stride = tuple_of(name, "stride", stride, spatial, 1)
    dilation = tuple_of(name, "dilation", dilation, spatial, 1)
    pairs = padding_pairs(name, padding, tuple(weight.shape[2:]), stride, dilation)
    if any(before != after for before, after in pairs):
        flat = tuple(each for pair in reversed(pairs) for each in pair)
        raise ValueError(
            f"{name}: padding='same' of an even kernel {tuple(weight.shape[2:])} adds {pairs} "
            "before and after each dimension, which is not alike: call "
            f"nn.functional.pad(x, {flat}) on the input, with padding=0 here, or use "
            f"nn.quantized.Conv{spatial}d, which does that"
        )
    bias = None if bias is None else bias.detach()
    padding = tuple(before for before, _ in pairs)
    return PackedConv(weight, bias, stride, padding, dilation, int(groups))


def _unpack(operation: str, packed: Any) -> tuple[Any, Any]:
    name = f"quantized.{operation}"
    parts: tuple[Any, Any] = unpacked(name, "packed_weights", packed, PackedConv)
    return parts
