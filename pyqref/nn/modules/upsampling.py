"""Resizing layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..._typing import Ints, Tensor
from .. import functional as F
from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Resize the spatial dimensions; see :func:`pyqref.nn.functional.interpolate`.

    Parameters
    ----------
    size, scale_factor
        One of the two: the size of the result, or by what to multiply that of the input.
    mode
        ``"nearest"``, ``"linear"``, ``"bilinear"``, ``"bicubic"`` or ``"trilinear"``.
    align_corners
        Whether the centres of the corner pixels keep their places.
    recompute_scale_factor
        Compute positions with the ratio of the sizes instead of ``scale_factor``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
    >>> pyqref.nn.Upsample(scale_factor=2)(x)[0, 0, 0].tolist()
    [1.0, 1.0, 2.0, 2.0]
    """

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name"]

    def __init__(
        self,
        size: Ints | None = None,
        scale_factor: float | Sequence[float] | None = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: Any
        if isinstance(scale_factor, Sequence):
            self.scale_factor = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Tensor) -> Tensor:
        """`(N, C, *size)` to `(N, C, *new_size)`."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        """Factor or size, and mode."""
        if self.scale_factor is not None:
            return f"scale_factor={self.scale_factor!r}, mode={self.mode!r}"
        return f"size={self.size!r}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Resize `(N, C, H, W)` by the nearest neighbour.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.UpsamplingNearest2d(scale_factor=2)
    >>> layer(pyqref.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1., 1., 2., 2.],
              [1., 1., 2., 2.]]]])
    """

    def __init__(
        self, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Resize `(N, C, H, W)` by bilinear interpolation with aligned corners.

    Examples
    --------
    >>> import pyqref
    >>> layer = pyqref.nn.UpsamplingBilinear2d(size=(1, 3))
    >>> layer(pyqref.tensor([[[[1.0, 2.0]]]]))
    tensor([[[[1.0000, 1.5000, 2.0000]]]])
    """

    def __init__(
        self, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None
    ) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
