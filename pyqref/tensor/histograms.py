"""Counts of numbers in bins, and the edges of the bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._typing import Tensor
from .arguments import as_integer, described
from .base import TensorBase, wrap
from .dispatch import require_tensor
from .memory import require_memory
from .refusal import refuse_quantized
from .sequences import linspace
from .wrong_arguments import explains_errors

__all__ = ["Histogram", "histogram"]


class Histogram(NamedTuple):
    """Counts, and edges of the bins."""

    hist: Any
    bin_edges: Any

    def __repr__(self) -> str:
        return f"pyqref.return_types.histogram(\nhist={self.hist!r},\nbin_edges={self.bin_edges!r})"


@explains_errors
def histogram(
    input: Tensor,
    bins: int | Tensor,
    *,
    range: Sequence[float] | None = None,
    weight: Tensor | None = None,
    density: bool = False,
) -> Histogram:
    """Count the numbers in bins ``edge[i] <= x < edge[i + 1]``; the last has its end as well.

    Parameters
    ----------
    input
        Of floating point type; its shape does not matter.
    bins
        How many bins of equal width, or the edges, a rising vector.
    range
        The first and the last edge; the smallest and the largest number by default.
    weight
        What each number counts, 1 by default.
    density
        Divide by the total and the widths, so that the area is 1.

    Returns
    -------
    tuple
        ``hist``, shape `(bins,)`, and ``bin_edges``, shape `(bins + 1,)`.

    Examples
    --------
    >>> import pyqref
    >>> hist, edges = pyqref.histogram(pyqref.tensor([0.0, 0.5, 1.0, 3.0]), bins=2)
    >>> hist.tolist(), edges.tolist()
    ([3.0, 1.0], [0.0, 1.5, 3.0])
    """
    require_tensor("histogram", "input", input)
    refuse_quantized(input)
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"histogram: a floating point tensor is needed, got {input.dtype}")
    values = input._array.reshape(-1)
    if isinstance(bins, TensorBase):
        refuse_quantized(bins)
        edges = _edges(bins, values)
    else:
        edges = _equal(as_integer(bins, "histogram: bins"), range, input)
    weights = None
    if weight is not None:
        require_tensor("histogram", "weight", weight)
        refuse_quantized(weight)
        if tuple(weight.shape) != tuple(input.shape) or weight.dtype is not input.dtype:
            raise RuntimeError(
                "histogram: weight must have the shape and dtype of input, got "
                f"{list(weight.shape)} {weight.dtype} for {list(input.shape)} {input.dtype}"
            )
        weights = weight._array.reshape(-1)
    place = np.searchsorted(edges, values, side="right") - 1
    place[values == edges[-1]] = len(edges) - 2
    inside = (place >= 0) & (place < len(edges) - 1) & ~np.isnan(values)
    counted = None if weights is None else weights[inside]
    counts = np.bincount(place[inside], counted, len(edges) - 1).astype(values.dtype)
    if density:
        with np.errstate(divide="ignore", invalid="ignore"):
            counts = counts / counts.sum() / np.diff(edges)
    return Histogram(wrap(counts), wrap(edges))


def _edges(bins: Any, values: Any) -> Any:
    if bins.ndim != 1 or bins._array.size < 2 or bins._array.dtype != values.dtype:
        raise RuntimeError(
            "histogram: bins must be a vector of two edges or more, of the dtype of input, got "
            f"{list(bins.shape)} {bins.dtype}"
        )
    edges = bins._array.copy()
    if not (np.diff(edges) >= 0).all():
        raise RuntimeError("histogram: the edges in bins must rise")
    return edges


def _equal(bins: int, limits: Any, input: Any) -> Any:
    values = input._array
    if bins <= 0:
        raise RuntimeError(f"histogram: bins must be > 0, got {bins}")
    require_memory((bins,), 8, "histogram: a result")
    if limits is None:
        low, high = (values.min(), values.max()) if values.size else (0.0, 0.0)
    elif isinstance(limits, list | tuple) and len(limits) == 2:
        low, high = limits
    else:
        raise TypeError(f"histogram: range must be two numbers, got {described(limits)}")
    low, high = float(low), float(high)
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise RuntimeError(f"histogram: range [{low}, {high}] is not finite, or falls")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return linspace(low, high, bins + 1, dtype=input.dtype)._array
