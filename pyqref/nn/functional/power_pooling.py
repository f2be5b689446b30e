"""Power means of windows."""

from __future__ import annotations

from typing import Any

from ..._typing import Ints, Tensor
from ...tensor.wrong_arguments import explain_errors
from .checks import require_tensor, tuple_of
from .pooling import _avg_pool

__all__ = ["lp_pool1d", "lp_pool2d", "lp_pool3d"]


def _lp_pool(
    spatial: int, input: Any, norm_type: float, kernel_size: Any, stride: Any, ceil_mode: bool
) -> Any:
    function = f"lp_pool{spatial}d"
    require_tensor(function, "input", input)
    kernel = tuple_of(function, "kernel_size", kernel_size, spatial, 1)
    power = input**norm_type
    mean = _avg_pool(spatial, power, kernel, stride, 0, ceil_mode, True, None)
    count = 1
    for length in kernel:
        count *= length
    return (mean.sign() * mean.abs().relu() * count) ** (1.0 / norm_type)


def lp_pool1d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The ``norm_type``-norm of each window of `(N, C, L)`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.lp_pool1d(pyqref.tensor([[3.0, 4.0]]), 2, 2).tolist()
    [[5.0]]
    """
    return _lp_pool(1, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool2d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """The ``norm_type``-norm of each window of `(N, C, H, W)`.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.lp_pool2d(pyqref.tensor([[[3.0, 4.0]]]), 2, (1, 2)).tolist()
    [[[5.0]]]
    """
    return _lp_pool(2, input, norm_type, kernel_size, stride, ceil_mode)


def lp_pool3d(
    input: Tensor,
    norm_type: float,
    kernel_size: Ints,
    stride: Ints | None = None,
    ceil_mode: bool = False,
) -> Tensor:
    """Pool like :func:`lp_pool2d`, for an input of `(N, C, D, H, W)`."""
    return _lp_pool(3, input, norm_type, kernel_size, stride, ceil_mode)


explain_errors(globals(), quiet=False)
