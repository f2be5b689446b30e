"""The sums of a convolution, for those who finish them in another way: some outputs at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from types import ModuleType
from typing import Any

import numpy as np

from pyqref._kernels import registry, threads
from pyqref._kernels.layout import empty
from pyqref._kernels.parts import parts
from pyqref._kernels.qgemm.finish import finish_of_sums, fits, zero_points_or_none
from pyqref.numerics import convolution as reference
from pyqref.numerics.types import IntArray

from ...numerics.types import FloatArray
from .geometry import are_centred, in_space, part_of
from .pack import PackedConv
from .split_sums import Term, reaches_far, split, unsplit
from .structs import InputGrid

__all__ = ["conv_sums"]

_INT32 = np.dtype(np.int32)
#: Outputs of a part.
_OUTPUTS = 1 << 13


def conv_sums(
    x: FloatArray | IntArray,
    x_zero_point: int,
    packed: PackedConv,
    weight_zero_points: np.ndarray,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    out_size: tuple[int, ...],
    scale: float | None = None,
) -> Iterator[tuple[tuple[slice, ...], IntArray]]:
    """Yield places of outputs in ``(B, *out, N)``, and their sums (``eq-conv-accumulator``).

    These are int32, or int64 where some might not fit, or weights reach far.

    Parameters
    ----------
    x, x_zero_point, packed, stride, padding, dilation
        As in :func:`pyqref._kernels.conv2d`.
    weight_zero_points
        int64 ``(1,)`` or ``(N,)``.
    out_size
        Spatial size of the output.
    scale
        Of ``x`` where that is float32, for the kernels only.
    """
    kernel = registry.twin("qconv")
    whole = np.broadcast_to(np.int8(0), (x.shape[0], *out_size, packed.shape[0]))
    if kernel is None:
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
    has_buffer = fits(packed.depth, None, weight_zero_points) and not reaches_far(packed)
    cut, centred = unsplit if has_buffer else split, not np.any(weight_zero_points)
    for outputs, terms in cut(packed, centred=centred):
        zero_points = zero_points_or_none(
            weight_zero_points if weight_zero_points.size == 1 else weight_zero_points[outputs]
        )
        for at in parts(whole[..., outputs], whole=(whole.ndim - 1,), most=_OUTPUTS):
            firsts = [each.start or 0 for each in at[1:-1]]
            sums_of = partial(
                _sums_of,
                kernel,
                x[at[0]],
                x_zero_point,
                zero_points,
                stride,
                [p - f * s for p, f, s in zip(padding, firsts, stride, strict=True)],
                dilation,
                whole[at].shape[1:-1],
                scale,
            )
            yield (*at[:-1], outputs), reduce(_added, map(sums_of, terms()))


def _added(some: IntArray, more: IntArray) -> IntArray:
    return np.add(some, more, dtype=np.int64)


def _sums_of(
    kernel: ModuleType,
    x: Any,
    x_zero_point: int,
    zero_points: np.ndarray | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    count: tuple[int, ...],
    scale: float | None,
    term: Term,
) -> IntArray:
    """Return the share of some taps and channels in the first ``count`` outputs."""
    geometry = in_space(
        x.shape[2:],
        term.weights.shape[2:],
        tuple(stride),
        tuple(p - f * d for p, f, d in zip(padding, term.first, dilation, strict=True)),
        tuple(dilation),
        count,
        count,
    )
    sums = empty((len(x), *count, term.weights.shape[0]), _INT32)
    part = part_of(term.weights, geometry, centred=are_centred(zero_points))
    x = x[:, term.channels]
    grid = InputGrid(x.shape[1], x.dtype == np.int8, x_zero_point, scale or 1.0)
    kernel.Convolution((part,), grid, finish_of_sums(zero_points)).run(x, sums, threads.limit)
    return sums
