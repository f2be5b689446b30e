"""``PercentileObserver``: the range without the outermost shares of the data."""

from __future__ import annotations

from typing import Any, Literal

from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_tensor_affine, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.percentile_range import (
    fold_magnitudes,
    percentile_range,
    percentile_threshold,
)
from pyqref.numerics.qparams import EPS
from pyqref.tape import Array

from .counted import CountedObserverBase, one_of

__all__ = ["PercentileObserver"]


class PercentileObserver(CountedObserverBase):
    r"""Observe counts, and quantize the range that holds a percentage of the data.

    The same share of the data is left out on either side (``eq-percentile-range``); where the
    range is symmetric, a share of the largest magnitudes (``eq-percentile-threshold``). Scale and
    zero point follow as in :class:`MinMaxObserver`.

    Parameters
    ----------
    percentile
        Percentage of the data within the range, in (0, 100].
    bins
        Number of bins, a multiple of 4.
    symmetric
        Whether the range is symmetric about zero before it is cut to the extremes; if None, as
        ``qscheme`` is.
    definition
        ``"nested"``: counts are kept on nested grids, which merge exactly, and the range holds
        the whole outermost bin. ``"onnxruntime"``: the first tensor fixes the width of a bin, the
        upper end is the lower edge of the outermost bin, and the result is that of
        ``CalibrationMethod.Percentile`` if each tensor is a call of its ``collect_data``.
    ch_axis
        The axis of the channels for a per-channel scheme, each of which gets a range.
    dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps
        As in :class:`UniformQuantizationObserverBase`.
    is_dynamic
        Must be False.

    Attributes
    ----------
    histogram, exponent, edges, min_val, max_val : Tensor
        As in :class:`CountedObserverBase`. Memory does not grow with the data.

    Raises
    ------
    ValueError
        A number or a name is out of range; when called: the data holds nan or infinity.
    NotImplementedError
        ``is_dynamic``, or onnxruntime's definition with a per-channel scheme.

    Notes
    -----
    onnxruntime's own defaults are ``bins=2048`` and ``symmetric=True``. On the nested grid each
    end is within one bin of the exact percentile, a bin being at most ``4 / bins`` of the largest
    magnitude.

    Examples
    --------
    >>> import pyqref
    >>> observer = PercentileObserver(percentile=99.0)
    >>> x = pyqref.linspace(-1.0, 1.0, 1001)
    >>> x[0] = -50.0  # one outlier
    >>> _ = observer(x)
    >>> observer.min_val.item(), [round(each.item(), 2) for each in observer.find_range()]
    (-50.0, [-1.0, 1.0])
    """

    def __init__(
        self,
        percentile: float = 99.999,
        bins: int = 8192,
        symmetric: bool | None = None,
        definition: Literal["nested", "onnxruntime"] = "nested",
        ch_axis: int = 0,
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
    ) -> None:
        name = type(self).__name__
        one_of(name, "definition", definition, ("nested", "onnxruntime"))
        one_of(name, "symmetric", symmetric, (None, True, False))
        if isinstance(percentile, bool) or not isinstance(percentile, int | float):
            raise TypeError(f"{name}: percentile must be a number, got {percentile!r}")
        if not 0 < percentile <= 100:
            raise ValueError(f"{name}: percentile must be in (0, 100], got {percentile}")
        if symmetric is None:  # a wrong scheme is refused below
            is_symmetric = isinstance(qscheme, Qscheme) and qscheme.is_symmetric
        else:
            is_symmetric = symmetric
        widening = "magnitudes" if is_symmetric else "values"
        super().__init__(
            bins=bins,
            grid="nested" if definition == "nested" else widening,
            ch_axis=ch_axis,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
        )
        self.percentile = percentile
        self.symmetric = is_symmetric
        self.definition = definition

    def range_of(self, counts: Array, edges: Array) -> tuple[float, float]:
        """The range between the percentiles."""
        whole_bin = self.definition == "nested"
        if not self.symmetric:
            return percentile_range(counts, edges, self.percentile, whole_bin=whole_bin)
        if self.grid == "nested":
            counts, edges = fold_magnitudes(counts), edges[counts.size // 2 :]
        end = percentile_threshold(counts, edges, self.percentile, whole_bin=whole_bin)
        return -end, end
