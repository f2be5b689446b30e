"""Questions that a packed convolution answers about itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

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


Numbers: TypeAlias = Callable[[PackedConv], list[int]]
Number: TypeAlias = Callable[[PackedConv], int]

#: Of each question: what it asks, the options of the example, and one number of the answer.
_QUESTIONS = {
    "stride": ("The stride, one number for each dimension.", ", stride=2", 2),
    "padding": ("The padding, one number for each dimension.", ", padding=1", 1),
    "output_padding": (
        "The output padding, one number for each dimension.",
        ", stride=2, output_padding=1",
        1,
    ),
    "dilation": ("The dilation, one number for each dimension.", ", dilation=2", 2),
    "groups": ("The number of groups.", ", groups=2", 2),
    "transpose": ("Whether the convolution is transposed, 0 or 1.", "", 1),
}

_DOCUMENTATION = """{summary}

    Examples
    --------
    >>> import pyqref
    >>> w = pyqref.quantize_per_tensor(pyqref.ones({shape}), 1.0, 0, pyqref.qint8)
    >>> packed = pyqref.ops.quantized.{convolution}_prepack(w, None{options})
    >>> pyqref.ops.quantized.{name}(packed)
    {answer}
    """


def _query(convolution: str, question: str) -> Any:
    """The function that asks a packed convolution one of the questions, with its documentation."""
    name = f"{convolution}_{question}"
    attribute = "transposed" if question == "transpose" else question
    is_whole = question in ("groups", "transpose")

    def query(packed_weights: PackedConv) -> Any:
        answer = getattr(_packed(name, packed_weights), attribute)
        return int(answer) if is_whole else list(answer)

    summary, options, answer = _QUESTIONS[question]
    dimensions, is_transposed = int(convolution[-2]), "transpose" in convolution
    if not is_transposed and question in ("output_padding", "transpose"):
        options, answer = "", 0
    query.__name__ = query.__qualname__ = name
    query.__annotations__["return"] = "int" if is_whole else "list[int]"
    query.__doc__ = _DOCUMENTATION.format(
        summary=summary,
        shape=", ".join(["2", "1"] + ["3"] * dimensions),
        convolution=convolution,
        options=options,
        name=name,
        answer=answer if is_whole else [answer] * dimensions,
    )
    return query


conv2d_stride: Numbers = _query("conv2d", "stride")
conv2d_padding: Numbers = _query("conv2d", "padding")
conv2d_output_padding: Numbers = _query("conv2d", "output_padding")
conv2d_dilation: Numbers = _query("conv2d", "dilation")
conv2d_groups: Number = _query("conv2d", "groups")
conv2d_transpose: Number = _query("conv2d", "transpose")
conv3d_stride: Numbers = _query("conv3d", "stride")
conv3d_padding: Numbers = _query("conv3d", "padding")
conv3d_output_padding: Numbers = _query("conv3d", "output_padding")
conv3d_dilation: Numbers = _query("conv3d", "dilation")
conv3d_groups: Number = _query("conv3d", "groups")
conv3d_transpose: Number = _query("conv3d", "transpose")
conv_transpose2d_stride: Numbers = _query("conv_transpose2d", "stride")
conv_transpose2d_padding: Numbers = _query("conv_transpose2d", "padding")
conv_transpose2d_output_padding: Numbers = _query("conv_transpose2d", "output_padding")
conv_transpose2d_dilation: Numbers = _query("conv_transpose2d", "dilation")
conv_transpose2d_groups: Number = _query("conv_transpose2d", "groups")
conv_transpose2d_transpose: Number = _query("conv_transpose2d", "transpose")
conv_transpose3d_stride: Numbers = _query("conv_transpose3d", "stride")
conv_transpose3d_padding: Numbers = _query("conv_transpose3d", "padding")
conv_transpose3d_output_padding: Numbers = _query("conv_transpose3d", "output_padding")
conv_transpose3d_dilation: Numbers = _query("conv_transpose3d", "dilation")
conv_transpose3d_groups: Number = _query("conv_transpose3d", "groups")
conv_transpose3d_transpose: Number = _query("conv_transpose3d", "transpose")


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
