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
    """The stride, one number for each dimension."""
    return list(_packed("conv2d_stride", packed_weights).stride)


def conv2d_padding(packed_weights: PackedConv) -> list[int]:
    """The padding, one number for each dimension."""
    return list(_packed("conv2d_padding", packed_weights).padding)


def conv2d_output_padding(packed_weights: PackedConv) -> list[int]:
    """The output padding, one number for each dimension."""
    return list(_packed("conv2d_output_padding", packed_weights).output_padding)


def conv2d_dilation(packed_weights: PackedConv) -> list[int]:
    """The dilation, one number for each dimension."""
    return list(_packed("conv2d_dilation", packed_weights).dilation)


def conv2d_groups(packed_weights: PackedConv) -> int:
    """The number of groups."""
    return _packed("conv2d_groups", packed_weights).groups


def conv2d_transpose(packed_weights: PackedConv) -> int:
    """Whether the convolution is transposed, 0 or 1."""
    return int(_packed("conv2d_transpose", packed_weights).transposed)


def conv3d_stride(packed_weights: PackedConv) -> list[int]:
    """The stride, one number for each dimension."""
    return list(_packed("conv3d_stride", packed_weights).stride)


def conv3d_padding(packed_weights: PackedConv) -> list[int]:
    """The padding, one number for each dimension."""
    return list(_packed("conv3d_padding", packed_weights).padding)


def conv3d_output_padding(packed_weights: PackedConv) -> list[int]:
    """The output padding, one number for each dimension."""
    return list(_packed("conv3d_output_padding", packed_weights).output_padding)


def conv3d_dilation(packed_weights: PackedConv) -> list[int]:
    """The dilation, one number for each dimension."""
    return list(_packed("conv3d_dilation", packed_weights).dilation)


def conv3d_groups(packed_weights: PackedConv) -> int:
    """The number of groups."""
    return _packed("conv3d_groups", packed_weights).groups


def conv3d_transpose(packed_weights: PackedConv) -> int:
    """Whether the convolution is transposed, 0 or 1."""
    return int(_packed("conv3d_transpose", packed_weights).transposed)


def conv_transpose2d_stride(packed_weights: PackedConv) -> list[int]:
    """The stride, one number for each dimension."""
    return list(_packed("conv_transpose2d_stride", packed_weights).stride)


def conv_transpose2d_padding(packed_weights: PackedConv) -> list[int]:
    """The padding, one number for each dimension."""
    return list(_packed("conv_transpose2d_padding", packed_weights).padding)


def conv_transpose2d_output_padding(packed_weights: PackedConv) -> list[int]:
    """The output padding, one number for each dimension."""
    return list(_packed("conv_transpose2d_output_padding", packed_weights).output_padding)


def conv_transpose2d_dilation(packed_weights: PackedConv) -> list[int]:
    """The dilation, one number for each dimension."""
    return list(_packed("conv_transpose2d_dilation", packed_weights).dilation)


def conv_transpose2d_groups(packed_weights: PackedConv) -> int:
    """The number of groups."""
    return _packed("conv_transpose2d_groups", packed_weights).groups


def conv_transpose2d_transpose(packed_weights: PackedConv) -> int:
    """Whether the convolution is transposed, 0 or 1."""
    return int(_packed("conv_transpose2d_transpose", packed_weights).transposed)


def conv_transpose3d_stride(packed_weights: PackedConv) -> list[int]:
    """The stride, one number for each dimension."""
    return list(_packed("conv_transpose3d_stride", packed_weights).stride)


def conv_transpose3d_padding(packed_weights: PackedConv) -> list[int]:
    """The padding, one number for each dimension."""
    return list(_packed("conv_transpose3d_padding", packed_weights).padding)


def conv_transpose3d_output_padding(packed_weights: PackedConv) -> list[int]:
    """The output padding, one number for each dimension."""
    return list(_packed("conv_transpose3d_output_padding", packed_weights).output_padding)


def conv_transpose3d_dilation(packed_weights: PackedConv) -> list[int]:
    """The dilation, one number for each dimension."""
    return list(_packed("conv_transpose3d_dilation", packed_weights).dilation)


def conv_transpose3d_groups(packed_weights: PackedConv) -> int:
    """The number of groups."""
    return _packed("conv_transpose3d_groups", packed_weights).groups


def conv_transpose3d_transpose(packed_weights: PackedConv) -> int:
    """Whether the convolution is transposed, 0 or 1."""
    return int(_packed("conv_transpose3d_transpose", packed_weights).transposed)


def conv2d_unpack_sizes(packed_weights: PackedConv) -> tuple[Any, ...]:
    """Shape of the weight, shape of the bias (or None), stride, padding, dilation, groups."""
    bias = _packed("conv2d_unpack_sizes", packed_weights).bias_tensor
    return (
        list(_packed("conv2d_unpack_sizes", packed_weights).shape),
        None if bias is None else list(bias.shape),
        list(_packed("conv2d_unpack_sizes", packed_weights).stride),
        list(_packed("conv2d_unpack_sizes", packed_weights).padding),
        list(_packed("conv2d_unpack_sizes", packed_weights).dilation),
        _packed("conv2d_unpack_sizes", packed_weights).groups,
    )
