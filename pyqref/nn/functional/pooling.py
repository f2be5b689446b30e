"""Max and average pooling with fixed windows.

Inputs are `(N, C, *size)` or `(C, *size)`. Each function runs one operation of the tape,
``MaxPool`` or ``AvgPool``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from pyqref.numerics.pooling import pooled_sizes

from ..._typing import Ints, Tensor
from ...tape import pooling as tape
from ...tensor.arguments import as_integer
from ...tensor.base import TensorBase
from ...tensor.dispatch import apply, quantized
from ...tensor.wrong_arguments import explain_errors
from .checks import require_tensor, tuple_of

__all__ = [
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
]


_MAX_POOL = {spatial: f"max_pool{spatial}d" for spatial in (1, 2, 3)}
_AVG_POOL = {spatial: f"avg_pool{spatial}d" for spatial in (1, 2, 3)}


def _windows(
    function: str,
    spatial: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple[tuple[int, ...], ...]:
    """The checked kernel, stride, padding and dilation."""
    if not isinstance(input, TensorBase):
        require_tensor(function, "input", input)
    are_plain = type(kernel_size) is type(padding) is type(dilation) is int
    windows_of = (
        _kept_windows if are_plain and (stride is None or type(stride) is int) else _checked_windows
    )
    return windows_of(
        function, spatial, input._array.shape, kernel_size, stride, padding, dilation, ceil_mode
    )


def _checked_windows(
    function: str,
    spatial: int,
    shape: tuple[int, ...],
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
) -> tuple[tuple[int, ...], ...]:
    """Return :func:`_windows` for an input of ``shape``, checked."""
    if len(shape) not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{function}(): expected input of {spatial + 1} (unbatched) or {spatial + 2} (batched) "
            f"dimensions, got {list(shape)}"
        )
    kernel = tuple_of(function, "kernel_size", kernel_size, spatial, 1)
    empty = stride is None or (isinstance(stride, (list, tuple)) and not stride)
    stride = kernel if empty else tuple_of(function, "stride", stride, spatial, 1)
    padding = tuple_of(function, "padding", padding, spatial)
    dilation = tuple_of(function, "dilation", dilation, spatial, 1)
    _check_windows(function, shape[-spatial:], kernel, stride, padding, dilation, ceil_mode)
    return kernel, stride, padding, dilation


#: What plain integers gave, kept since a layer asks for it each time.
_kept_windows = lru_cache(maxsize=64)(_checked_windows)


@lru_cache(maxsize=64)
def _check_windows(
    function: str,
    size: tuple[int, ...],
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[int, ...],
    dilation: tuple[int, ...],
    ceil_mode: bool,
) -> None:
    """Raise unless there is a window in the input; what is right is remembered."""
    if not all(2 * p <= k for p, k in zip(padding, kernel, strict=True)):
        raise RuntimeError(
            f"{function}(): padding must be at most half of kernel_size, got padding "
            f"{list(padding)} and kernel_size {list(kernel)}"
        )
    try:
        pooled_sizes(size, kernel, stride, padding, dilation, ceil_mode)
    except ValueError as error:
        raise RuntimeError(f"{function}(): {error}") from None


def _max_pool(
    spatial: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    return_indices: bool,
) -> Any:
    function, ceil_mode = _MAX_POOL[spatial], bool(ceil_mode)
    windows = _windows(function, spatial, input, kernel_size, stride, padding, dilation, ceil_mode)
    if input.is_quantized:
        return quantized[tape.MaxPool](input, *windows, ceil_mode, return_indices)
    return apply(tape.MaxPool, input, *windows, ceil_mode, bool(return_indices))


def max_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Largest element of each window of `(N, C, L)`; see :func:`max_pool2d`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.max_pool1d(pyqref.tensor([[1.0, 9.0, 2.0, 3.0]]), 2).tolist()
    [[9.0, 3.0]]
    """
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Largest element of each window.

    Parameters
    ----------
    input
        Shape `(N, C, H, W)` or `(C, H, W)`.
    kernel_size, stride, padding, dilation
        An int or two; the stride is ``kernel_size`` if None, the padding, of minus
        infinity, at most half of it.
    ceil_mode
        Let a last window reach past the end.
    return_indices
        Also return where in its flattened plane each element was.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.arange(16.0).reshape(1, 4, 4)
    >>> y, places = pyqref.nn.functional.max_pool2d(x, 2, return_indices=True)
    >>> y.tolist(), places.tolist()
    ([[[5.0, 7.0], [13.0, 15.0]]], [[[5, 7], [13, 15]]])
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool3d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """Largest element of each window of `(N, C, D, H, W)`; see :func:`max_pool2d`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.max_pool3d(pyqref.arange(8.0).reshape(1, 2, 2, 2), 2).tolist()
    [[[[7.0]]]]
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, return_indices)


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]:
    """:func:`max_pool1d` with its indices."""
    return _max_pool(1, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]:
    """:func:`max_pool2d` with its indices."""
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    dilation: Ints = 1,
    ceil_mode: bool = False,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]:
    """:func:`max_pool3d` with its indices."""
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode, True)


def _avg_pool(
    spatial: int,
    input: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Any:
    function, ceil_mode = _AVG_POOL[spatial], bool(ceil_mode)
    kernel, stride, padding, _ = _windows(
        function, spatial, input, kernel_size, stride, padding, 1, ceil_mode
    )
    if divisor_override is not None:
        divisor_override = as_integer(divisor_override, f"{function}(): divisor_override")
        if divisor_override == 0:
            raise RuntimeError(f"{function}(): divisor_override must not be zero")
    counted = bool(count_include_pad)
    if input.is_quantized:
        return quantized[tape.AvgPool](
            input, kernel, stride, padding, ceil_mode, counted, divisor_override
        )
    return apply(tape.AvgPool, input, kernel, stride, padding, ceil_mode, counted, divisor_override)


def avg_pool1d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Mean of each window of `(N, C, L)`; see :func:`avg_pool2d`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.avg_pool1d(pyqref.tensor([[1.0, 3.0, 5.0, 7.0]]), 2).tolist()
    [[2.0, 6.0]]
    """
    return _avg_pool(1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Tensor,
    kernel_size: Ints,
    stride: Ints | None = None,
    padding: Ints = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Mean of each window.

    Parameters
    ----------
    input
        Shape `(N, C, H, W)` or `(C, H, W)`.
    kernel_size, stride, padding
        An int or two; the stride is ``kernel_size`` if None, the padding, of zeros, at most
        half of it.
    ceil_mode
        Let a last window reach past the end; what lies past it never counts.
    count_include_pad
        Whether the padding counts as elements.
    divisor_override
        Divide by this integer, not 0, instead of the number of elements.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> x = pyqref.full((1, 2, 2), 8.0)
    >>> F.avg_pool2d(x, 2, padding=1).tolist()
    [[[2.0, 2.0], [2.0, 2.0]]]
    >>> F.avg_pool2d(x, 2, padding=1, count_include_pad=False).tolist()
    [[[8.0, 8.0], [8.0, 8.0]]]
    """
    return _avg_pool(
        2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
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
    """Mean of each window of `(N, C, D, H, W)`; see :func:`avg_pool2d`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.avg_pool3d(pyqref.arange(8.0).reshape(1, 2, 2, 2), 2).tolist()
    [[[[3.5]]]]
    """
    return _avg_pool(
        3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


explain_errors(globals(), quiet=False)
