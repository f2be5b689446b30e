"""Float images ``(N, C, L)`` channel by channel, as normalization in training takes them."""

from __future__ import annotations

import numpy as np

from .moments import sums
from .types import FloatArray

__all__ = ["gradient_of_normalized", "scale_channels", "sums_of_channels", "sums_of_images"]


def scale_channels(
    x: FloatArray,
    scale: FloatArray,
    shift: FloatArray | None = None,
    divides: bool = False,
    center: FloatArray | None = None,
) -> FloatArray:
    """``x * scale``, ``x * scale + shift`` or, where it ``divides``, ``x / scale``.

    Parameters
    ----------
    x
        Numbers ``(N, C, L)``.
    scale, shift
        One number for each channel, ``(C,)``, or for each of every image, ``(N, C)``. What is
        divided is not shifted.
    center
        Numbers to take from x first; they need a shift.

    Examples
    --------
    >>> scale_channels(np.float32([[[1, 2], [3, 4]]]), np.float32([2, 10])).tolist()
    [[[2.0, 4.0], [30.0, 40.0]]]
    """
    with np.errstate(all="ignore"):
        if center is not None:
            x = x - center[..., np.newaxis]
        y: FloatArray = x / scale[..., np.newaxis] if divides else x * scale[..., np.newaxis]
        if shift is not None:
            y += shift[..., np.newaxis]
        return y


def sums_of_channels(
    a: FloatArray, b: FloatArray, center: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Sums over each channel of ``a``, and of ``a * (b - center)``, of their type.

    The difference is in the type of ``b``; products and sums are in double, in the order of
    :func:`pyqref.numerics.moments.sums`.

    Examples
    --------
    >>> x = np.float32([[[1, 2], [3, 4]]])
    >>> sums_of_channels(x, x, np.float32([0, 3]))
    (array([3., 7.], dtype=float32), array([5., 4.], dtype=float32))
    """
    with np.errstate(all="ignore"):
        centered = (b - center[..., np.newaxis]).astype(np.float64)
        double = a.astype(np.float64)
        return sums(double).astype(a.dtype), sums(double * centered).astype(a.dtype)


def sums_of_images(
    a: FloatArray, b: FloatArray, center: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """:func:`sums_of_channels` of each image by itself, with a center for each of its channels.

    Center and results are ``(N, C)``.

    Examples
    --------
    >>> x = np.float32([[[1, 2]], [[3, 4]]])
    >>> [each.tolist() for each in sums_of_images(x, x, np.float32([[0], [3]]))]
    [[[3.0], [7.0]], [[5.0], [4.0]]]
    """
    each = [x.reshape(1, x.shape[0] * x.shape[1], x.shape[2]) for x in (a, b)]
    sums, products = sums_of_channels(each[0], each[1], center.reshape(-1))
    return sums.reshape(center.shape), products.reshape(center.shape)


def gradient_of_normalized(
    grad: FloatArray,
    x: FloatArray,
    scale: FloatArray,
    center: FloatArray,
    factor: FloatArray,
    shift: FloatArray,
) -> FloatArray:
    """``grad * scale - (x - center) * factor - shift``, from left to right.

    The gradient of what batch norm in training was taken of, with one number of each kind for
    each channel, ``(C,)``, or for each of every image, ``(N, C)``.

    Examples
    --------
    >>> one, x = np.float32([1]), np.float32([[[1, 2]]])
    >>> gradient_of_normalized(10 * x, x, one, 2 * one, one, 3 * one)
    array([[[ 8., 17.]]], dtype=float32)
    """
    with np.errstate(all="ignore"):
        centered = x - center[..., np.newaxis]
        centered *= factor[..., np.newaxis]
        result: FloatArray = grad * scale[..., np.newaxis]
        result -= centered
        result -= shift[..., np.newaxis]
        return result
