"""Max and average pooling to a size that is asked for.

Inputs are `(N, C, *size)` or `(C, *size)`. Each function runs one operation of the tape,
``AdaptiveMaxPool`` or ``AdaptiveAvgPool``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, overload

from ..._typing import Ints, Tensor
from ...tape import adaptive_pooling as tape
from ...tensor.arguments import as_integer, described
from ...tensor.dispatch import apply
from ...tensor.wrong_arguments import explain_errors
from .checks import require_room, require_tensor, shape_text

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
]


_MAX_POOL = {spatial: f"adaptive_max_pool{spatial}d" for spatial in (1, 2, 3)}
_AVG_POOL = {spatial: f"adaptive_avg_pool{spatial}d" for spatial in (1, 2, 3)}


def _output_size(function: str, spatial: int, input: Any, output_size: Any) -> tuple[int, ...]:
    """The checked size; None for an axis keeps its length."""
    require_tensor(function, "input", input)
    shape = input._array.shape
    if len(shape) not in (spatial + 1, spatial + 2):
        raise RuntimeError(
            f"{function}(): expected input of {spatial + 1} (unbatched) or {spatial + 2} (batched) "
            f"dimensions, got {shape_text(input)}"
        )
    if type(output_size) is int:
        sizes: tuple[int, ...] = (output_size,) * spatial
    else:
        sizes = _sizes(function, shape[-spatial:], output_size)
    _check_sizes(function, shape, sizes)
    return sizes


def _sizes(function: str, lengths: tuple[int, ...], output_size: Any) -> tuple[int, ...]:
    """An int for each axis, from one or as many ints or None."""
    spatial = len(lengths)
    sizes = tuple(output_size) if isinstance(output_size, (list, tuple)) else (output_size,)
    if len(sizes) == 1:
        sizes = sizes * spatial
    if len(sizes) != spatial:
        raise RuntimeError(
            f"{function}(): output_size must be one int or {spatial} ints, "
            f"got {described(output_size)}"
        )
    kept = zip(sizes, lengths, strict=True)
    label = f"{function}(): output_size"
    return tuple(length if size is None else as_integer(size, label) for size, length in kept)


@lru_cache(maxsize=64)
def _check_sizes(function: str, shape: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    """Raise unless an input of ``shape`` can be pooled to ``sizes``; what is right is kept."""
    spatial = len(sizes)
    if not all(size >= 0 for size in sizes):
        raise RuntimeError(
            f"{function}(): output_size must not be negative, got {described(sizes)}"
        )
    if not all(length > 0 for length in shape[-spatial:]):
        raise RuntimeError(
            f"{function}(): expected input with non-empty spatial dimensions, got {list(shape)}"
        )
    require_room(function, "output_size", (*shape[:-spatial], *sizes), sizes)


def _avg(spatial: int, input: Any, output_size: Any) -> Any:
    sizes = _output_size(_AVG_POOL[spatial], spatial, input, output_size)
    return apply(tape.AdaptiveAvgPool, input, sizes)


def _max(spatial: int, input: Any, output_size: Any, return_indices: bool) -> Any:
    sizes = _output_size(_MAX_POOL[spatial], spatial, input, output_size)
    return apply(tape.AdaptiveMaxPool, input, sizes, bool(return_indices))


def adaptive_avg_pool1d(input: Tensor, output_size: Ints) -> Tensor:
    """Means of `output_size` windows over `(N, C, L)`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.adaptive_avg_pool1d(pyqref.tensor([[1.0, 2.0, 3.0, 4.0, 5.0]]), 2).tolist()
    [[2.0, 4.0]]
    """
    return _avg(1, input, output_size)


def adaptive_avg_pool2d(input: Tensor, output_size: int | Sequence[int | None]) -> Tensor:
    """Means of windows that cover the input.

    Parameters
    ----------
    input
        Shape `(N, C, H, W)` or `(C, H, W)`.
    output_size
        One or two integers; None in their place keeps the length. Window ``i`` of ``n`` goes from
        ``floor(i H / n)`` to ``ceil((i + 1) H / n)``.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.arange(12.0).reshape(1, 3, 4)
    >>> pyqref.nn.functional.adaptive_avg_pool2d(x, (1, 2)).tolist()
    [[[4.5, 6.5]]]
    """
    return _avg(2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Ints) -> Tensor:
    """Means of windows over `(N, C, D, H, W)`; see :func:`adaptive_avg_pool2d`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.adaptive_avg_pool3d(pyqref.arange(8.0).reshape(1, 2, 2, 2), (2, 1, 1)).tolist()
    [[[[1.5]], [[5.5]]]]
    """
    return _avg(3, input, output_size)


@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: Ints, return_indices: Literal[False] = False
) -> Tensor: ...


@overload
def adaptive_max_pool1d(
    input: Tensor, output_size: Ints, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...


def adaptive_max_pool1d(
    input: Tensor, output_size: Ints, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Largest elements of `output_size` windows over `(N, C, L)`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.adaptive_max_pool1d(pyqref.tensor([[1.0, 5.0, 3.0, 4.0]]), 2).tolist()
    [[5.0, 4.0]]
    """
    return _max(1, input, output_size, return_indices)


@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: Ints, return_indices: Literal[False] = False
) -> Tensor: ...


@overload
def adaptive_max_pool2d(
    input: Tensor, output_size: Ints, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...


def adaptive_max_pool2d(
    input: Tensor, output_size: Ints, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Largest elements of the windows of :func:`adaptive_avg_pool2d`, and their places.

    Examples
    --------
    >>> import pyqref
    >>> x = pyqref.arange(12.0).reshape(1, 3, 4)
    >>> y, places = pyqref.nn.functional.adaptive_max_pool2d(x, (1, 2), return_indices=True)
    >>> y.tolist(), places.tolist()
    ([[[9.0, 11.0]]], [[[9, 11]]])
    """
    return _max(2, input, output_size, return_indices)


@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: Ints, return_indices: Literal[False] = False
) -> Tensor: ...


@overload
def adaptive_max_pool3d(
    input: Tensor, output_size: Ints, return_indices: Literal[True]
) -> tuple[Tensor, Tensor]: ...


def adaptive_max_pool3d(
    input: Tensor, output_size: Ints, return_indices: bool = False
) -> Tensor | tuple[Tensor, Tensor]:
    """Largest elements of windows over `(N, C, D, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.adaptive_max_pool3d(pyqref.arange(8.0).reshape(1, 2, 2, 2), (2, 1, 1)).tolist()
    [[[[3.0]], [[7.0]]]]
    """
    return _max(3, input, output_size, return_indices)


def adaptive_max_pool1d_with_indices(
    input: Tensor,
    output_size: Ints,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool1d` with its indices."""
    return _max(1, input, output_size, True)


def adaptive_max_pool2d_with_indices(
    input: Tensor,
    output_size: Ints,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool2d` with its indices."""
    return _max(2, input, output_size, True)


def adaptive_max_pool3d_with_indices(
    input: Tensor,
    output_size: Ints,
    return_indices: bool = True,
) -> tuple[Tensor, Tensor]:
    """:func:`adaptive_max_pool3d` with its indices."""
    return _max(3, input, output_size, True)


explain_errors(globals(), quiet=False)
