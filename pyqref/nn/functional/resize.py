"""Resizing pictures: interpolation, and shuffles between channels and pixels."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..._typing import Ints, Tensor
from ...tape import interpolate as tape
from ...tape.shape import ChannelShuffle
from ...tensor.arguments import as_integer, as_number, described
from ...tensor.base import TensorBase
from ...tensor.dispatch import apply, quantized
from ...tensor.wrong_arguments import explain_errors
from .adaptive_pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from .antialias import resize_antialiased
from .checks import require_room, require_tensor, shape_text

__all__ = [
    "channel_shuffle",
    "interpolate",
    "native_channel_shuffle",
    "pixel_shuffle",
    "pixel_unshuffle",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]

_NEAREST = ("nearest", "nearest-exact", "area")
_DIMENSIONS = {"linear": 3, "bilinear": 4, "bicubic": 4, "trilinear": 5}
_ADAPTIVE = (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)


def _target_size(
    size: tuple[int, ...], wanted: Any, scale_factor: Any, recompute: bool | None
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """Size of the result, and the factors that positions are computed with."""
    spatial = len(size)
    if (wanted is None) == (scale_factor is None):
        raise ValueError(
            "interpolate(): exactly one of size and scale_factor must be defined, got "
            f"{described(wanted)} and {described(scale_factor)}"
        )
    given = wanted if wanted is not None else scale_factor
    values = tuple(given) if isinstance(given, list | tuple) else (given,) * spatial
    if len(values) != spatial:
        raise ValueError(
            f"interpolate(): input has {spatial} spatial dimensions, got "
            f"{'size' if wanted is not None else 'scale_factor'} {described(given)}"
        )
    if wanted is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with size")
        return tuple(as_integer(each, "interpolate(): size") for each in values), (None,) * spatial
    factors = tuple(as_number(each, "interpolate(): scale_factor") for each in values)
    if not all(math.isfinite(f) and f > 0 for f in factors):
        raise ValueError(
            "interpolate(): scale_factor must be positive and finite, got "
            f"{described(scale_factor)}"
        )
    target = tuple(math.floor(n * f) for n, f in zip(size, factors, strict=True))
    return target, (None,) * spatial if recompute else factors


def _check_mode(ndim: int, shape: tuple[int, ...], mode: Any, align_corners: bool | None) -> None:
    """Raise unless the mode is one, and fits the input and ``align_corners``."""
    if not 3 <= ndim <= 5:
        raise NotImplementedError(
            f"interpolate(): expected input of 3, 4 or 5 dimensions, got {list(shape)}"
        )
    nearest = isinstance(mode, str) and mode in _NEAREST
    if not nearest and not (isinstance(mode, str) and mode in _DIMENSIONS):
        raise NotImplementedError(
            "interpolate(): mode must be nearest, nearest-exact, linear, bilinear, bicubic, "
            f"trilinear or area, got {described(mode)}"
        )
    if nearest and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear "
            f"| bicubic | trilinear, got {described(align_corners)}"
        )
    if not nearest and _DIMENSIONS[mode] != ndim:
        raise NotImplementedError(
            f"interpolate(): mode {mode!r} takes input of {_DIMENSIONS[mode]} dimensions, got "
            f"{list(shape)}"
        )


def _plan(
    shape: tuple[int, ...],
    size: Any,
    scale_factor: Any,
    mode: Any,
    align_corners: Any,
    recompute: bool | None,
) -> tuple[tuple[int, ...], tuple[float | None, ...]]:
    """Check the arguments and return the target size and the scale factors."""
    _check_mode(len(shape), shape, mode, align_corners)
    target, factors = _target_size(shape[2:], size, scale_factor, recompute)
    what = "scale_factor" if size is None else "size"
    given = scale_factor if size is None else size
    require_room("interpolate", what, (*shape[:2], *target), given)
    if min(*target, *shape[2:]) <= 0:
        raise RuntimeError(
            f"Input and output sizes should be greater than 0, but got input {list(shape[2:])} "
            f"and output {list(target)}"
        )
    return target, factors


#: What plain numbers gave, kept since a layer asks for it each time.
_kept_plan = lru_cache(maxsize=64, typed=True)(_plan)
_PLAIN = (int, float, type(None))


def interpolate(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize the spatial dimensions.

    Parameters
    ----------
    input
        Shape `(N, C, L)`, `(N, C, H, W)` or `(N, C, D, H, W)`.
    size, scale_factor
        One of the two: the size of the result, or by what to multiply that of the input; a
        number, or one for each spatial dimension.
    mode
        ``"nearest"``, ``"nearest-exact"``, ``"linear"`` (3-D input), ``"bilinear"`` and
        ``"bicubic"`` (4-D), ``"trilinear"`` (5-D) or ``"area"``.
    align_corners
        Whether the centres of the corner pixels keep their places, or (False) the corners of
        the corner pixels do. Not for the nearest and area modes.
    recompute_scale_factor
        Compute positions with the ratio of the sizes instead of ``scale_factor``.
    antialias
        Whether a reduced image is filtered first, as Pillow does it, so that fine patterns
        do not alias; for ``"bilinear"`` and ``"bicubic"``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> x = pyqref.tensor([[[1.0, 3.0]]])
    >>> F.interpolate(x, scale_factor=2).tolist()
    [[[1.0, 1.0, 3.0, 3.0]]]
    >>> F.interpolate(x, size=3, mode="linear", align_corners=True).tolist()
    [[[1.0, 2.0, 3.0]]]
    """
    if not isinstance(input, TensorBase):
        require_tensor("interpolate", "input", input)
    plain = type(size) in _PLAIN and type(scale_factor) in _PLAIN and type(mode) is str
    plain = plain and (align_corners is None or type(align_corners) is bool)
    plan = _kept_plan if plain and recompute_scale_factor is None else _plan
    target, factors = plan(
        input._array.shape, size, scale_factor, mode, align_corners, recompute_scale_factor
    )
    if antialias:
        return resize_antialiased(input, target, mode, bool(align_corners), factors)
    if mode == "area":
        return _ADAPTIVE[len(target) - 1](input, target)
    if input.is_quantized:
        return quantized[tape.Interpolate](input, target, mode, bool(align_corners), factors)
    return apply(tape.Interpolate, input, target, mode, bool(align_corners), factors)


def upsample(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The old name of :func:`interpolate`; it warns."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(
    input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """:func:`interpolate` with ``mode="nearest"``; it warns."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(
    input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """:func:`interpolate` with ``mode="bilinear", align_corners=True``; it warns."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
        UserWarning,
        stacklevel=4,
    )


def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """`(*, C r^2, H, W)` to `(*, C, H r, W r)` with ``r = upscale_factor``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.pixel_shuffle(pyqref.arange(4.0).reshape(1, 4, 1, 1), 2).tolist()
    [[[[0.0, 1.0], [2.0, 3.0]]]]
    """
    require_tensor("pixel_shuffle", "input", input)
    r = upscale_factor
    if not (input.ndim >= 3 and r > 0 and input.shape[-3] % (r * r) == 0):
        raise RuntimeError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible "
            "by the square of "
            f"upscale_factor={r}, got input of shape {shape_text(input)}"
        )
    *leading, channels, height, width = input.shape
    n = len(leading)
    split = input.reshape(*leading, channels // (r * r), r, r, height, width)
    order = [*range(n), n, n + 3, n + 1, n + 4, n + 2]
    return split.permute(*order).reshape(*leading, channels // (r * r), height * r, width * r)


def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """`(*, C, H r, W r)` to `(*, C r^2, H, W)` with ``r = downscale_factor``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.pixel_unshuffle(pyqref.arange(4.0).reshape(1, 1, 2, 2), 2).flatten().tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    require_tensor("pixel_unshuffle", "input", input)
    r = downscale_factor
    if not (input.ndim >= 3 and r > 0 and input.shape[-2] % r == 0 and input.shape[-1] % r == 0):
        raise RuntimeError(
            "pixel_unshuffle expects height and width to be divisible by "
            f"downscale_factor={r}, got input of shape {shape_text(input)}"
        )
    *leading, channels, height, width = input.shape
    n = len(leading)
    split = input.reshape(*leading, channels, height // r, r, width // r, r)
    order = [*range(n), n, n + 2, n + 4, n + 1, n + 3]
    return split.permute(*order).reshape(*leading, channels * r * r, height // r, width // r)


def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """Channels of `(N, C, *)` read across ``groups``: `(N, g, C/g, *)` with the two exchanged.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.channel_shuffle(pyqref.arange(6.0).reshape(1, 6, 1), 2).flatten().tolist()
    [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    """
    require_tensor("channel_shuffle", "input", input)
    shape = input._array.shape
    if not (len(shape) >= 3 and groups > 0 and shape[1] % groups == 0):
        raise RuntimeError(
            f"channel_shuffle expects input [N, C, *] with C divisible by groups={groups}, got "
            f"{shape_text(input)}"
        )
    return apply(ChannelShuffle, input, groups)


def native_channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """:func:`channel_shuffle` under its other name."""
    return channel_shuffle(input, groups)


explain_errors(globals(), quiet=False)
