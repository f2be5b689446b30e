"""``PowerOfTwoObserver``: scales by which hardware multiplies with a shift."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_channel_affine, per_tensor_affine, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.learned_range import power_of_two_scale, power_of_two_zero_point
from pyqref.numerics.qparams import EPS
from pyqref.tape import Array

from .counted import one_of
from .moving_average_min_max import MovingAverageMinMaxObserver
from .moving_average_per_channel_min_max import MovingAveragePerChannelMinMaxObserver
from .uniform import UniformQuantizationObserverBase

__all__ = ["PerChannelPowerOfTwoObserver", "PowerOfTwoObserver"]

_ROUNDINGS = ("up", "nearest")


class _RoundedScale(UniformQuantizationObserverBase):
    """A scale that is rounded to a power of two, over a range that another class observes."""

    #: A fused fake quantizer asks the observer for its parameters.
    chooses_scale = True

    averaging_constant: Any

    def __init__(
        self, averaging_constant: float | None, rounding: Literal["up", "nearest"], **arguments: Any
    ) -> None:
        one_of(type(self).__name__, "rounding", rounding, _ROUNDINGS)
        weight = 1.0 if averaging_constant is None else averaging_constant
        super().__init__(averaging_constant=weight, **arguments)
        self.averaging_constant = averaging_constant
        self.rounding = rounding

    def _from_range(self, low: Array, high: Array) -> tuple[Array, Array]:
        """Round the scales, and find the zero points that go with those that changed."""
        scale, zero_point = super()._from_range(low, high)
        rounded = power_of_two_scale(scale, self.rounding)
        if self.qscheme.is_symmetric:
            return rounded, zero_point
        offset = power_of_two_zero_point(low, rounded, self.quant_min, self.quant_max)
        return rounded, np.where(rounded == scale, zero_point, offset).astype(zero_point.dtype)


class PowerOfTwoObserver(_RoundedScale, MovingAverageMinMaxObserver):
    r"""Observe the range, and round the scale to a power of two.

    .. math:: s' = 2^{\lceil \log_2 s \rceil}

    (``eq-power-of-two-scale``), with s as in :class:`MinMaxObserver`. The zero point is that of
    the new scale (``eq-power-of-two-zero-point``). A multiplication by such a scale is a shift.

    Parameters
    ----------
    averaging_constant
        None for the extremes of all data, as :class:`MinMaxObserver`; otherwise the weight of the
        newest tensor, as in :class:`MovingAverageMinMaxObserver`.
    rounding
        ``"up"``: the range is covered. ``"nearest"``: the nearer of both powers, which can cut
        up to a quarter of the range off.
    dtype, qscheme, reduce_range, quant_min, quant_max, eps, is_dynamic
        As in :class:`MinMaxObserver`.

    Raises
    ------
    ValueError
        A number or a name is out of range.

    Notes
    -----
    A :class:`FusedMovingAvgObsFakeQuantize` with this observer takes its scale and zero point from
    it, in training and in ``convert``.

    Examples
    --------
    >>> import pyqref
    >>> observer = PowerOfTwoObserver()
    >>> _ = observer(pyqref.tensor([-1.0, 3.0]))
    >>> observer.calculate_qparams()  # 4 / 255 = 0.0157 becomes 1 / 32
    (tensor([0.0312]), tensor([32], dtype=pyqref.int32))
    """

    def __init__(
        self,
        averaging_constant: float | None = None,
        rounding: Literal["up", "nearest"] = "up",
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(
            averaging_constant,
            rounding,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
        )


class PerChannelPowerOfTwoObserver(_RoundedScale, MovingAveragePerChannelMinMaxObserver):
    r"""Observe the range of each channel, and round its scale to a power of two.

    The scale of :class:`PowerOfTwoObserver` (``eq-power-of-two-scale``), for each channel as in
    :class:`PerChannelMinMaxObserver`.

    Parameters
    ----------
    averaging_constant, rounding
        As in :class:`PowerOfTwoObserver`.
    ch_axis, dtype, qscheme, reduce_range, quant_min, quant_max, eps, is_dynamic
        As in :class:`PerChannelMinMaxObserver`.

    Raises
    ------
    NotImplementedError
        The scheme is ``per_channel_affine_float_qparams``, whose zero points are not integers.

    Examples
    --------
    >>> import pyqref
    >>> observer = PerChannelPowerOfTwoObserver(
    ...     dtype=pyqref.qint8, qscheme=pyqref.per_channel_symmetric)
    >>> _ = observer(pyqref.tensor([[-100.0, 0.0], [1.0, 200.0]]))
    >>> observer.calculate_qparams()
    (tensor([1., 2.]), tensor([0, 0]))
    """

    def __init__(
        self,
        averaging_constant: float | None = None,
        rounding: Literal["up", "nearest"] = "up",
        ch_axis: int = 0,
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_channel_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(
            averaging_constant,
            rounding,
            ch_axis=ch_axis,
            dtype=dtype,
            qscheme=qscheme,
            reduce_range=reduce_range,
            quant_min=quant_min,
            quant_max=quant_max,
            eps=eps,
            is_dynamic=is_dynamic,
        )
        if not (qscheme.is_symmetric or qscheme is per_channel_affine):
            self._refuse_qscheme("per_channel_affine or per_channel_symmetric")
