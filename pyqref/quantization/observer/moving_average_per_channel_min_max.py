"""``MovingAveragePerChannelMinMaxObserver``: a range for each channel, with a short memory."""

from __future__ import annotations

from typing import Any

from pyqref import _kernels
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_channel_affine, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.qparams import EPS
from pyqref.tape import Array

from .moving_average_min_max import check_averaging
from .per_channel_min_max import PerChannelMinMaxObserver

__all__ = ["MovingAveragePerChannelMinMaxObserver"]


class MovingAveragePerChannelMinMaxObserver(PerChannelMinMaxObserver):
    r"""Observe the moving average of each channel's smallest and largest number.

    The average of :class:`MovingAverageMinMaxObserver` (``eq-average-range``), taken for
    each channel as in :class:`PerChannelMinMaxObserver`.

    Parameters
    ----------
    averaging_constant
        Weight of the newest tensor, in [0, 1].
    ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, eps, is_dynamic
        As in :class:`PerChannelMinMaxObserver`.

    Raises
    ------
    ValueError
        ``averaging_constant`` is not in [0, 1].

    Notes
    -----
    Source: ``torch.quantization.MovingAveragePerChannelMinMaxObserver``.

    Examples
    --------
    >>> import pyqref
    >>> observer = MovingAveragePerChannelMinMaxObserver(averaging_constant=0.5)
    >>> _ = observer(pyqref.tensor([[0.0, 1.0]])), observer(pyqref.tensor([[-1.0, 3.0]]))
    >>> observer
    MovingAveragePerChannelMinMaxObserver(min_val=tensor([-0.5000]), max_val=tensor([2.]))
    """

    def __init__(
        self,
        averaging_constant: float = 0.01,
        ch_axis: int = 0,
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_channel_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        check_averaging(type(self).__name__, averaging_constant, is_dynamic)
        super().__init__(
            ch_axis=ch_axis,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
            **kwargs,
        )
        self.averaging_constant = averaging_constant

    def _ranges_with(
        self, low: Array, high: Array, x: Array, axis: int
    ) -> tuple[Array, Array] | None:
        return _kernels.running_range(low, high, x, axis, self.averaging_constant)
