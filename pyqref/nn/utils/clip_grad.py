"""Keeping gradients within bounds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..._typing import Tensor
from ...tensor.base import TensorBase, wrap

__all__ = ["clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


def _tensors(parameters: Any) -> list[Any]:
    return [parameters] if isinstance(parameters, TensorBase) else list(parameters)


def get_total_norm(
    tensors: Sequence[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Norm of all tensors as if they were one vector.

    Parameters
    ----------
    tensors
        One tensor or several.
    norm_type
        p of the p-norm; ``inf`` for the largest magnitude.
    error_if_nonfinite
        Whether a norm that is nan or infinite is an error.
    foreach
        Accepted as in ``torch``; the result does not depend on it.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.utils.get_total_norm([pyqref.tensor([3.0]), pyqref.tensor([4.0])]).item()
    5.0
    """
    order = float(norm_type)
    arrays = [tensor._array for tensor in _tensors(tensors)]
    dtype = arrays[0].dtype if arrays else np.dtype(np.float32)
    with np.errstate(over="ignore", invalid="ignore"):  # gradients may be infinite
        norms = [np.linalg.norm(array.ravel(), order) for array in arrays if array.size]
        total = np.asarray(np.linalg.norm(np.asarray(norms, dtype), order) if norms else 0, dtype)
    if error_if_nonfinite and not np.isfinite(total):
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return wrap(total)


def clip_grads_with_norm_(
    parameters: Sequence[Tensor] | Tensor,
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale the gradients by ``min(1, max_norm / (total_norm + 1e-6))``, in place.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.zeros(2))
    >>> weight.grad = pyqref.tensor([3.0, 4.0])
    >>> pyqref.nn.utils.clip_grads_with_norm_(weight, 1.0, total_norm=pyqref.tensor(50.0))
    >>> [round(each, 4) for each in weight.grad.tolist()]
    [0.06, 0.08]
    """
    total = total_norm._array
    factor = np.minimum(max_norm / (total + total.dtype.type(1e-6)), 1).astype(total.dtype)
    for grad in _grads(parameters):
        with np.errstate(invalid="ignore"):  # an infinite norm makes the factor 0
            grad._array *= factor
        grad._version[0] += 1


def clip_grad_norm_(
    parameters: Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients of ``parameters`` so that their norm is at most ``max_norm``.

    Returns
    -------
    Tensor
        The norm before.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.zeros(2))
    >>> weight.grad = pyqref.tensor([3.0, 4.0])
    >>> pyqref.nn.utils.clip_grad_norm_(weight, 1.0).item(), round(weight.grad.norm().item(), 4)
    (5.0, 1.0)
    """
    parameters = _tensors(parameters)
    total = get_total_norm(_grads(parameters), norm_type, error_if_nonfinite)
    clip_grads_with_norm_(parameters, float(max_norm), total)
    return total


def clip_grad_value_(
    parameters: Tensor,
    clip_value: float,
    foreach: bool | None = None,
) -> None:
    """Clamp every element of the gradients to [-clip_value, clip_value], in place.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.nn.Parameter(pyqref.zeros(2))
    >>> weight.grad = pyqref.tensor([0.5, -4.0])
    >>> pyqref.nn.utils.clip_grad_value_(weight, 1.0)
    >>> weight.grad.tolist()
    [0.5, -1.0]
    """
    bound = float(clip_value)
    for grad in _grads(parameters):
        np.clip(grad._array, -bound, bound, out=grad._array)
        grad._version[0] += 1


def _grads(parameters: Iterable[Any]) -> list[Any]:
    return [each.grad for each in _tensors(parameters) if each.grad is not None]
