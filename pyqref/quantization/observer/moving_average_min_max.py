"""``MovingAverageMinMaxObserver``: the range, with a short memory."""

from __future__ import annotations

from typing import Any

from pyqref import _kernels
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_tensor_affine, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.qparams import EPS
from pyqref.tape import Array

from .min_max import MinMaxObserver

__all__ = ["MovingAverageMinMaxObserver"]


class MovingAverageMinMaxObserver(MinMaxObserver):
    r"""Observe the moving average of the smallest and of the largest number of each tensor.

    With the averaging constant ``c`` (``eq-average-range``)

    .. math::
        x_{min} &= \min X \text{ for the first tensor, then } (1 - c)\, x_{min} + c \min X \\
        x_{max} &= \max X \text{ for the first tensor, then } (1 - c)\, x_{max} + c \max X

    The scale and zero point follow as in :class:`MinMaxObserver`.

    Parameters
    ----------
    averaging_constant
        Weight of the newest tensor, in [0, 1]. 1 remembers only that one.
    dtype, qscheme, reduce_range, quant_min, quant_max, eps, is_dynamic
        As in :class:`MinMaxObserver`.

    Raises
    ------
    ValueError
        ``averaging_constant`` is not in [0, 1].
    NotImplementedError
        ``is_dynamic`` with an averaging constant other than 1, or a per-channel scheme.

    Notes
    -----
    Computed as ``x_min + c * (min(X) - x_min)`` in float32, as torch does. Source:
    ``torch.quantization.MovingAverageMinMaxObserver``.

    Examples
    --------
    >>> import pyqref
    >>> observer = MovingAverageMinMaxObserver(averaging_constant=0.5)
    >>> _ = observer(pyqref.tensor([0.0, 1.0])), observer(pyqref.tensor([-1.0, 3.0]))
    >>> observer
    MovingAverageMinMaxObserver(min_val=-0.5, max_val=2.0)
    """

    def __init__(
        self,
        averaging_constant: float = 0.01,
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        check_averaging(type(self).__name__, averaging_constant, is_dynamic)
        super().__init__(
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

    def _range_with(self, low: Array, high: Array, x: Array) -> tuple[Array, Array] | None:
        return _kernels.running_range(low, high, x, None, self.averaging_constant)


def check_averaging(name: str, averaging_constant: float, is_dynamic: bool) -> None:
    """Refuse an averaging constant out of range, or one that dynamic use contradicts."""
    if isinstance(averaging_constant, bool) or not isinstance(averaging_constant, int | float):
        raise TypeError(f"{name}: averaging_constant must be a number, got {averaging_constant!r}")
    if not 0 <= averaging_constant <= 1:
        raise ValueError(f"{name}: averaging_constant must be in [0, 1], got {averaging_constant}")
    if is_dynamic and averaging_constant != 1:
        raise NotImplementedError(
            f"{name}: is_dynamic needs averaging_constant=1 (each tensor by itself), "
            f"got {averaging_constant}"
        )
