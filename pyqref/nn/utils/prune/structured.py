"""Pruning of whole channels."""

from __future__ import annotations

from typing import Any

from ...._typing import Tensor
from ....tensor.creation_like import zeros_like
from ....tensor.random import rand
from .amount import check_amount, check_structured, count_to_prune
from .base import BasePruningMethod

__all__ = ["LnStructured", "RandomStructured"]


class _Channels(BasePruningMethod):
    """Keeps the channels with the largest of some numbers."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount: float, dim: int = -1) -> None:
        self.amount = check_amount(amount)
        self.dim = dim

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask so far without ``amount`` more channels along ``dim``."""
        check_structured(t, self.dim)
        channels = t.shape[self.dim]
        count = count_to_prune(self.amount, channels)
        kept = self._kept(t, count)
        if count == 0:
            return default_mask
        mask = zeros_like(t)
        mask.transpose(0, self.dim)[kept] = 1
        return mask.to(default_mask.dtype) * default_mask

    def _kept(self, t: Any, count: int) -> Any:
        raise NotImplementedError


class RandomStructured(_Channels):
    """Prunes channels at random.

    Parameters
    ----------
    amount
        How many, or which part of them in [0, 1].
    dim
        The axis of the channels.

    Examples
    --------
    >>> import pyqref
    >>> mask = RandomStructured(amount=1, dim=0).compute_mask(pyqref.ones(3, 2), pyqref.ones(3, 2))
    >>> sorted(mask.sum(1).tolist())
    [0.0, 2.0, 2.0]
    """

    def _kept(self, t: Any, count: int) -> Any:
        score = rand(t.shape[self.dim])
        return score > score.sort().values[count - 1] if count else None


class LnStructured(_Channels):
    """Prunes the channels with the smallest norm.

    Parameters
    ----------
    amount
        How many, or which part of them in [0, 1].
    n
        Which norm, as in :func:`~pyqref.norm`.
    dim
        The axis of the channels.

    Examples
    --------
    >>> import pyqref
    >>> weight = pyqref.tensor([[3.0, 4.0], [1.0, 1.0]])
    >>> LnStructured(amount=1, n=2, dim=0).compute_mask(weight, pyqref.ones(2, 2)).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """

    def __init__(self, amount: float, n: int, dim: int = -1) -> None:
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t: Any, count: int) -> Any:
        others = [axis for axis in range(t.ndim) if axis != self.dim % t.ndim]
        norm = t.norm(p=self.n, dim=others)
        return norm.topk(t.shape[self.dim] - count, largest=True).indices
