"""``CountedObserverBase``: counts on a grid, from which subclasses find a range."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor
from pyqref.numerics.moving_average import extreme_range
from pyqref.numerics.nested_histogram import (
    EMPTY,
    NestedHistogram,
    join_histograms,
    nested_edges,
)
from pyqref.numerics.widening_histogram import (
    MOST_BINS,
    TooManyBinsError,
    WideningHistogram,
    widen_magnitudes,
    widen_values,
)
from pyqref.tape import Array
from pyqref.tensor.assign import assign
from pyqref.tensor.base import wrap
from pyqref.tensor.quantized.validation import no_such_axis

from .checks import calibration_array, named, not_finite
from .merging import channels_differ
from .rows import RowsObserverBase

#: The largest magnitude whose range, from minus to plus, has a width in float32.
WIDEST = float(np.finfo(np.float32).max) / 2

__all__ = ["CountedObserverBase", "one_of", "whole_number"]


class CountedObserverBase(RowsObserverBase):
    r"""Base of the observers that count numbers and find the range in the counts.

    On the nested grid the bins are a power of two wide, and zero is an edge. Where a tensor
    exceeds the grid, pairs of bins are joined (``eq-nested-merge``), which is exact: the
    counts depend neither on the order of the data nor on how they were divided.

    Parameters
    ----------
    bins
        Number of bins of the grid, a multiple of 4.
    grid
        ``"nested"``; or ``"values"`` or ``"magnitudes"``, whose first tensor fixes the width of a
        bin, as in onnxruntime (``eq-widen-values``, ``eq-widen-magnitudes``).
    ch_axis
        The axis of the channels for a per-channel scheme.
    **arguments
        Those of :class:`UniformQuantizationObserverBase`.

    Attributes
    ----------
    histogram : Tensor
        int64 counts, ``(1, bins)`` or ``(C, bins)``.
    exponent : Tensor
        int64, ``(1,)`` or ``(C,)``: bins of the nested grid are ``2**exponent`` wide.
    edges : Tensor
        float32 ``(bins + 1,)``: on the other grids, the edges.
    min_val, max_val : Tensor
        float32, ``()`` or ``(C,)``: the extremes.

    Notes
    -----
    A subclass defines :meth:`range_of`.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization import CountedObserverBase
    >>> class WithoutEmptyBins(CountedObserverBase):
    ...     def range_of(self, counts, edges):
    ...         filled = counts.nonzero()[0]
    ...         return edges[filled[0]], edges[filled[-1] + 1]
    >>> observer = WithoutEmptyBins(bins=16)
    >>> _ = observer(pyqref.tensor([-1.0, 0.3, 3.0]))
    >>> observer.histogram[0].tolist()
    [0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0]
    >>> observer.find_range()
    (tensor(-1.), tensor(3.))
    """

    histogram: Any
    min_val: Any
    max_val: Any

    def __init__(self, bins: int, grid: str = "nested", ch_axis: int = 0, **arguments: Any) -> None:
        super().__init__(ch_axis, **arguments)
        name = type(self).__name__
        if self.qscheme.is_per_channel and grid != "nested":
            raise NotImplementedError(
                f"{name}: definition='onnxruntime' has one range for all channels, "
                f"got {self.qscheme!r}; leave definition out"
            )
        self.bins = whole_number(name, "bins", bins, 4, MOST_BINS)
        if self.bins % 4:
            raise ValueError(f"{name}: bins must be a multiple of 4, got {bins}")
        self.grid = grid
        for buffer in ("histogram", "exponent" if grid == "nested" else "edges"):
            self.register_buffer(buffer, None)
        self.register_buffer("min_val", None)
        self.register_buffer("max_val", None)
        self.reset_min_max_vals()

    @abstractmethod
    def range_of(self, counts: Array, edges: Array) -> tuple[float, float]:
        """The range to quantize, from the counts of one row and its edges."""

    def forward(self, x_orig: Tensor) -> Tensor:
        """Count ``x_orig``, which is returned."""
        x = calibration_array(self, x_orig)
        if x.size:
            axis = self._axis(x_orig._array.ndim)
            seen = self._buffers
            low, high = seen["min_val"]._array, seen["max_val"]._array
            if axis is not None and low.size not in (0, x.shape[axis]):
                raise ValueError(
                    f"{named(self)}: axis {axis} must have {low.size} channels as before, "
                    f"got {x.shape[axis]} in shape {x.shape}; call reset_min_max_vals() first"
                )
            found = _kernels.running_range(low, high, x, axis)
            if found is None:
                raise not_finite(self, x)
            rows = x.reshape(1, -1) if axis is None else _rows(x, axis)
            self._count(rows)
            assign(seen["min_val"], found[0])
            assign(seen["max_val"], found[1])
        return x_orig

    def _axis(self, ndim: int) -> int | None:
        if not self.qscheme.is_per_channel:
            return None
        if not -ndim <= self.ch_axis < ndim:
            raise no_such_axis(f"{named(self)}: ch_axis", self.ch_axis, ndim)
        return self.ch_axis % ndim

    def _count(self, rows: Array) -> None:
        """Add the counts of new rows to those that are kept."""
        if self.grid == "nested":
            kept = self._nested()
            least = kept.exponents if kept.exponents.size else EMPTY
            new = _kernels.nested_counts(rows, self.bins, least)
            self._keep(join_histograms(kept, new) if kept.exponents.size else new)
            return
        seen = self._buffers
        before = None
        if self.min_val.item() <= self.max_val.item():
            before = WideningHistogram(seen["histogram"]._array[0], seen["edges"]._array)
        reach = max(self.max_val.item(), -self.min_val.item(), *map(abs, _kernels.min_max(rows)))
        if reach > WIDEST:
            raise ValueError(
                f"{named(self)}: definition='onnxruntime' takes magnitudes up to {WIDEST:.3g}, got "
                f"{reach:.3g}; leave definition out: the default grid has room for all of float32"
            )
        widen = widen_values if self.grid == "values" else widen_magnitudes
        try:
            counts, edges = widen(before, rows[0], self.bins, _kernels.edge_counts)
        except TooManyBinsError as error:
            raise ValueError(
                f"{named(self)}: this tensor needs {error.bins:.0f} bins of the width that the "
                f"first tensor fixed, at most {MOST_BINS} are kept; show the observer a typical "
                "tensor first, or leave definition out: the default grid has a constant size"
            ) from None
        self._buffers["histogram"] = wrap(counts[None])
        self._buffers["edges"] = wrap(edges)

    def _nested(self) -> NestedHistogram:
        seen = self._buffers
        return NestedHistogram(seen["histogram"]._array, seen["exponent"]._array)

    def _keep(self, histogram: NestedHistogram) -> None:
        for name, values in zip(("histogram", "exponent"), histogram, strict=True):
            own = self._buffers[name]
            if own._array.shape == values.shape:
                assign(own, values)
            else:
                own._array = values

    def _merge(self, other: Any) -> None:
        """Add the counts of ``other`` (``eq-nested-merge``)."""
        if self.grid != "nested":
            raise ValueError(
                f"{named(self)}: merge needs bins that do not depend on the first tensor, which "
                "those of definition='onnxruntime' do; leave definition out"
            )
        own, given = self.min_val._array.size, other.min_val._array.size
        if not other._has_data():
            return
        if own not in (0, given):
            raise channels_differ(self, own, given)
        low, high = other.min_val._array, other.max_val._array
        if own:
            low, high = extreme_range(self.min_val._array, self.max_val._array, low, high)
        kept, new = self._nested(), other._nested()
        joined = join_histograms(kept, new) if kept.exponents.size else new
        self._keep(NestedHistogram(joined.counts.copy(), joined.exponents.copy()))
        assign(self.min_val, low)
        assign(self.max_val, high)

    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """Scale and zero point of the range that was found, of shape ``(1,)`` or ``(C,)``."""
        low, high = self.min_val._array, self.max_val._array
        if low.size == 0 or (low > high).any():
            return self._calculate_qparams(self.min_val, self.max_val)
        found = self.find_range()
        return self._calculate_qparams(*found)

    def find_range(self) -> tuple[Tensor, Tensor]:
        """The ends of the range to quantize, within the extremes; of the shape of ``min_val``."""
        low, high = self.min_val._array, self.max_val._array
        counts = self.histogram._array
        ranges = [self.range_of(row, self._edges(at)) for at, row in enumerate(counts)]
        lows = np.maximum(np.array([each for each, _ in ranges]), np.atleast_1d(low))
        highs = np.minimum(np.array([each for _, each in ranges]), np.atleast_1d(high))
        lows, highs = lows.astype(np.float32), highs.astype(np.float32)
        return wrap(lows.reshape(low.shape)), wrap(np.maximum(lows, highs).reshape(low.shape))

    def _edges(self, row: int) -> Array:
        if self.grid == "nested":
            exponent = int(self._buffers["exponent"]._array[row])
            return nested_edges(exponent, self.histogram._array.shape[1])
        edges: Array = self._buffers["edges"]._array
        return edges

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        rows = 0 if self.qscheme.is_per_channel else 1
        self._buffers["histogram"] = wrap(np.zeros((rows, self.bins), np.int64))
        if self.grid == "nested":
            self._buffers["exponent"] = wrap(np.full(rows, EMPTY, np.int64))
        else:
            self._buffers["edges"] = wrap(np.zeros(self.bins + 1, np.float32))
        shape = (0,) if self.qscheme.is_per_channel else ()
        self._buffers["min_val"] = wrap(np.full(shape, np.inf, np.float32))
        self._buffers["max_val"] = wrap(np.full(shape, -np.inf, np.float32))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Take the number of channels from the state, and that of bins where the grid grows."""
        counts = state_dict.get(f"{prefix}histogram")
        if counts is not None and self.grid == "nested" and counts.shape[-1] != self.bins:
            raise ValueError(
                f"{named(self)}: bins must be that of the loaded histogram, {counts.shape[-1]}, "
                f"got {self.bins}"
            )
        for name, own in self._buffers.items():
            given = state_dict.get(prefix + name)
            if given is not None and name != "eps" and given.shape != own.shape:
                if len(given.shape) != own.dim():
                    continue
                self._buffers[name] = wrap(np.zeros(tuple(given.shape), own._array.dtype))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        """The extremes."""
        if self.qscheme.is_per_channel:
            return f"min_val={self.min_val}, max_val={self.max_val}"
        return f"min_val={self.min_val.item()}, max_val={self.max_val.item()}"


def _rows(x: Array, axis: int) -> Array:
    """The numbers of each channel."""
    return np.ascontiguousarray(np.moveaxis(x, axis, 0)).reshape(x.shape[axis], -1)


def whole_number(name: str, what: str, value: object, least: int, most: int) -> int:
    """Return ``value``; raise unless it is an int in [least, most]."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name}: {what} must be an int, got {value!r}")
    if not least <= value <= most:
        raise ValueError(f"{name}: {what} must be in [{least}, {most}], got {value}")
    return value


def one_of(name: str, what: str, value: object, allowed: tuple[object, ...]) -> None:
    """Raise ValueError unless ``value`` is one of those allowed."""
    if value not in allowed:
        raise ValueError(f"{name}: {what} must be one of {allowed}, got {value!r}")
