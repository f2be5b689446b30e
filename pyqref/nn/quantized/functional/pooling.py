"""Quantized pooling as functions."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Ints, Tensor
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops
from pyqref.tensor.arguments import as_integer

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool2d",
]


def max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Largest integer of each window; scale and zero point stay as they are.

    Parameters
    ----------
    input
        Quantized ``(N, C, L)`` or ``(C, L)``.
    kernel_size, stride, padding, dilation, ceil_mode
        As of :func:`pyqref.nn.functional.max_pool1d`.
    return_indices
        Must be False.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(6.0).reshape(1, 1, 6)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> qF.max_pool1d(q, 2).dequantize().tolist()
    [[[1.0, 3.0, 5.0]]]
    """
    _require_no_indices("max_pool1d", input, ceil_mode, return_indices)
    return F.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Largest integer of each window; scale and zero point stay as they are.

    Parameters
    ----------
    input
        Quantized ``(N, C, H, W)`` or ``(C, H, W)``.
    kernel_size, stride, padding, dilation, ceil_mode
        As of :func:`pyqref.nn.functional.max_pool2d`.
    return_indices
        Must be False.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(16.0).reshape(1, 1, 4, 4)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> qF.max_pool2d(q, 2).dequantize().tolist()
    [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    _require_no_indices("max_pool2d", input, ceil_mode, return_indices)
    return F.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def avg_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of each window, rounded once; scale and zero point stay as they are.

    Parameters
    ----------
    input
        Quantized ``(N, C, H, W)`` or ``(C, H, W)``.
    kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        As of :func:`pyqref.nn.functional.avg_pool2d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(16.0).reshape(1, 1, 4, 4)
    >>> q = pyqref.quantize_per_tensor(x, 1.0, 0, pyqref.quint8)
    >>> qF.avg_pool2d(q, 2).dequantize().tolist()  # 2.5 is rounded to 2
    [[[[2.0, 4.0], [10.0, 12.0]]]]
    """
    name = "quantized.functional.avg_pool2d"
    divisor_override = _divisor(name, input, ceil_mode, count_include_pad, divisor_override)
    return F.avg_pool2d(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of each window, rounded once; scale and zero point stay as they are.

    Parameters
    ----------
    input
        Quantized ``(N, C, D, H, W)`` or ``(C, D, H, W)``.
    kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        As of :func:`pyqref.nn.functional.avg_pool3d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 0, pyqref.quint8)
    >>> qF.avg_pool3d(q, 2).item()
    3.5
    """
    name = "quantized.functional.avg_pool3d"
    divisor_override = _divisor(name, input, ceil_mode, count_include_pad, divisor_override)
    return F.avg_pool3d(
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def adaptive_avg_pool2d(input: Tensor, output_size: Ints) -> Tensor:
    """Mean over windows such that the output has a given size.

    Scale and zero point stay as they are.

    Parameters
    ----------
    input
        Quantized ``(N, C, H, W)`` or ``(C, H, W)``.
    output_size
        An integer, or a pair of integers (None: as the input).

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(16.0).reshape(1, 1, 4, 4)
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 0, pyqref.quint8)
    >>> qF.adaptive_avg_pool2d(q, 1).item()
    7.5
    """
    ops.require_per_tensor("quantized.functional.adaptive_avg_pool2d", input)
    return F.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Ints) -> Tensor:
    """Mean over windows such that the output has a given size.

    Scale and zero point stay as they are.

    Parameters
    ----------
    input
        Quantized ``(N, C, D, H, W)`` or ``(C, D, H, W)``.
    output_size
        An integer, or three of them (None: as the input).

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn.quantized import functional as qF
    >>> x = pyqref.arange(8.0).reshape(1, 1, 2, 2, 2)
    >>> q = pyqref.quantize_per_tensor(x, 0.5, 0, pyqref.quint8)
    >>> qF.adaptive_avg_pool3d(q, 1).item()
    3.5
    """
    ops.require_per_tensor("quantized.functional.adaptive_avg_pool3d", input)
    return F.adaptive_avg_pool3d(input, output_size)


def _require_no_indices(operation: str, input: Any, ceil_mode: bool, return_indices: bool) -> None:
    """Check what all largest-of-window functions take, but for the windows."""
    name = f"quantized.functional.{operation}"
    ops.require_per_tensor(name, input)
    ops.require_flags(name, ceil_mode=ceil_mode, return_indices=return_indices)
    if return_indices:
        raise NotImplementedError(f"{name}: return_indices must be False, got True")


def _divisor(
    name: str, input: Any, ceil_mode: bool, count_include_pad: bool, divisor: Any
) -> int | None:
    """Check what all means of windows take, but for the windows; the divisor as an int or None."""
    ops.require_per_tensor(name, input)
    ops.require_flags(name, ceil_mode=ceil_mode, count_include_pad=count_include_pad)
    if divisor is None:
        return None
    name = f"{name}: divisor_override"
    number = as_integer(divisor, name)
    if number == 0 or abs(number) >= 2**31:
        raise ValueError(f"{name} must not be 0 and fit 32 bits, got {number}")
    return number
