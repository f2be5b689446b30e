"""What a kernel's ``Convolution`` is made of: see :file:`convolution.pxi`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pyqref._kernels.qgemm.finish import bias_terms
from pyqref.numerics.requantize import Requantization
from pyqref.numerics.types import IntArray

__all__ = ["Addend", "Finish", "InputGrid", "Part", "finish_of", "finish_of_sums"]

_ONE = np.ones(1, np.float32)


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
        Of real numbers, of which bytes are made on the way; of no use to integers.
    """

    channels: int
    is_signed: bool
    zero_point: int
    scale: float = 1.0


class Finish(NamedTuple):
    """How sums become results, as in :class:`~pyqref.numerics.requantize.Requantization`.

    Attributes
    ----------
    weight_zero_points
        int64 ``(1,)`` or ``(N,)``; None stands for 0.
    multiplier
        float32 ``(1,)`` or ``(N,)``.
    bias, integer_bias
        float32 and int32 ``(N,)``, at least one of them None.
    bias_multiplier, zero_point, lower, upper
        Numbers.
    to_bytes
        Whether results are bytes, else they are the sums, int32.
    """

    weight_zero_points: np.ndarray | None
    multiplier: np.ndarray
    bias: np.ndarray | None
    integer_bias: np.ndarray | None
    bias_multiplier: float
    zero_point: int
    lower: int
    upper: int
    to_bytes: bool


class Addend(NamedTuple):
    """What is added to sums before they are rounded (``eq-requantize-function``).

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


def finish_of(requant: Requantization, zero_points: np.ndarray | None) -> Finish:
    """Bytes, made of sums as a requantization says."""
    return Finish(
        zero_points,
        requant.multiplier,
        *bias_terms(requant),
        requant.bias_multiplier,  # type: ignore[arg-type]
        requant.output_zero_point,
        requant.lower,
        requant.upper,
        to_bytes=True,
    )


def finish_of_sums(zero_points: np.ndarray | None) -> Finish:
    """The sums themselves."""
    return Finish(zero_points, _ONE, None, None, 1.0, 0, 0, 0, to_bytes=False)
