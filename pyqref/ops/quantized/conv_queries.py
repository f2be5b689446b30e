"""What a packed convolution says about itself."""

from __future__ import annotations

from typing import Any

from .checks import require_packed
from .packed_conv import PackedConv

__all__ = [
    "conv2d_dilation",
    "conv2d_groups",
    "conv2d_output_padding",
    "conv2d_padding",
    "conv2d_stride",
    "conv2d_transpose",
    "conv2d_unpack_sizes",
    "conv3d_dilation",
    "conv3d_groups",
    "conv3d_output_padding",
    "conv3d_padding",
    "conv3d_stride",
    "conv3d_transpose",
    "conv_transpose2d_dilation",
    "conv_transpose2d_groups",
    "conv_transpose2d_output_padding",
    "conv_transpose2d_padding",
    "conv_transpose2d_stride",
    "conv_transpose2d_transpose",
    "conv_transpose3d_dilation",
    "conv_transpose3d_groups",
    "conv_transpose3d_output_padding",
    "conv_transpose3d_padding",
    "conv_transpose3d_stride",
    "conv_transpose3d_transpose",
]


def _packed(operation: str, packed: Any) -> PackedConv:
    prepack = f"{operation.partition('d_')[0]}d_prepack"
    require_packed(f"quantized.{operation}", "packed_weights", packed, PackedConv, prepack)
    found: PackedConv = packed
    return found


def conv2d_stride(packed_weights: PackedConv) -> list[int]:
    """The stride, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv2d_prepack(w, None, stride=2)
    >>> pyqref.ops.quantized.conv2d_stride(packed)
    [2, 2]
    """
    return list(_packed("conv2d_stride", packed_weights).stride)


def conv2d_padding(packed_weights: PackedConv) -> list[int]:
    """The padding, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv2d_prepack(w, None, padding=1)
    >>> pyqref.ops.quantized.conv2d_padding(packed)
    [1, 1]
    """
    return list(_packed("conv2d_padding", packed_weights).padding)


def conv2d_output_padding(packed_weights: PackedConv) -> list[int]:
    """The output padding, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv2d_prepack(w, None)
    >>> pyqref.ops.quantized.conv2d_output_padding(packed)
    [0, 0]
    """
    return list(_packed("conv2d_output_padding", packed_weights).output_padding)


def conv2d_dilation(packed_weights: PackedConv) -> list[int]:
    """The dilation, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv2d_prepack(w, None, dilation=2)
    >>> pyqref.ops.quantized.conv2d_dilation(packed)
    [2, 2]
    """
    return list(_packed("conv2d_dilation", packed_weights).dilation)


def conv2d_groups(packed_weights: PackedConv) -> int:
    """The number of groups.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(2, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv2d_prepack(w, None, groups=2)
    >>> pyqref.ops.quantized.conv2d_groups(packed)
    2
    """
    return _packed("conv2d_groups", packed_weights).groups


def conv2d_transpose(packed_weights: PackedConv) -> int:
    """Whether the convolution is transposed, 0 or 1.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv2d_prepack(w, None)
    >>> pyqref.ops.quantized.conv2d_transpose(packed)
    0
    """
    return int(_packed("conv2d_transpose", packed_weights).transposed)


def conv3d_stride(packed_weights: PackedConv) -> list[int]:
    """The stride, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv3d_prepack(w, None, stride=2)
    >>> pyqref.ops.quantized.conv3d_stride(packed)
    [2, 2, 2]
    """
    return list(_packed("conv3d_stride", packed_weights).stride)


def conv3d_padding(packed_weights: PackedConv) -> list[int]:
    """The padding, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv3d_prepack(w, None, padding=1)
    >>> pyqref.ops.quantized.conv3d_padding(packed)
    [1, 1, 1]
    """
    return list(_packed("conv3d_padding", packed_weights).padding)


def conv3d_output_padding(packed_weights: PackedConv) -> list[int]:
    """The output padding, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv3d_prepack(w, None)
    >>> pyqref.ops.quantized.conv3d_output_padding(packed)
    [0, 0, 0]
    """
    return list(_packed("conv3d_output_padding", packed_weights).output_padding)


def conv3d_dilation(packed_weights: PackedConv) -> list[int]:
    """The dilation, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv3d_prepack(w, None, dilation=2)
    >>> pyqref.ops.quantized.conv3d_dilation(packed)
    [2, 2, 2]
    """
    return list(_packed("conv3d_dilation", packed_weights).dilation)


def conv3d_groups(packed_weights: PackedConv) -> int:
    """The number of groups.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(2, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv3d_prepack(w, None, groups=2)
    >>> pyqref.ops.quantized.conv3d_groups(packed)
    2
    """
    return _packed("conv3d_groups", packed_weights).groups


def conv3d_transpose(packed_weights: PackedConv) -> int:
    """Whether the convolution is transposed, 0 or 1.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv3d_prepack(w, None)
    >>> pyqref.ops.quantized.conv3d_transpose(packed)
    0
    """
    return int(_packed("conv3d_transpose", packed_weights).transposed)


def conv_transpose2d_stride(packed_weights: PackedConv) -> list[int]:
    """The stride, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose2d_prepack(w, None, stride=2)
    >>> pyqref.ops.quantized.conv_transpose2d_stride(packed)
    [2, 2]
    """
    return list(_packed("conv_transpose2d_stride", packed_weights).stride)


def conv_transpose2d_padding(packed_weights: PackedConv) -> list[int]:
    """The padding, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose2d_prepack(w, None, padding=1)
    >>> pyqref.ops.quantized.conv_transpose2d_padding(packed)
    [1, 1]
    """
    return list(_packed("conv_transpose2d_padding", packed_weights).padding)


def conv_transpose2d_output_padding(packed_weights: PackedConv) -> list[int]:
    """The output padding, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose2d_prepack(w, None, stride=2, output_padding=1)
    >>> pyqref.ops.quantized.conv_transpose2d_output_padding(packed)
    [1, 1]
    """
    return list(_packed("conv_transpose2d_output_padding", packed_weights).output_padding)


def conv_transpose2d_dilation(packed_weights: PackedConv) -> list[int]:
    """The dilation, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose2d_prepack(w, None, dilation=2)
    >>> pyqref.ops.quantized.conv_transpose2d_dilation(packed)
    [2, 2]
    """
    return list(_packed("conv_transpose2d_dilation", packed_weights).dilation)


def conv_transpose2d_groups(packed_weights: PackedConv) -> int:
    """The number of groups.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(2, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose2d_prepack(w, None, groups=2)
    >>> pyqref.ops.quantized.conv_transpose2d_groups(packed)
    2
    """
    return _packed("conv_transpose2d_groups", packed_weights).groups


def conv_transpose2d_transpose(packed_weights: PackedConv) -> int:
    """Whether the convolution is transposed, 0 or 1.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose2d_prepack(w, None)
    >>> pyqref.ops.quantized.conv_transpose2d_transpose(packed)
    1
    """
    return int(_packed("conv_transpose2d_transpose", packed_weights).transposed)


def conv_transpose3d_stride(packed_weights: PackedConv) -> list[int]:
    """The stride, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose3d_prepack(w, None, stride=2)
    >>> pyqref.ops.quantized.conv_transpose3d_stride(packed)
    [2, 2, 2]
    """
    return list(_packed("conv_transpose3d_stride", packed_weights).stride)


def conv_transpose3d_padding(packed_weights: PackedConv) -> list[int]:
    """The padding, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose3d_prepack(w, None, padding=1)
    >>> pyqref.ops.quantized.conv_transpose3d_padding(packed)
    [1, 1, 1]
    """
    return list(_packed("conv_transpose3d_padding", packed_weights).padding)


def conv_transpose3d_output_padding(packed_weights: PackedConv) -> list[int]:
    """The output padding, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose3d_prepack(w, None, stride=2, output_padding=1)
    >>> pyqref.ops.quantized.conv_transpose3d_output_padding(packed)
    [1, 1, 1]
    """
    return list(_packed("conv_transpose3d_output_padding", packed_weights).output_padding)


def conv_transpose3d_dilation(packed_weights: PackedConv) -> list[int]:
    """The dilation, one number for each dimension.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose3d_prepack(w, None, dilation=2)
    >>> pyqref.ops.quantized.conv_transpose3d_dilation(packed)
    [2, 2, 2]
    """
    return list(_packed("conv_transpose3d_dilation", packed_weights).dilation)


def conv_transpose3d_groups(packed_weights: PackedConv) -> int:
    """The number of groups.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(2, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose3d_prepack(w, None, groups=2)
    >>> pyqref.ops.quantized.conv_transpose3d_groups(packed)
    2
    """
    return _packed("conv_transpose3d_groups", packed_weights).groups


def conv_transpose3d_transpose(packed_weights: PackedConv) -> int:
    """Whether the convolution is transposed, 0 or 1.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(1, 1, 3, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv_transpose3d_prepack(w, None)
    >>> pyqref.ops.quantized.conv_transpose3d_transpose(packed)
    1
    """
    return int(_packed("conv_transpose3d_transpose", packed_weights).transposed)


def conv2d_unpack_sizes(packed_weights: PackedConv) -> tuple[Any, ...]:
    """Shape of the weight, shape of the bias (or None), stride, padding, dilation, groups.

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones(4, 1, 3, 3), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.conv2d_prepack(w, pyqref.zeros(4), padding=1, groups=2)
    >>> pyqref.ops.quantized.conv2d_unpack_sizes(packed)
    ([4, 1, 3, 3], [4], [1, 1], [1, 1], [1, 1], 2)
    """
    packed = _packed("conv2d_unpack_sizes", packed_weights)
    bias = None if packed.bias_tensor is None else list(packed.bias_tensor.shape)
    geometry = [list(each) for each in (packed.stride, packed.padding, packed.dilation)]
    return (list(packed.shape), bias, *geometry, packed.groups)
