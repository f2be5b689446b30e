"""Loss layers: the losses of :mod:`pyqref.nn.functional` as modules.

``reduction`` is ``"mean"``, ``"sum"`` or ``"none"`` (all losses). The deprecated
``size_average`` and ``reduce`` are translated with a warning.
"""

from __future__ import annotations

from ..._typing import Tensor
from .. import functional as F
from ..functional.loss import legacy_reduction
from .module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CrossEntropyLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "NLLLoss",
    "SmoothL1Loss",
]


class _Loss(Module):
    """A loss with a reduction."""

    __constants__ = ["reduction"]

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = legacy_reduction(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    """A loss with a buffer ``weight``."""

    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """``|x - y|``.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.L1Loss()
    >>> loss(pyqref.tensor([1.0, 4.0]), pyqref.tensor([2.0, 2.0]))
    tensor(1.5000)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(*)` and `(*)`."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """``(x - y)^2``.

    Source: documentation of ``torch.nn.MSELoss``.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.MSELoss()(pyqref.tensor([1.0, 2.0]), pyqref.tensor([1.0, 4.0])).item()
    2.0
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(*)` and `(*)`."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """``d^2 / (2 beta)`` where ``d = |x - y| < beta``, else ``d - beta / 2``.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.SmoothL1Loss()
    >>> loss(pyqref.tensor([1.0, 4.0]), pyqref.tensor([2.0, 2.0]))
    tensor(1.)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(*)` and `(*)`."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """``d^2 / 2`` where ``d = |x - y| < delta``, else ``delta (d - delta / 2)``.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.HuberLoss()
    >>> loss(pyqref.tensor([1.0, 4.0]), pyqref.tensor([2.0, 2.0]))
    tensor(1.)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(*)` and `(*)`."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """``-weight[t] * x[t]`` for log-probabilities ``x`` and classes ``t``.

    Parameters
    ----------
    weight
        A factor for each class, shape `(C,)`; the mean is over the weights.
    ignore_index
        A target that does not count.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.NLLLoss()
    >>> loss(pyqref.tensor([[-0.5, -1.0]]), pyqref.tensor([1]))
    tensor(1.)
    """

    __constants__ = ["ignore_index", "reduction"]

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(N, C, *)` and `(N, *)`."""
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class CrossEntropyLoss(_WeightedLoss):
    """``-log(softmax(x)[t])``, averaged over the batch.

    Parameters
    ----------
    weight
        A factor for each class, shape `(C,)`; for class indices the mean is over the weights.
    ignore_index
        A target that does not count.
    reduction
        ``"mean"``, ``"sum"`` or ``"none"``.
    label_smoothing
        In [0, 1]: how much of the target is spread over all classes.

    Notes
    -----
    Input logits `(N, C, *)` or `(C,)`; target class indices `(N, *)` or `()`, or class
    probabilities of the shape of the input.
    Source: documentation of ``torch.nn.CrossEntropyLoss``.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.CrossEntropyLoss(reduction="sum")
    >>> round(loss(pyqref.zeros(1, 2), pyqref.tensor([1])).item(), 4)
    0.6931
    """

    __constants__ = ["ignore_index", "reduction", "label_smoothing"]

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(N, C, *)` and `(N, *)` or `(N, C, *)`."""
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class BCELoss(_WeightedLoss):
    """``-(y log(x) + (1 - y) log(1 - x))`` of probabilities; ``weight`` multiplies it.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.BCELoss()
    >>> loss(pyqref.tensor([0.2, 0.9]), pyqref.tensor([0.0, 1.0]))
    tensor(0.1643)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(*)` and `(*)`."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """:class:`BCELoss` of ``sigmoid(x)``, computed without overflow.

    Parameters
    ----------
    weight
        A factor for each loss, broadcast.
    pos_weight
        A factor for the term of positive targets, broadcast.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.BCEWithLogitsLoss()
    >>> loss(pyqref.tensor([-1.0, 2.0]), pyqref.tensor([0.0, 1.0]))
    tensor(0.2201)
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(*)` and `(*)`."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    """``y (log(y) - x)`` with ``x`` a logarithm, and ``y`` too with ``log_target``.

    ``reduction="batchmean"`` gives the divergence; ``"mean"`` divides by all elements.

    Examples
    --------
    >>> import pyqref
    >>> loss = pyqref.nn.KLDivLoss(reduction='batchmean')
    >>> loss(pyqref.tensor([[0.5, 0.5]]).log(), pyqref.tensor([[0.25, 0.75]]))
    tensor(0.1308)
    """

    __constants__ = ["reduction"]

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of `(*)` and `(*)`."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)
