"""Similarity and distance of vectors, and the losses made of them."""

from __future__ import annotations

from ..._typing import Tensor
from ...tensor.wrong_arguments import explain_errors
from .checks import require_floating
from .loss import legacy_reduction, reduced

__all__ = [
    "cosine_embedding_loss",
    "cosine_similarity",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "pairwise_distance",
    "soft_margin_loss",
    "triplet_margin_loss",
]


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """``x1 . x2 / (max(|x1|, eps) * max(|x2|, eps))`` along ``dim``; the two are broadcast.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.cosine_similarity(pyqref.tensor([[3.0, 4.0]]), pyqref.tensor([[4.0, 3.0]])).tolist()
    [0.9600000381469727]
    """
    require_floating("cosine_similarity", "x1", x1)
    require_floating("cosine_similarity", "x2", x2)
    norm1 = x1.norm(2, dim, keepdim=True).clamp_min(eps)
    norm2 = x2.norm(2, dim, keepdim=True).clamp_min(eps)
    return ((x1 / norm1) * (x2 / norm2)).sum(dim)


def pairwise_distance(
    x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False
) -> Tensor:
    """The ``p``-norm of ``x1 - x2 + eps`` along the last dimension.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.tensor([[3.0, 4.0]]), pyqref.tensor([[0.0, 0.0]])
    >>> pyqref.nn.functional.pairwise_distance(x, y, eps=0.0).tolist()
    [5.0]
    """
    require_floating("pairwise_distance", "x1", x1)
    require_floating("pairwise_distance", "x2", x2)
    return (x1 - x2 + eps).norm(p, -1, keepdim=keepdim)


def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, -target * (input1 - input2) + margin)`` for targets 1 and -1.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> x, y = pyqref.tensor([3.0, 3.0]), pyqref.tensor([1.0, 1.0])
    >>> F.margin_ranking_loss(x, y, pyqref.tensor([1, -1]), reduction="none").tolist()
    [0.0, 2.0]
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    require_floating("margin_ranking_loss", "input1", input1)
    return reduced((-target * (input1 - input2) + margin).clamp_min(0), reduction)


def hinge_embedding_loss(
    input: Tensor,
    target: Tensor,
    margin: float = 1.0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``input`` where the target is 1, ``max(0, margin - input)`` where it is -1.

    Examples
    --------
    >>> import pyqref
    >>> x, target = pyqref.tensor([0.25, 0.25]), pyqref.tensor([1, -1])
    >>> pyqref.nn.functional.hinge_embedding_loss(x, target, reduction="none").tolist()
    [0.25, 0.75]
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    require_floating("hinge_embedding_loss", "input", input)
    far = (margin - input).clamp_min(0) * (target != 1).to(input.dtype)
    near = input * (target != -1).to(input.dtype)
    return reduced(near + far, reduction)


def soft_margin_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``log(1 + exp(-target * input))`` for targets 1 and -1.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.soft_margin_loss(pyqref.tensor([1000.0]), pyqref.tensor([1.0])).item()
    0.0
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    require_floating("soft_margin_loss", "input", input)
    return reduced((-target * input).exp().log1p(), reduction)


def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor,
    target: Tensor,
    margin: float = 0,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``1 - cos`` where the target is 1, ``max(0, cos - margin)`` where it is -1.

    Examples
    --------
    >>> import pyqref
    >>> x, y = pyqref.tensor([[1.0, 0.0]]), pyqref.tensor([[0.0, 2.0]])
    >>> pyqref.nn.functional.cosine_embedding_loss(x, y, pyqref.tensor([1])).item()
    1.0
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    require_floating("cosine_embedding_loss", "input1", input1)
    cosine = cosine_similarity(input1, input2, dim=-1)
    near = (1 - cosine) * (target == 1).to(cosine.dtype)
    far = (cosine - margin).clamp_min(0) * (target == -1).to(cosine.dtype)
    return reduced(near + far, reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: float = 2,
    eps: float = 1e-06,
    swap: bool = False,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """``max(0, |anchor - positive| - |anchor - negative| + margin)``.

    With ``swap`` the second distance is the smaller of those from the anchor and from the
    positive.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> near, far = pyqref.tensor([[0.5]]), pyqref.tensor([[3.0]])
    >>> F.triplet_margin_loss(pyqref.tensor([[0.0]]), near, far, eps=0.0).item()
    0.0
    >>> F.triplet_margin_loss(pyqref.tensor([[0.0]]), far, near, eps=0.0).item()
    3.5
    """
    reduction = legacy_reduction(size_average, reduce, reduction)
    if not margin > 0:
        raise ValueError(f"triplet_margin_loss: margin must be positive, got {margin}")
    near = pairwise_distance(anchor, positive, p, eps)
    far = pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = far.minimum(pairwise_distance(positive, negative, p, eps))
    return reduced((near - far + margin).clamp_min(0), reduction)


explain_errors(globals())
