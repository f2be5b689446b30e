"""Loss layers that rank, separate or align vectors."""

from __future__ import annotations

from ..._typing import Tensor
from .. import functional as F
from .loss import _Loss

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
]


class _MarginLoss(_Loss):
    """A loss with a margin."""

    __constants__ = ["margin", "reduction"]

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class MarginRankingLoss(_MarginLoss):
    """``max(0, -y (x1 - x2) + margin)`` for ``y`` 1 or -1; the margin is 0 by default.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.MarginRankingLoss()
    >>> loss(pyqref.tensor([1.0]), pyqref.tensor([3.0]), pyqref.tensor([1.0]))
    tensor(2.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss of three `(N,)`."""
        return F.margin_ranking_loss(input1, input2, target, self.margin, reduction=self.reduction)


class HingeEmbeddingLoss(_MarginLoss):
    """``x`` where ``y = 1``, ``max(0, margin - x)`` where ``y = -1``; margin 1 by default.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.HingeEmbeddingLoss()
    >>> loss(pyqref.tensor([0.3, 0.4]), pyqref.tensor([1.0, -1.0]))
    tensor(0.4500)
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(*)` and `(*)`."""
        return F.hinge_embedding_loss(input, target, self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """``1 - cos`` where ``y = 1``, ``max(0, cos - margin)`` where ``y = -1``; margin 0.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.CosineEmbeddingLoss()
    >>> loss(pyqref.tensor([[1.0, 0.0]]), pyqref.tensor([[0.0, 1.0]]), pyqref.tensor([1.0]))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss of `(N, D)`, `(N, D)` and `(N,)`."""
        return F.cosine_embedding_loss(
            input1, input2, target, self.margin, reduction=self.reduction
        )


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-y x))`` for ``y`` 1 or -1.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.SoftMarginLoss()
    >>> loss(pyqref.tensor([1.0, -4.0]), pyqref.tensor([1.0, 1.0]))
    tensor(2.1657)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(*)` and `(*)`."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class TripletMarginLoss(_Loss):
    """``max(0, |anchor - positive| - |anchor - negative| + margin)``.

    Parameters
    ----------
    margin
        Positive.
    p
        Which norm.
    eps
        Added to the differences.
    swap
        Take the distance of positive and negative where it is the smaller.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.TripletMarginLoss()
    >>> loss(pyqref.tensor([[0.0]]), pyqref.tensor([[1.0]]), pyqref.tensor([[3.0]]))
    tensor(0.)
    """

    __constants__ = ["margin", "p", "eps", "swap", "reduction"]

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-06,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss of three `(N, D)`."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            self.margin,
            self.p,
            self.eps,
            self.swap,
            reduction=self.reduction,
        )
