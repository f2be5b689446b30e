"""``MSEObserver``: the range with the least squared error."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_tensor_affine, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.qparams import EPS
from pyqref.numerics.squared_error_range import golden_section, grid_search
from pyqref.tape import Array
from pyqref.tensor.base import wrap

from .counted import CountedObserverBase, one_of, whole_number

__all__ = ["MSEObserver"]

_SEARCHES = {"grid": grid_search, "golden_section": golden_section}
#: Steps of a search where none are given: 0.01 of the range, or 0.618 ** 16 = 0.0005 of it.
_STEPS = {"grid": 100, "golden_section": 16}


class MSEObserver(CountedObserverBase):
    r"""Observe counts, and quantize the part of the range with the least squared error.

    Both extremes are multiplied by a share :math:`\alpha \in (0, 1]`. The share is chosen whose
    scale and zero point, those that are used in the end, have the least error on the counts
    (``eq-staircase-error``).

    Parameters
    ----------
    search
        ``"grid"``: equally spaced shares (``eq-grid-search``). ``"golden_section"``: fewer
        error sums, for an error that falls and then rises (``eq-golden-section``).
    steps
        Steps of the search; if None, 100 of a grid, or 16 of golden sections.
    bins
        Number of bins, a multiple of 4.
    ch_axis
        The axis of the channels for a per-channel scheme, each of which gets a share.
    dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps
        As in :class:`UniformQuantizationObserverBase`.
    is_dynamic
        Must be False.

    Attributes
    ----------
    histogram, exponent, min_val, max_val : Tensor
        As in :class:`CountedObserverBase`. Memory does not grow with the data.

    Raises
    ------
    ValueError
        A number or a name is out of range; when called: the data holds nan or infinity.
    NotImplementedError
        ``is_dynamic``, or the scheme ``per_channel_affine_float_qparams``.

    Notes
    -----
    Counts are kept on nested grids, which merge exactly. The numbers within a bin are taken to be
    spread evenly.

    Examples
    --------
    >>> import pyqref
    >>> _ = pyqref.manual_seed(0)
    >>> observer = MSEObserver(quant_min=0, quant_max=15)  # 4 bits: clipping pays
    >>> _ = observer(pyqref.randn(10000))
    >>> low, high = observer.find_range()
    >>> 0.5 < high.item() / observer.max_val.item() < 0.8
    True
    """

    def __init__(
        self,
        search: Literal["grid", "golden_section"] = "grid",
        steps: int | None = None,
        bins: int = 2048,
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
        one_of(name, "search", search, tuple(_SEARCHES))
        chosen = _STEPS[search] if steps is None else whole_number(name, "steps", steps, 1, 10_000)
        super().__init__(
            bins=bins,
            ch_axis=ch_axis,
            takes_float_qparams=False,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            factory_kwargs=factory_kwargs,
            eps=eps,
            is_dynamic=is_dynamic,
        )
        self.search, self.steps = search, chosen

    def find_range(self) -> tuple[Tensor, Tensor]:
        """The ends of the range to quantize, of the shape of ``min_val``."""
        low, high = np.atleast_1d(self.min_val._array), np.atleast_1d(self.max_val._array)
        counts = self.histogram._array
        edges = np.stack([self._edges(row) for row in range(len(counts))])

        def ends(share: Array) -> tuple[Array, Array]:
            return (low * share).astype(np.float32), (high * share).astype(np.float32)

        def errors(share: Array) -> Array:
            scale, zero_point = self._from_range(*ends(share))
            limits = self.quant_min, self.quant_max
            return _kernels.staircase_errors(counts, edges, scale, zero_point, *limits)

        first, last = ends(_SEARCHES[self.search](errors, len(counts), self.steps))
        shape = self.min_val._array.shape
        return wrap(first.reshape(shape)), wrap(last.reshape(shape))

    def range_of(self, counts: Array, edges: Array) -> tuple[float, float]:
        """Not asked for: :meth:`find_range` looks at all rows together."""
        raise NotImplementedError("MSEObserver finds the ranges of all channels together")
