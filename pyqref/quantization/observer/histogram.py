"""``HistogramObserver``: the range that costs least."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._typing import QScheme, Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_tensor_affine, per_tensor_symmetric, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.histogram import Histogram, search_range
from pyqref.numerics.merging import union_histogram
from pyqref.numerics.qparams import EPS
from pyqref.tape import Array
from pyqref.tensor.assign import assign
from pyqref.tensor.base import wrap

from .checks import calibration_array, named, not_finite
from .uniform import UniformQuantizationObserverBase

__all__ = ["HistogramObserver"]

#: Most bins that a histogram may have: its memory is bounded whatever the data.
MOST_BINS = 2**20
MOST_PARTS = 2**27


class HistogramObserver(UniformQuantizationObserverBase):
    r"""Observe a histogram, and quantize the part of its range that costs least.

    1. The histogram of the data is kept over the range seen so far. Where a tensor
       exceeds the range, the range grows and the counts move to the wider bins
       (``eq-histogram-merge``).
    2. The ends of the range are drawn in as long as the expected squared error of
       quantization falls (``eq-histogram-search``).
    3. Scale and zero point follow from what is left as in :class:`MinMaxObserver`.

    Parameters
    ----------
    bins
        Number of bins, at least 1.
    upsample_rate
        Into how many parts a bin is split when the range grows.
    dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps
        As in :class:`MinMaxObserver`.
    is_dynamic
        Must be False.

    Attributes
    ----------
    histogram : Tensor
        float32 counts ``(bins,)``. Memory does not grow with the data.
    min_val, max_val : Tensor
        Ends of the range, of shape ``()``.

    Raises
    ------
    NotImplementedError
        ``qscheme`` is per channel, or ``is_dynamic``.
    ValueError
        ``bins`` or ``upsample_rate`` is out of range; when called: the data holds nan
        or infinity (torch warns of infinity and leaves the tensor out).

    Notes
    -----
    Follows torch 2.13, whose positional arguments are ``(bins, dtype, ...)``; those of
    the documentation, ``(bins, upsample_rate, dtype, ...)``, are told apart by type. The
    documented ``upsample_rate=128`` is 16 in torch 2.13, and here. The search
    assumes 256 integers whatever ``quant_min`` and ``quant_max`` are, as torch does.
    Source: ``torch.quantization.HistogramObserver``.

    Examples
    --------
    >>> import pyqref
    >>> observer = HistogramObserver(bins=4)
    >>> _ = observer(pyqref.tensor([0.0, 1.0, 2.0, 4.0, 4.0]))
    >>> observer.histogram
    tensor([1., 1., 1., 2.])
    >>> observer
    HistogramObserver(min_val=0.0, max_val=4.0)
    """

    histogram: Any
    min_val: Any
    max_val: Any

    def __init__(
        self,
        bins: int = 2048,
        upsample_rate: int | Dtype = 16,
        dtype: Dtype = quint8,
        qscheme: QScheme = per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        if isinstance(upsample_rate, Dtype):
            dtype, qscheme, reduce_range = _shifted(upsample_rate, dtype, qscheme, reduce_range)
            upsample_rate = 16
        super().__init__(
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        if self.qscheme not in (per_tensor_affine, per_tensor_symmetric):
            self._refuse_qscheme("per_tensor_affine or per_tensor_symmetric")
        if is_dynamic:
            raise NotImplementedError(
                "HistogramObserver does not support dynamic quantization; "
                "use MinMaxObserver(is_dynamic=True)"
            )
        self.bins = _count("bins", bins, MOST_BINS)
        self.upsample_rate = _count("upsample_rate", upsample_rate, MOST_PARTS // self.bins)
        self.dst_nbins = 2 ** (8 * self.dtype.itemsize)
        self.register_buffer("histogram", wrap(np.zeros(self.bins, np.float32)))
        self.register_buffer("min_val", wrap(np.array(np.inf, np.float32)))
        self.register_buffer("max_val", wrap(np.array(-np.inf, np.float32)))

    def forward(self, x_orig: Tensor) -> Tensor:
        """Add ``x_orig``, which is returned, to the histogram."""
        x = calibration_array(self, x_orig)
        if x.size:
            seen = self._seen()
            first, last = seen[1:]
            if not last - first < inf:
                raise ValueError(
                    f"{named(self)}: min_val and max_val must be finite, got {first} and {last}, "
                    "as they were loaded or set; call reset_min_max_vals() first"
                )
            before = seen if first <= last else None
            counts, low, high = _kernels.merge_histogram(before, x, self.bins, self.upsample_rate)
            if not high - low < inf:
                raise not_finite(self, x)
            if low != first or high != last:
                self._set_range(low, high)
            assign(self._buffers["histogram"], counts)
        return x_orig

    def _seen(self) -> tuple[Array, float, float]:
        """Counts and range; before any data the range is empty, from infinity to its negative."""
        seen = self._buffers
        low, high = seen["min_val"]._array, seen["max_val"]._array
        return seen["histogram"]._array, low.item(), high.item()

    def _set_range(self, low: float, high: float) -> None:
        assign(self._buffers["min_val"], np.array(low, np.float32))
        assign(self._buffers["max_val"], np.array(high, np.float32))

    def _merge(self, other: Any) -> None:
        """Add the counts of ``other`` over the range of both (``eq-histogram-union``)."""
        mine, theirs = Histogram(*self._seen()), Histogram(*other._seen())
        if theirs.min_val <= theirs.max_val:
            if mine.min_val <= mine.max_val:
                theirs = union_histogram(mine, theirs, self.upsample_rate)
            assign(self.histogram, theirs.counts)
            self._set_range(theirs.min_val, theirs.max_val)

    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """Scale and zero point of the range that costs least, each of shape ``(1,)``."""
        seen = Histogram(*self._seen())
        if not seen.min_val < seen.max_val:
            return self._calculate_qparams(self.min_val, self.max_val)
        low, high = search_range(seen, self.dst_nbins)
        return self._calculate_qparams(
            wrap(np.array(low, np.float32)), wrap(np.array(high, np.float32))
        )

    def reset_histogram(self) -> None:
        """Forget what was seen."""
        assign(self.histogram, np.zeros(self.bins, np.float32))
        self._set_range(np.inf, -np.inf)

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        self.reset_histogram()

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Take the number of bins from the state."""
        counts = state_dict.get(f"{prefix}histogram")
        if counts is not None and len(counts.shape) == 1:
            self.bins = _count("bins of the loaded histogram", counts.shape[0], MOST_BINS)
            if self.histogram.shape != counts.shape:
                self.histogram = wrap(np.zeros(self.bins, np.float32))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        """The range."""
        return f"min_val={self.min_val.item()}, max_val={self.max_val.item()}"


def _shifted(second: Dtype, third: Any, fourth: Any, fifth: Any) -> tuple[Any, Any, Any]:
    """Dtype, qscheme and reduce_range out of positional arguments in the order of torch 2.13."""
    if not isinstance(third, Qscheme):
        return second, fourth, fifth
    if not isinstance(fourth, bool):
        return second, third, fifth
    if not isinstance(fifth, bool):
        raise TypeError("HistogramObserver: give quant_min and quant_max by name")
    return second, third, fourth


def _count(name: str, value: Any, most: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"HistogramObserver: {name} must be an int, got {value!r}")
    if not 1 <= value <= most:
        raise ValueError(f"HistogramObserver: {name} must be in [1, {most}], got {value}")
    return value
