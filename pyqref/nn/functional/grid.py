"""Images read at any places: between their pixels, by a grid of coordinates."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from ..._typing import Tensor
from ...tensor.creation import ones
from ...tensor.joining import stack
from ...tensor.linalg import matmul
from ...tensor.refusal import refuse_quantized
from ...tensor.sequences import linspace
from ...tensor.wrong_arguments import explain_errors
from .checks import require_floating, require_same_dtype, require_tensor, shape_text

__all__ = ["affine_grid", "grid_sample"]

_MODES = ("bilinear", "nearest", "bicubic")
_PADDING_MODES = ("zeros", "border", "reflection")


def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """The grid that :func:`grid_sample` reads an image by to transform it.

    The coordinates of a pixel, in [-1, 1] and with a one behind them, times ``theta``.

    Parameters
    ----------
    theta
        Shape `(N, 2, 3)`, or `(N, 3, 4)` for volumes.
    size
        That of the result, `(N, C, H, W)` or `(N, C, D, H, W)`.
    align_corners
        Whether -1 and 1 are the centres of the outer pixels, or (False, None) their outer ends.

    Returns
    -------
    Tensor
        Shape `(N, H, W, 2)` or `(N, D, H, W, 3)`, of coordinates x, y (, z).

    Examples
    --------
    >>> import pyqref
    >>> theta = pyqref.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    >>> pyqref.nn.functional.affine_grid(theta, (1, 1, 1, 2)).tolist()
    [[[[-0.5, 0.0], [0.5, 0.0]]]]
    """
    require_floating("affine_grid", "theta", theta)
    refuse_quantized(theta)
    size = tuple(int(length) for length in size)
    axes = len(size) - 2
    if not (axes in (2, 3) and min(size) > 0):
        raise RuntimeError(f"affine_grid(): size must be 4 or 5 positive lengths, got {size}")
    expected = (size[0], axes, axes + 1)
    if tuple(theta.shape) != expected:
        raise RuntimeError(
            f"affine_grid(): expected theta of shape {list(expected)} for size {size}, "
            f"got {shape_text(theta)}"
        )
    lengths = size[2:]
    parts = []
    for axis in reversed(range(axes)):
        length = lengths[axis]
        places = linspace(-1, 1, length, dtype=theta.dtype)
        if length == 1:
            places = places * 0
        if not align_corners:
            places = places * ((length - 1) / length)
        shape = [1] * axes
        shape[axis] = length
        parts.append(places.reshape(shape).expand(lengths))
    base = stack([*parts, ones(lengths, dtype=theta.dtype)], -1)
    flat = base.reshape(1, -1, axes + 1).expand(size[0], -1, -1)
    return matmul(flat, theta.transpose(1, 2)).reshape(size[0], *lengths, axes)


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Read images at the coordinates of a grid, from -1 to 1 along every axis.

    Parameters
    ----------
    input
        Shape `(N, C, H, W)`, or `(N, C, D, H, W)`.
    grid
        Shape `(N, H', W', 2)`, or `(N, D', H', W', 3)`, of coordinates x, y (, z).
    mode
        ``"bilinear"`` (of volumes: along three axes), ``"nearest"``, or of images ``"bicubic"``,
        by the cubic convolution with ``a = -0.75``.
    padding_mode
        What lies outside: ``"zeros"``, the pixels of the ``"border"``, or a ``"reflection"``.
    align_corners
        Whether -1 and 1 are the centres of the outer pixels, or (False, None) their outer ends.

    Returns
    -------
    Tensor
        Shape `(N, C, H', W')` or `(N, C, D', H', W')`.

    Examples
    --------
    >>> import pyqref
    >>> image = pyqref.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> middle = pyqref.tensor([[[[0.0, 0.0], [-0.5, 0.5]]]])
    >>> pyqref.nn.functional.grid_sample(image, middle).tolist()
    [[[[2.5, 3.0]]]]
    """
    require_floating("grid_sample", "input", input)
    require_tensor("grid_sample", "grid", grid)
    require_same_dtype("grid_sample", "input", input, grid=grid)
    for name, value, known in (
        ("mode", mode, _MODES),
        ("padding_mode", padding_mode, _PADDING_MODES),
    ):
        if value not in known:
            raise ValueError(
                f"grid_sample(): {name} must be one of {', '.join(known)}, got {value!r}"
            )
    axes = input.ndim - 2
    fits = axes in (2, 3) and grid.ndim == input.ndim and grid.shape[-1] == axes
    if not (fits and grid.shape[0] == input.shape[0] and min(input.shape[1:]) > 0):
        raise RuntimeError(
            "grid_sample(): expected images [N, C, H, W] and a grid [N, H', W', "
            "2], or volumes and a "
            f"grid of three coordinates, got {shape_text(input)} and {shape_text(grid)}"
        )
    if not (axes == 2 or mode != "bicubic"):
        raise RuntimeError(
            "grid_sample(): mode='bicubic' is for images of 4 dimensions; use 'bilinear'"
        )
    sizes = tuple(input.shape[2:])
    # Coordinates come from the last axis to the first.
    places = [
        _in_pixels(grid[..., axes - 1 - axis], size, bool(align_corners))
        for axis, size in enumerate(sizes)
    ]
    if mode == "bicubic":
        taps = [_cubic(place) for place in places]
        taps = [
            [(_inside(at, size, padding_mode, bool(align_corners)), weight) for at, weight in some]
            for some, size in zip(taps, sizes, strict=True)
        ]
    else:
        places = [
            _inside(place, size, padding_mode, bool(align_corners))
            for place, size in zip(places, sizes, strict=True)
        ]
        taps = [
            _linear(place) if mode == "bilinear" else [(place.round(), None)] for place in places
        ]
    result: Any = None
    for chosen in itertools.product(*taps):
        values = _values(input, [at for at, _ in chosen], sizes)
        for _, weight in chosen:
            if weight is not None:
                values = values * weight.unsqueeze(1)
        result = values if result is None else result + values
    return result


def _in_pixels(x: Any, size: int, align_corners: bool) -> Any:
    """Map -1 to 1 to the centres of ``size`` pixels, the first at 0."""
    return (x + 1) / 2 * (size - 1) if align_corners else ((x + 1) * size - 1) / 2


def _inside(x: Any, size: int, padding_mode: str, align_corners: bool) -> Any:
    """The place whose pixel is read for one outside; unchanged if zeros are read there."""
    if padding_mode == "zeros":
        return x
    if padding_mode == "reflection":
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
        if span == 0:
            x = x * 0
        else:
            x = (x - low).abs()
            extra, odd = x.fmod(span), (x / span).floor().detach().remainder(2) == 1
            x = (span - extra).where(odd, extra) + low
    return x.clamp(0, size - 1)


def _linear(x: Any) -> list[tuple[Any, Any]]:
    """The two pixels around a place, with their weights."""
    low = x.detach().floor()
    return [(low, low + 1 - x), (low + 1, x - low)]


def _cubic(x: Any) -> list[tuple[Any, Any]]:
    """The four pixels around a place, with their weights."""
    low, a = x.detach().floor(), -0.75
    t = x - low

    def near(s: Any) -> Any:
        return ((a + 2) * s - (a + 3)) * s * s + 1

    def far(s: Any) -> Any:
        return ((a * s - 5 * a) * s + 8 * a) * s - 4 * a

    weights = (far(t + 1), near(t), near(1 - t), far(2 - t))
    return [(low + offset, weight) for offset, weight in zip((-1, 0, 1, 2), weights, strict=True)]


def _values(input: Any, places: list[Any], sizes: tuple[int, ...]) -> Any:
    """The pixels at whole places, zero outside."""
    index: Any = 0
    there: Any = None
    for place, size in zip(places, sizes, strict=True):
        place = place.detach()
        within = (place >= 0) & (place <= size - 1)
        there = within if there is None else there & within
        index = index * size + place.nan_to_num(0.0).clamp(0, size - 1).long()
    batch, channels = input.shape[:2]
    flat = index.reshape(batch, 1, -1).expand(batch, channels, -1)
    values = input.reshape(batch, channels, -1).gather(2, flat)
    values = values.reshape(batch, channels, *index.shape[1:])
    return values * there.unsqueeze(1).to(input.dtype)


explain_errors(globals())
