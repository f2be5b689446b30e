"""Pruning of single elements."""

from __future__ import annotations

from typing import Any

from ...._typing import Tensor
from ....tensor.random import rand_like
from .amount import check_amount, count_to_prune
from .base import BasePruningMethod

__all__ = ["CustomFromMask", "Identity", "L1Unstructured", "RandomUnstructured"]


class Identity(BasePruningMethod):
    """Prunes nothing, but gives the parameter a mask.

    Examples
    --------
    >>> import pyqref
    >>> Identity().compute_mask(pyqref.zeros(2), pyqref.ones(2)).tolist()
    [1.0, 1.0]
    """

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far."""
        return default_mask


class _Amount(BasePruningMethod):
    """Prunes the elements with the smallest of some numbers."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        self.amount = check_amount(amount)

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far without ``amount`` more elements."""
        count = count_to_prune(self.amount, t.nelement())
        mask = default_mask.clone()
        if count:
            mask.view(-1)[self._chosen(t, count)] = 0
        return mask

    def _chosen(self, t: Any, count: int) -> Any:
        raise NotImplementedError


class RandomUnstructured(_Amount):
    """Prunes elements at random.

    Parameters
    ----------
    amount
        How many, or which part of them in [0, 1].

    Examples
    --------
    >>> import pyqref
    >>> mask = RandomUnstructured(amount=3).compute_mask(pyqref.ones(8), pyqref.ones(8))
    >>> mask.sum().item()
    5.0
    """

    def _chosen(self, t: Any, count: int) -> Any:
        return rand_like(t).view(-1).topk(count).indices


class L1Unstructured(_Amount):
    """Prunes the elements that are smallest without their sign.

    Parameters
    ----------
    amount
        How many, or which part of them in [0, 1].

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.tensor([1.0, -4.0, 2.0, -3.0])
    >>> L1Unstructured(amount=0.5).compute_mask(weight, pyqref.ones(4)).tolist()
    [0.0, 1.0, 0.0, 1.0]
    """

    def _chosen(self, t: Any, count: int) -> Any:
        return t.abs().view(-1).topk(count, largest=False).indices


class CustomFromMask(BasePruningMethod):
    """Prunes what a mask says.

    Parameters
    ----------
    mask
        Of the shape of the parameter.

    Examples
    --------
    >>> import pyqref
    >>> mask = pyqref.tensor([0.0, 1.0])
    >>> CustomFromMask(mask).compute_mask(pyqref.ones(2), pyqref.ones(2)).tolist()
    [0.0, 1.0]
    """

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far times the given one."""
        if tuple(self.mask.shape) != tuple(default_mask.shape):
            raise ValueError(
                f"mask must have the parameter's shape {tuple(default_mask.shape)}, "
                f"got {tuple(self.mask.shape)}"
            )
        return default_mask * self.mask.to(default_mask.dtype)
