"""Distances of one tensor from another."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from pyqref.nn import functional as F
from pyqref.tensor import Tensor, log10, sqrt

__all__ = ["compute_cosine_similarity", "compute_normalized_l2_error", "compute_sqnr"]


def _of_floats(formula: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a formula take quantized tensors, and tuples and lists of tensors one by one."""

    @wraps(formula)
    def whole(x: Any, y: Any) -> Any:
        if isinstance(x, (tuple, list)):
            return [whole(one, other) for one, other in zip(x, y, strict=True)]
        if x is None or y is None:
            return None
        x, y = (each.dequantize() if each.is_quantized else each.float() for each in (x, y))
        if x.shape != y.shape:
            raise ValueError(
                f"x and y must have one shape, got {tuple(x.shape)} and {tuple(y.shape)}; "
                "compare the same layer of two forms of one model"
            )
        return formula(x, y)

    return whole


@_of_floats
def compute_sqnr(x: Tensor, y: Tensor) -> Tensor:
    r"""Signal to quantization noise ratio in dB.

    .. math:: 20 \log_{10} \frac{\lVert x \rVert_2}{\lVert x - y \rVert_2}

    Parameters
    ----------
    x, y
        Tensors of one shape, quantized or not, or tuples and lists of such, which give a list.

    Returns
    -------
    Tensor
        A number; infinite where both are equal.

    Examples
    --------
    >>> import pyqref
    >>> float(compute_sqnr(pyqref.tensor([3.0, 4.0]), pyqref.tensor([3.0, 3.5])))
    20.0
    """
    return 20 * log10(_norm(x) / _norm(x - y))


@_of_floats
def compute_normalized_l2_error(x: Tensor, y: Tensor) -> Tensor:
    r"""Size of the error beside that of the signal.

    .. math:: \sqrt{\frac{\sum_i (x_i - y_i)^2}{\sum_i x_i^2}}

    Parameters
    ----------
    x, y
        See :func:`compute_sqnr`.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.tensor([3.0, 4.0]), pyqref.tensor([3.0, 3.5])
    >>> round(float(compute_normalized_l2_error(x, y)), 4)
    0.1
    """
    return sqrt(((x - y) ** 2).sum() / (x**2).sum())


@_of_floats
def compute_cosine_similarity(x: Tensor, y: Tensor) -> Tensor:
    r"""Cosine of the angle between two tensors, as a tensor of one element.

    .. math:: \frac{\sum_i x_i y_i}{\lVert x \rVert_2 \lVert y \rVert_2}

    Parameters
    ----------
    x, y
        See :func:`compute_sqnr`.

    Examples
    --------
    >>> import pyqref
    >>> compute_cosine_similarity(pyqref.tensor([3.0, 4.0]), pyqref.tensor([-4.0, 3.0])).tolist()
    [0.0]
    """
    return F.cosine_similarity(x.reshape(1, -1), y.reshape(1, -1))


def _norm(x: Tensor) -> Tensor:
    return sqrt((x**2).sum())
