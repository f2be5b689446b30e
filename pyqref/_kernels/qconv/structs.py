"""Parts of a kernel's ``Convolution``: see :file:`kernel.pyx`."""

from __future__ import annotations

from typing import NamedTuple

from pyqref.numerics.types import IntArray

__all__ = ["Addend", "InputGrid", "Part"]


class Part(NamedTuple):
    """A layer that computes some of the outputs, or all of them.

    Attributes
    ----------
    geometry
        27 numbers: size, kernel, stride, padding, dilation, out, the size of the whole result,
        where in it the first output is, and how far apart these are, each as depth, height and
        width.
    groups
        How many, after some were joined.
    joined
        How many of the weight's groups each of them is.
    is_depthwise, in_strips, panels, sums
        Of the weight: see :class:`~pyqref._kernels.PackedConv`.
    """

    geometry: tuple[int, ...]
    groups: int
    joined: int
    is_depthwise: bool
    in_strips: bool
    panels: IntArray
    sums: IntArray


class InputGrid(NamedTuple):
    """The inputs of a convolution, and how they are read.

    Attributes
    ----------
    channels
        Number of channels.
    is_signed
        Whether they are int8.
    zero_point
        Which the padding holds too.
    scale
        For real numbers, which become bytes on the way; integers do not use it.
    """

    channels: int
    is_signed: bool
    zero_point: int
    scale: float = 1.0


class Addend(NamedTuple):
    """Numbers added to sums before they are rounded (``eq-requantize-function``).

    Of one part without strips that is not depthwise, and whose outputs are all of them.

    Attributes
    ----------
    scale, zero_point
        How the bytes are read that lie where results will.
    out_scale
        The scale of the result.
    relu
        Whether sums are not below 0.
    """

    scale: float
    zero_point: int
    out_scale: float
    relu: bool
