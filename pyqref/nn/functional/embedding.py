"""Rows of a table by their indices, alone or bag by bag; one-hot codes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..._typing import Tensor
from ...tape import embedding as tape
from ...tensor.arguments import as_number
from ...tensor.base import wrap
from ...tensor.dispatch import apply
from ...tensor.memory import require_memory
from ...tensor.refusal import refuse_quantized
from ...tensor.wrong_arguments import explain_errors
from .checks import require_floating, require_indices, require_tensor, shape_text

__all__ = ["embedding", "embedding_bag", "one_hot"]


def _renormalize(weight: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    """Shrink in place the rows that are looked up to norm ``max_norm`` where they are longer."""
    max_norm = as_number(max_norm, "max_norm")
    norm_type = as_number(norm_type, "norm_type")
    rows = np.unique(indices)
    table = weight._array
    norms = np.linalg.norm(table[rows].astype(np.float64), ord=norm_type, axis=1)
    long = norms > max_norm
    if long.any():
        scale = max_norm / (norms[long] + 1e-7)
        table[rows[long]] *= scale[:, None].astype(table.dtype)
        weight._version[0] += 1


def _require_table(weight: Any) -> None:
    if weight._array.ndim != 2:
        raise RuntimeError(f"'weight' must be 2-D, got {shape_text(weight)}")


def _padding_index(function: str, padding_idx: int | None, count: int) -> int | None:
    if padding_idx is None:
        return None
    if not (-count <= padding_idx < count):
        raise RuntimeError(
            f"{function}(): padding_idx must be within the number of embeddings, in "
            f"[{-count}, {count}), got {padding_idx}"
        )
    return padding_idx % count


def _no_sparse(function: str, sparse: bool) -> None:
    if sparse:
        warnings.warn(
            f"{function}(): sparse=True has no effect, gradients are dense in pyqref",
            UserWarning,
            stacklevel=4,
        )


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """``weight[input]``.

    Parameters
    ----------
    input
        Integers in [0, V), shape `(*)`.
    weight
        The table, shape `(V, D)`.
    padding_idx
        A row that gets no gradient.
    max_norm, norm_type
        Rows that are looked up and whose norm is above ``max_norm`` are first scaled to it,
        in place.
    scale_grad_by_freq
        Divide the gradient of a row by the number of times that it was looked up.
    sparse
        Without effect: gradients are dense here; a warning says so.

    Returns
    -------
    Tensor
        Shape `(*, D)`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> F.embedding(pyqref.tensor([[2, 0]]), pyqref.tensor([[1.0], [2.0], [3.0]])).tolist()
    [[[3.0], [1.0]]]
    """
    require_floating("embedding", "weight", weight)
    _require_table(weight)
    require_indices("embedding", "input", input, weight._array.shape[0])
    padding_idx = _padding_index("embedding", padding_idx, weight._array.shape[0])
    _no_sparse("embedding", sparse)
    if max_norm is not None:
        refuse_quantized(weight)
        _renormalize(weight, input._array, max_norm, norm_type)
    return apply(tape.Embedding, weight, input, padding_idx, scale_grad_by_freq)


def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sum, mean or maximum of the rows of each bag.

    Parameters
    ----------
    input
        Integers in [0, V): `(B, n)`, a bag a row, or `(total,)` with ``offsets``.
    weight
        The table, shape `(V, D)`.
    offsets
        Where each bag starts in ``input``, shape `(B,)`, beginning with 0; with
        ``include_last_offset`` one more, the end of the last.
    mode
        ``"sum"``, ``"mean"`` or ``"max"``.
    per_sample_weights
        A factor for each row, of the shape of ``input``; ``"sum"`` only.
    padding_idx
        Entries with this index are left out of their bags.

    Returns
    -------
    Tensor
        Shape `(B, D)`; zeros for an empty bag.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.nn import functional as F
    >>> rows, bags = pyqref.tensor([[1.0], [2.0], [6.0]]), pyqref.tensor([0, 2])  # 0 and 1, then 2
    >>> F.embedding_bag(pyqref.tensor([0, 1, 2]), rows, bags).tolist()
    [[1.5], [6.0]]
    >>> F.embedding_bag(pyqref.tensor([[0, 2]]), rows, mode="max").tolist()
    [[6.0]]
    """
    function = "embedding_bag"
    require_floating(function, "weight", weight)
    _require_table(weight)
    require_indices(function, "input", input, weight._array.shape[0])
    require_tensor(function, "offsets", offsets, optional=True)
    require_tensor(function, "per_sample_weights", per_sample_weights, optional=True)
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"mode has to be one of sum, mean or max, got {mode!r}")
    if per_sample_weights is not None:
        if mode != "sum":
            raise NotImplementedError(
                "embedding_bag: per_sample_weights is only supported for mode='sum', "
                f"got mode={mode!r}"
            )
        if per_sample_weights._array.shape != input._array.shape:
            raise ValueError("embedding_bag: per_sample_weights must have the shape of input")
    if scale_grad_by_freq and mode == "max":
        raise ValueError("embedding_bag: scale_grad_by_freq is not supported for mode='max'")
    _no_sparse(function, sparse)
    indices = input._array.reshape(-1)
    starts, ends = _limits_of_bags(input, offsets, include_last_offset)
    padding_idx = _padding_index(function, padding_idx, weight._array.shape[0])
    if per_sample_weights is not None:
        per_sample_weights = per_sample_weights.reshape(-1)
    if padding_idx is not None:
        kept = indices != padding_idx
        before = np.concatenate([[0], np.cumsum(kept)])
        starts, ends = before[starts], before[ends]
        indices = indices[kept]
        if per_sample_weights is not None:
            per_sample_weights = per_sample_weights[wrap(kept)]
    if max_norm is not None:
        refuse_quantized(weight)
        _renormalize(weight, indices, max_norm, norm_type)
    return apply(
        tape.EmbeddingBag,
        weight,
        wrap(indices),
        wrap(starts),
        wrap(ends),
        mode,
        per_sample_weights,
        scale_grad_by_freq,
    )


def _limits_of_bags(input: Any, offsets: Any, include_last_offset: bool) -> tuple[Any, Any]:
    """The first entry of each bag, and the one behind its last, in int64."""
    refuse_quantized(offsets)
    shape = input._array.shape
    if len(shape) == 2:
        if offsets is None:
            rows, columns = shape
            ends = np.arange(1, rows + 1) * columns
            return ends - columns, ends
        raise ValueError(
            "if input is 2D, then offsets has to be None, as input is treated as a mini-batch of "
            "fixed length sequences"
        )
    if len(shape) != 1:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {len(shape)}"
        )
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets._array.ndim != 1:
        raise ValueError(f"offsets has to be a 1D Tensor, got {shape_text(offsets)}")
    starts = offsets._array.astype(np.int64, copy=False)
    if include_last_offset and len(starts) == 0:
        raise RuntimeError("include_last_offset: number of offsets should be at least 1")
    if len(starts) and starts[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence starts at 0, got "
            f"{starts[:1].tolist()}"
        )
    ends = np.empty_like(starts)
    ends[:-1], ends[-1:] = starts[1:], shape[0]
    if np.logical_or.reduce(ends < starts):
        raise RuntimeError(
            f"offsets must not decrease and not exceed the length of input, {shape[0]}, "
            f"got {starts.tolist()}"
        )
    return (starts[:-1], ends[:-1]) if include_last_offset else (starts, ends)


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """Vectors of ``num_classes`` elements that are 1 at the given index and 0 elsewhere.

    ``tensor`` holds int64 in [0, num_classes), shape `(*)`; the result, int64, is
    `(*, num_classes)`.
    With -1 there are as many classes as the largest index asks for.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.nn.functional.one_hot(pyqref.tensor([0, 2])).tolist()
    [[1, 0, 0], [0, 0, 1]]
    """
    require_tensor("one_hot", "tensor", tensor)
    array = tensor._array
    if array.dtype != np.int64:
        raise RuntimeError(
            f"one_hot is only applicable to index tensor of type LongTensor, got {tensor.dtype}"
        )
    if num_classes == -1:
        if array.size == 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        num_classes = int(array.max()) + 1
    if num_classes <= 0:
        raise RuntimeError(f"num_classes should be positive, got {num_classes}")
    require_memory((*array.shape, num_classes), 8, "one_hot: a result")
    if not (array.size == 0 or (array.min() >= 0 and array.max() < num_classes)):
        raise RuntimeError(
            f"one_hot(): class values must be in [0, {num_classes}), got values from "
            f"{array.min(initial=0)} to {array.max(initial=0)}"
        )
    return wrap((array[..., None] == np.arange(num_classes)).astype(np.int64))


explain_errors(globals())
