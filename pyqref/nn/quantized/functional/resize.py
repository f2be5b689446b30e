"""Quantized resizing as functions."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pyqref._typing import Ints, Tensor
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]


def interpolate(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Down- or upsample to ``size``, or by ``scale_factor``.

    Scale and zero point stay as they are.

    Parameters
    ----------
    input
        Quantized ``(N, C, H, W)``.
    size, scale_factor
        One of them: an integer (number) or a pair.
    mode
        ``"nearest"``, ``"nearest-exact"`` or ``"bilinear"``.
    align_corners
        As of :func:`pyqref.nn.functional.interpolate`; bilinear only.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(16.0).reshape(1, 1, 4, 4)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> qF.interpolate(q, scale_factor=2, mode="nearest").shape
    pyqref.Size([1, 1, 8, 8])
    """
    ops.require_per_tensor("quantized.functional.interpolate", input)
    return F.interpolate(input, size, scale_factor, mode, align_corners)


def upsample(
    input: Tensor,
    size: Ints | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Deprecated: use :func:`interpolate`."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_bilinear(
    input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """Deprecated: use :func:`interpolate` with ``mode="bilinear", align_corners=True``.

    Examples
    --------
    >>> import warnings
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(16.0).reshape(1, 1, 4, 4)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # that interpolate is the newer name
    ...     y = qF.upsample_bilinear(q, size=(7, 7))
    >>> y.shape
    pyqref.Size([1, 1, 7, 7])
    """
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def upsample_nearest(
    input: Tensor, size: Ints | None = None, scale_factor: float | Sequence[float] | None = None
) -> Tensor:
    """Deprecated: use :func:`interpolate` with ``mode="nearest"``.

    Examples
    --------
    >>> import warnings
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(16.0).reshape(1, 1, 4, 4)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")  # that interpolate is the newer name
    ...     y = qF.upsample_nearest(q, scale_factor=2)
    >>> y.shape
    pyqref.Size([1, 1, 8, 8])
    """
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


def _deprecated(name: str) -> None:
    warnings.warn(
        f"nn.quantized.functional.{name} is deprecated. "
        "Use nn.quantized.functional.interpolate instead.",
        stacklevel=3,
    )
