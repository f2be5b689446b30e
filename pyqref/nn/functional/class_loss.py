"""Losses of classes: negative log-likelihood and cross entropy."""

from __future__ import annotations

from typing import Any

from ..._typing import Tensor
from ...tape import class_loss as tape
from ...tensor.dispatch import apply
from ...tensor.refusal import refuse_quantized
from ...tensor.wrong_arguments import explain_errors
from .checks import (
    require_floating,
    require_same_dtype,
    require_shape,
    require_tensor,
    shape_text,
)
from .loss import legacy_reduction, require_reduction
from .softmax import log_softmax

__all__ = ["cross_entropy", "nll_loss"]


def _check_classes(function: str, input: Any, target: Any, weight: Any, ignore_index: int) -> None:
    """``input`` is `(N, C, *)` or `(C,)` and ``target`` the same without C, in [0, C)."""
    if input.ndim < 1:
        raise RuntimeError(f"{function}(): expected input of shape [N, C, *] or [C], got []")
    axis = 1 if input.ndim > 1 else 0
    classes = input.shape[axis]
    expected = [*input.shape[:axis], *input.shape[axis + 1 :]]
    if input.ndim > 1 and target.ndim >= 1 and input.shape[0] != target.shape[0]:
        raise ValueError(
            f"Expected input batch_size ({input.shape[0]}) to match target batch_size "
            f"({target.shape[0]})."
        )
    if list(target.shape) != expected:
        raise RuntimeError(
            f"{function}(): expected target of shape {expected} for input of shape "
            f"{shape_text(input)}, got {shape_text(target)}"
        )
    if target._array.dtype.kind not in "iu":
        raise RuntimeError(
            f"{function}(): expected target of dtype int64 (class indices), got {target.dtype}"
        )
    require_same_dtype(function, "input", input, weight=weight)
    require_shape(function, "weight", weight, (classes,))
    array = target._array
    if not array.size or (array.min() >= 0 and array.max() < classes):
        return
    wrong = array[((array < 0) | (array >= classes)) & (array != ignore_index)]
    if wrong.size:
        raise IndexError(
            f"Target {int(wrong.flat[0])} is out of bounds: {function}() expects classes in "
            f"[0, {classes}) or ignore_index={ignore_index}"
        )


def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``-weight[target] * input[target]`` for log-probabilities ``input``.

    Parameters
    ----------
    input
        Shape `(N, C, *)` or `(C,)`.
    target
        Integers in [0, C) or ``ignore_index``, shape `(N, *)` or `()`.
    weight
        Shape `(C,)`, or None. The mean is over the weights.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.nll_loss(pyqref.tensor([[-0.5, -2.0], [-3.0, -1.0]]), pyqref.tensor([0, 1])).item()
    0.75
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    require_floating("nll_loss", "input", input)
    require_tensor("nll_loss", "target", target)
    refuse_quantized(input, target, weight)
    require_reduction(reduction)
    _check_classes("nll_loss", input, target, weight, ignore_index)
    return apply(tape.Nll, input, target, weight, ignore_index, 0.0, reduction)


def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """Negative log-likelihood of ``softmax(input)`` over the classes.

    Parameters
    ----------
    input
        Logits, shape `(N, C, *)` or `(C,)`.
    target
        Class indices in [0, C) or ``ignore_index``, shape `(N, *)`; or class probabilities
        of the shape of ``input``.
    weight
        A factor for each class, shape `(C,)`, or None. The mean is over the weights for
        indices, over the places for probabilities.
    label_smoothing
        In [0, 1]: how much of the target is spread over all classes.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> scores = pyqref.tensor([[0.0, 0.0], [0.0, 1000.0]])
    >>> F.cross_entropy(scores, pyqref.tensor([1, 1]), reduction="none").tolist()
    [0.6931471824645996, -0.0]
    >>> F.cross_entropy(scores, pyqref.tensor([-100, 1])).item()  # -100 is left out
    0.0
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    require_floating("cross_entropy", "input", input)
    require_tensor("cross_entropy", "target", target)
    refuse_quantized(input, target, weight)
    require_reduction(reduction)
    if not (0.0 <= label_smoothing <= 1.0):
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    if input.ndim < 1:
        raise RuntimeError("cross_entropy(): expected input of shape [N, C, *] or [C], got []")
    dim = 1 if input.ndim > 1 else 0
    if target.dtype.is_floating_point and tuple(target.shape) == tuple(input.shape):
        require_same_dtype("cross_entropy", "input", input, target=target, weight=weight)
        require_shape("cross_entropy", "weight", weight, (input.shape[dim],))
        log_p = log_softmax(input, dim)
        return apply(tape.ProbabilityNll, log_p, target, weight, label_smoothing, reduction)
    _check_classes("cross_entropy", input, target, weight, ignore_index)
    log_p = log_softmax(input, dim)
    return apply(tape.Nll, log_p, target, weight, ignore_index, float(label_smoothing), reduction)


explain_errors(globals())
