"""Quantized transposed convolution by the kernel in use.

With stride s, outputs whose positions leave the same remainder meet the same taps of the kernel,
every input one after another: an ordinary convolution with stride 1, a *phase*. Together the
phases have the taps of the kernel once each, so that no zero is multiplied and no input spread out.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from math import gcd, prod
from typing import Any

import numpy as np

from pyqref._kernels import registry
from pyqref._kernels.parts import parts
from pyqref._kernels.qgemm.finish import fits, zero_points_or_none
from pyqref.numerics import convolution as reference
from pyqref.numerics.requantize import Requantization
from pyqref.numerics.types import IntArray

from ..._typing import Array
from ...numerics.types import FloatArray
from .convolution import Forward, run_parts, run_sums
from .geometry import are_centred, in_space, part_of
from .pack import PackedConv, pack_conv
from .reals import of_equation
from .split_sums import reaches_far
from .structs import InputGrid, Part
from .sums import conv_sums

__all__ = ["PackedConvTranspose", "conv_transpose", "pack_conv_transpose", "prepare_transposed"]


@dataclass(frozen=True)
class PackedConvTranspose:
    """int8 weights ``(C, N // groups, *kernel)`` of a transposed convolution for the kernels.

    Attributes
    ----------
    phases
        Where the taps of each phase begin in the flipped kernel, and their packed weights, as
        :class:`PackedConv` says. Phases without taps are left out.
    shape
        ``(C, N // groups, *kernel)``.
    stride, dilation
        One number for each spatial dimension.
    groups
        Number of groups.
    """

    phases: tuple[tuple[tuple[int, ...], PackedConv], ...]
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int

    @cached_property
    def outputs(self) -> int:
        """Channels of the output."""
        return self.shape[1] * self.groups

    @cached_property
    def depth(self) -> int:
        """Products in the longest of the sums."""
        return max((packed.depth for _, packed in self.phases), default=0)

    @cached_property
    def reaches_far(self) -> bool:
        """Return True if scratch memory cannot hold the inputs of one output."""
        return any(reaches_far(packed) for _, packed in self.phases)

    @property
    def weight(self) -> IntArray:
        """The int8 weights ``(C, N // groups, *kernel)`` again, unpacked."""
        channels = self.shape[0] // self.groups
        swapped = np.zeros((self.outputs, channels, *self.shape[2:]), np.int8)
        for first, packed in self.phases:
            swapped[_taps(first, self.stride, self.dilation)] = packed.weight
        return reference.transpose_weight(swapped, self.groups)


def _taps(
    first: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[slice, ...]:
    """Return the places in a weight of the taps of the phase that begins with ``first``."""
    steps = [
        slice(f, None, s // gcd(s, d)) for f, s, d in zip(first, stride, dilation, strict=True)
    ]
    return (slice(None), slice(None), *steps)


def pack_conv_transpose(
    weight: IntArray,
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    groups: int = 1,
    *,
    centred: bool = True,
) -> PackedConvTranspose:
    """Pack int8 weights ``(C, N // groups, *kernel)``, phase by phase.

    Those that are ``centred`` have no zero points but 0.

    Examples
    --------
    >>> packed = pack_conv_transpose(np.ones((2, 3, 5, 5), np.int8), (2, 2), (1, 1))
    >>> [each.shape for _, each in packed.phases]
    [(3, 2, 3, 3), (3, 2, 3, 2), (3, 2, 2, 3), (3, 2, 2, 2)]
    """
    weight = np.asarray(weight, np.int8)
    swapped = reference.transpose_weight(weight, groups)
    begins = [
        range(min(k, s // gcd(s, d)))
        for k, s, d in zip(weight.shape[2:], stride, dilation, strict=True)
    ]
    phases = tuple(
        (first, pack_conv(swapped[_taps(first, stride, dilation)], groups, centred=centred))
        for first in itertools.product(*begins)
    )
    return PackedConvTranspose(phases, weight.shape, stride, dilation, groups)


@lru_cache(maxsize=1024)
def _geometries(
    begins: tuple[tuple[int, ...], ...],
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    output_padding: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[tuple[int, ...], bool, tuple[tuple[int, ...], ...]]:
    """The size of the output, whether every output is of a phase, and the geometry of each.

    Output o meets input i under tap k where ``i * stride = o + padding - k * dilation``. A phase
    begins at the tap ``k``, the last of its taps, and at the first output o for which this
    divides; there the window begins with the quotient.
    """
    whole = tuple(
        (i - 1) * s - 2 * p + d * (k - 1) + extra + 1
        for i, s, p, d, k, extra in zip(
            size, stride, padding, dilation, kernel, output_padding, strict=True
        )
    )
    made = []
    for begin in begins:
        axes = []
        for f, o, k, s, p, d in zip(begin, whole, kernel, stride, padding, dilation, strict=True):
            last, gap = (k - 1 - f) * d, s // gcd(s, d)
            first = (last - p) % s
            count = max(-(-(o - first) // s), 0)
            axes.append(
                (len(range(f, k, gap)), (last - p - first) // s, d * gap // s, count, first)
            )
        window, before, apart, count, first = zip(*axes, strict=True)
        ones = (1,) * len(size)
        made.append(in_space(size, window, ones, before, apart, count, whole, first, stride))
    return whole, len(begins) == prod(stride), tuple(made)


def _bias_alone(size: tuple[int, ...], out_size: tuple[int, ...], outputs: int) -> Part:
    """All outputs, as sums of no products."""
    ones, none = (1,) * len(size), (0,) * len(size)
    geometry = in_space(size, none, ones, none, ones, out_size, out_size)
    no_weights, sums = np.zeros(0, np.int8), np.zeros(outputs, np.int32)
    return Part(geometry, 1, 1, False, False, no_weights, sums)


def _no_sums(shape: tuple[int, ...]) -> Iterator[tuple[tuple[slice, ...], IntArray]]:
    """All outputs, as :func:`_bias_alone`."""
    whole = np.broadcast_to(np.int8(0), shape)
    for at in parts(whole, whole=(whole.ndim - 1,)):
        yield at, np.zeros(whole[at].shape, np.int32)


def _sums(
    x: Any,
    x_zero_point: int,
    packed: PackedConvTranspose,
    zero_points: np.ndarray,
    geometries: tuple[tuple[int, ...], ...],
    scale: float | None,
) -> Iterator[tuple[tuple[slice, ...], Iterator[tuple[tuple[slice, ...], IntArray]]]]:
    """Yield the places of the outputs of each phase, and their sums."""
    axes = len(packed.stride)
    for (_, phase), geometry in zip(packed.phases, geometries, strict=True):
        padding, dilation, count, _, first, apart = (
            geometry[i + 3 - axes : i + 3] for i in range(9, 27, 3)
        )
        places = (slice(f, None, a) for f, a in zip(first, apart, strict=True))
        stride = (1,) * axes
        yield (
            (slice(None), *places),
            conv_sums(x, x_zero_point, phase, zero_points, stride, padding, dilation, count, scale),
        )


def conv_transpose(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConvTranspose,
    weight_zero_points: int | Array,
    requant: Requantization,
    padding: Sequence[int],
    output_padding: Sequence[int],
    scale: float | None = None,
) -> IntArray | FloatArray:
    """Fast form of :func:`pyqref.numerics.convolution.quantized_conv_transpose`, on packed weights.

    Equations ``eq-conv-transpose-accumulator``, ``eq-requantize-bias`` and ``eq-requantize``.

    Parameters
    ----------
    x
        uint8 or int8 ``(B, C, *in)``; fastest with the channels last in memory.
    x_zero_point
        Its zero point.
    packed
        From :func:`pyqref._kernels.pack_conv_transpose`; knows stride, dilation and groups.
    weight_zero_points
        A scalar, ``(1,)`` or ``(N,)``.
    requant
        From :func:`pyqref.numerics.requantize.requantization`.
    padding, output_padding
        One number for each spatial dimension.
    scale
        As of :func:`pyqref._kernels.conv2d`.

    Returns
    -------
    ``(B, N, *out)`` of the type ``requant.storage``
        A view of memory in which the channels are last.
    """
    run = prepare_transposed(
        x, x_zero_point, packed, weight_zero_points, requant, padding, output_padding, scale
    )
    return run(x)


def prepare_transposed(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConvTranspose,
    weight_zero_points: int | Array,
    requant: Requantization,
    padding: Sequence[int],
    output_padding: Sequence[int],
    scale: float | None = None,
) -> Forward:
    """Prepare :func:`conv_transpose`, like :func:`~.convolution.prepare`."""
    kernel = registry.twin("qconv")
    paddings = tuple(padding), tuple(output_padding)
    if kernel is None:
        steps = packed.stride, *paddings, packed.dilation, packed.groups
        return partial(
            of_equation,
            lambda q: reference.quantized_conv_transpose(
                q, x_zero_point, packed.weight, weight_zero_points, requant, *steps
            ),
            zero_point=x_zero_point,
            scale=scale,
        )
    zero_points = zero_points_or_none(weight_zero_points)
    out_size, is_covered, geometries = _geometries(
        tuple(first for first, _ in packed.phases),
        x.shape[2:],
        packed.shape[2:],
        packed.stride,
        *paddings,
        packed.dilation,
    )
    shape = (x.shape[0], *out_size, packed.outputs)
    if packed.reaches_far or not fits(packed.depth, requant, weight_zero_points):
        points = np.asarray(weight_zero_points, np.int64).reshape(-1)

        def run(x: Any) -> Any:
            sums = _sums(x, x_zero_point, packed, points, geometries, scale)
            if not is_covered:
                sums = itertools.chain([((), _no_sums(shape))], sums)
            return run_sums(sums, requant, shape, scale)

        return run
    centred = are_centred(zero_points)
    phases = [
        part_of(phase, geometry, centred=centred)
        for (_, phase), geometry in zip(packed.phases, geometries, strict=True)
    ]
    if not is_covered:
        # Phases without taps: sums of no products, for all outputs, of which others follow.
        phases.insert(0, _bias_alone(x.shape[2:], out_size, packed.outputs))
    grid = InputGrid(x.shape[1], x.dtype == np.int8, x_zero_point, scale or 1.0)
    return run_parts(kernel, tuple(phases), grid, zero_points, requant, shape, scale)
