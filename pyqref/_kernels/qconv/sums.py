"""The sums of a convolution, for layers that finish them in another way: some outputs at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.arrays import empty
from pyqref._kernels.parts import parts
from pyqref._kernels.qgemm.finish import fits, zero_points_or_none
from pyqref.numerics import convolution as reference
from pyqref.numerics.types import IntArray

from .convolution import are_centred, in_space, part_of
from .pack import PackedConv, pack_conv

__all__ = ["conv_sums"]

_INT32 = np.dtype(np.int32)
_ONE = np.ones(1, np.float32)
#: Outputs of a part, and bytes of weights that are packed anew for it.
_OUTPUTS, _PANELS = 1 << 13, 1 << 17


def conv_sums(
    x: IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: np.ndarray,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    out_size: tuple[int, ...],
) -> Iterator[tuple[tuple[slice, ...], IntArray]]:
    """Where some outputs are in ``(B, *out, N)``, and their sums (``eq-conv-accumulator``).

    Parameters
    ----------
    x, x_zero_point, packed, stride, padding, dilation
        As in :func:`pyqref._kernels.conv2d`.
    weight_zero_points
        int64 ``(1,)`` or ``(N,)``.
    out_size
        Spatial size of the output.
    """
    kernel = registry.twin("qconv")
    whole = np.broadcast_to(np.int8(0), (x.shape[0], *out_size, packed.shape[0]))
    if kernel is None or not fits(packed.depth, None, weight_zero_points):
        centred = packed.weight.astype(np.int64) - weight_zero_points.reshape(
            -1, *(1,) * (x.ndim - 1)
        )
        yield (
            (slice(None),) * whole.ndim,
            reference.conv_accumulator(
                x.astype(np.int64) - x_zero_point, centred, stride, padding, dilation, packed.groups
            ),
        )
        return
    for outputs, channels, plain in _in_panels(packed):
        zero_points = zero_points_or_none(
            weight_zero_points if weight_zero_points.size == 1 else weight_zero_points[outputs]
        )
        for at in parts(whole[..., outputs], whole=(whole.ndim - 1,), most=_OUTPUTS):
            some = x[at[0], channels]
            firsts = [each.start or 0 for each in at[1:-1]]
            count = whole[at].shape[1:-1]
            walk = in_space(
                x.shape[2:],
                packed.shape[2:],
                tuple(stride),
                tuple(p - f * s for p, f, s in zip(padding, firsts, stride, strict=True)),
                tuple(dilation),
                count,
                count,
            )
            sums = empty((len(some), *count, plain.shape[0]), _INT32)
            kernel.conv(
                some,
                x.dtype == np.int8,
                x_zero_point,
                (part_of(plain, walk, centred=are_centred(zero_points)),),
                zero_points,
                _ONE,
                None,
                None,
                1.0,
                0,
                0,
                0,
                sums,
                threads.limit,
            )
            yield (*at[:-1], outputs), sums


def _in_panels(packed: PackedConv) -> Iterator[tuple[slice, slice, PackedConv]]:
    """Outputs, the channels that they see, and their weights as panels."""
    if not (packed.in_strips or packed.is_depthwise):
        yield slice(packed.shape[0]), slice(None), packed
        return
    weight, inputs = packed.weight, packed.shape[1]
    outputs = packed.shape[0] // packed.groups
    groups = max(1, _PANELS // (16 * max(packed.depth, 1)))
    for first in range(0, packed.groups, groups):
        last = min(first + groups, packed.groups)
        rows = slice(first * outputs, last * outputs)
        yield (
            rows,
            slice(first * inputs, last * inputs),
            pack_conv(weight[rows], last - first, centred=False),
        )
