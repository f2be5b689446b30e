"""Losses that compare element by element.

``reduction`` is ``"none"`` (all losses), ``"mean"`` or ``"sum"``. The deprecated
``size_average`` and ``reduce`` are translated with a warning.
"""

from __future__ import annotations

import warnings
from typing import Any

from ..._typing import Tensor
from ...tape import loss as tape
from ...tensor.dispatch import apply
from ...tensor.refusal import refuse_quantized
from ...tensor.wrong_arguments import explain_errors
from .checks import require_floating, require_same_dtype, require_tensor, shape_text

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "legacy_reduction",
    "mse_loss",
    "reduced",
    "require_reduction",
    "smooth_l1_loss",
]


def legacy_reduction(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The ``reduction`` that the deprecated arguments mean, if one of them is given."""
    if size_average is None and reduce is None:
        return reduction
    summed = "mean" if size_average is None or size_average else "sum"
    meant = summed if reduce is None or reduce else "none"
    warnings.warn(
        f"size_average and reduce args will be deprecated, please use reduction='{meant}' instead.",
        UserWarning,
        stacklevel=5,
    )
    return meant


def require_reduction(reduction: str) -> None:
    """``reduction`` is one of the three."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(
            f"{reduction} is not a valid value for reduction; use 'none', 'mean' or 'sum'"
        )


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The losses, their mean or their sum."""
    require_reduction(reduction)
    if reduction == "none":
        return loss
    return loss.mean() if reduction == "mean" else loss.sum()


def _check(function: str, input: Any, target: Any) -> None:
    require_floating(function, "input", input)
    require_tensor(function, "target", target)
    refuse_quantized(input, target)


def _broadcast(function: str, input: Any, target: Any) -> None:
    """Warn if the two do not have one shape."""
    if tuple(input.shape) != tuple(target.shape):
        warnings.warn(
            f"{function}(): using a target size ({shape_text(target)}) that is different to the "
            f"input size ({shape_text(input)}). This will likely lead to incorrect results due to "
            "broadcasting. Please ensure they have the same size.",
            UserWarning,
            stacklevel=5,
        )


def _compare(
    function: str,
    operation: Any,
    input: Any,
    target: Any,
    reduction: str,
    weight: Any,
    *parameters: Any,
) -> Any:
    _check(function, input, target)
    require_reduction(reduction)
    _broadcast(function, input, target)
    target = target.to(input.dtype) if target.dtype is not input.dtype else target
    if weight is None:
        return apply(operation, input, target, reduction, *parameters)
    require_tensor(function, "weight", weight)
    loss = apply(operation, input, target, "none", *parameters) * weight
    if reduction == "mean":
        return loss.sum() / weight.expand(loss.shape).sum()
    return reduced(loss, reduction)


def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """``(input - target)^2``; with ``weight`` the mean is weighted.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.mse_loss(pyqref.tensor([1.0, 3.0]), pyqref.tensor([0.0, 0.0])).item()
    5.0
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return _compare("mse_loss", tape.Mse, input, target, reduction, weight)


def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """``|input - target|``; with ``weight`` the mean is weighted.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.l1_loss(pyqref.tensor([1.0, 5.0]), pyqref.tensor([0.0, 0.0])).item()
    3.0
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    return _compare("l1_loss", tape.L1, input, target, reduction, weight)


def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """``d^2 / (2 beta)`` where ``d = |input - target| < beta``, else ``d - beta / 2``.

    Examples
    --------
    >>> import pyqref
    >>> x, target = pyqref.tensor([1.0, 3.0]), pyqref.tensor([0.0, 0.0])
    >>> pyqref.nn.functional.smooth_l1_loss(x, target, reduction="none", beta=2.0).tolist()
    [0.25, 2.0]
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    if not beta >= 0:
        raise RuntimeError(f"smooth_l1_loss does not support negative values for beta, got {beta}")
    if beta == 0:
        return l1_loss(input, target, reduction=reduction)
    return _compare("smooth_l1_loss", tape.SmoothL1, input, target, reduction, None, beta)


def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """``d^2 / 2`` where ``d = |input - target| < delta``, else ``delta (d - delta / 2)``.

    Examples
    --------
    >>> import pyqref
    >>> x, target = pyqref.tensor([0.5, 3.0]), pyqref.tensor([0.0, 0.0])
    >>> pyqref.nn.functional.huber_loss(x, target, reduction="none").tolist()
    [0.125, 2.5]
    """
    if not delta > 0:
        raise RuntimeError(
            f"huber_loss does not support non-positive values for delta, got {delta}"
        )
    return _compare("huber_loss", tape.Huber, input, target, reduction, weight, delta)


def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``-(target log(input) + (1 - target) log(1 - input))``, logarithms at least -100.

    ``input`` and ``target`` have one shape and lie in [0, 1]; ``weight`` multiplies the losses.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> x, target = pyqref.tensor([0.5, 0.0]), pyqref.tensor([1.0, 1.0])  # log(0) counts as -100
    >>> F.binary_cross_entropy(x, target, reduction="none").tolist()
    [0.6931471824645996, 100.0]
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    function = "binary_cross_entropy"
    _check(function, input, target)
    require_reduction(reduction)
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"Using a target size ({shape_text(target)}) that is different to the input size "
            f"({shape_text(input)}) is deprecated. Please ensure they have the same size."
        )
    require_same_dtype(function, "input", input, target=target)
    array = input._array
    if not ((array >= 0) & (array <= 1)).all():
        raise RuntimeError(
            "all elements of input should be between 0 and 1; use "
            "binary_cross_entropy_with_logits for values that are no probabilities"
        )
    if weight is None:
        return apply(tape.BinaryCrossEntropy, input, target, reduction)
    return reduced(apply(tape.BinaryCrossEntropy, input, target, "none") * weight, reduction)


def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """Binary cross entropy of ``sigmoid(input)``, computed without overflow.

    ``pos_weight`` multiplies the term of positive targets, ``weight`` the losses.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.binary_cross_entropy_with_logits(pyqref.tensor([-1000.0]), pyqref.tensor([1.0])).item()
    1000.0
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    function = "binary_cross_entropy_with_logits"
    _check(function, input, target)
    require_reduction(reduction)
    if tuple(input.shape) != tuple(target.shape):
        raise ValueError(
            f"Target size ({shape_text(target)}) must be the same as input size "
            f"({shape_text(input)})"
        )
    require_same_dtype(function, "input", input, target=target, pos_weight=pos_weight)
    positive = input._array.dtype.type(1) if pos_weight is None else pos_weight
    each = reduction if weight is None else "none"
    loss = apply(tape.BinaryCrossEntropyWithLogits, input, target, each, positive)
    return loss if weight is None else reduced(loss * weight, reduction)


def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """``target * (log(target) - input)`` with ``input`` a logarithm.

    ``reduction`` may also be ``"batchmean"``, the sum over the length of the first dimension,
    which is the divergence; ``"mean"`` divides by all elements.

    Examples
    --------
    >>> import pyqref
    >>> x, target = pyqref.tensor([0.5, 0.5]).log(), pyqref.tensor([1.0, 0.0])
    >>> pyqref.nn.functional.kl_div(x, target, reduction="sum").item()
    0.6931471824645996
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    _check("kl_div", input, target)
    if reduction == "mean":
        warnings.warn(
            "reduction: 'mean' divides the total loss by both the batch size and the support "
            "size. 'batchmean' divides only by the batch size, and aligns with the KL div math "
            "definition. 'mean' will be changed to behave the same as 'batchmean' in the next "
            "major release.",
            UserWarning,
            stacklevel=3,
        )
    if reduction == "batchmean":
        loss = apply(tape.KlDiv, input, target, "sum", log_target)
        return loss / input.shape[0] if input.ndim else loss
    require_reduction(reduction)
    return apply(tape.KlDiv, input, target, reduction, log_target)


explain_errors(globals())
