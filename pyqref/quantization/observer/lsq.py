"""``LSQObserver``: the scale with which a learned step size begins."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_tensor_symmetric, qint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.learned_range import lsq_scale
from pyqref.numerics.qparams import EPS, symmetric_zero_point
from pyqref.tape import Array
from pyqref.tensor.assign import assign
from pyqref.tensor.base import wrap
from pyqref.tensor.quantized.validation import no_such_axis

from .checks import calibration_array, named, not_finite
from .merging import channels_differ
from .rows import RowsObserverBase

__all__ = ["LSQObserver"]


class LSQObserver(RowsObserverBase):
    r"""Observe the mean magnitude, and take the scale with which a learned step size begins.

    .. math:: s = \frac{2\, \langle |x| \rangle}{\sqrt{q_{max} - z}}

    (``eq-lsq-scale``). The zero point does not depend on the data: 0 where the scheme is affine or
    the integers are signed, the middle of the range where the scheme is symmetric and they are not.

    Parameters
    ----------
    ch_axis
        The axis of the channels for a per-channel scheme, each of which gets a scale.
    dtype, qscheme, reduce_range, quant_min, quant_max, factory_kwargs, eps
        As in :class:`UniformQuantizationObserverBase`; there must be integers above the zero point.
    is_dynamic
        Must be False.

    Attributes
    ----------
    total : Tensor
        float64 sums of magnitudes, ``(1,)`` or ``(C,)``; one of 0 before any data.
    count : Tensor
        int64: numbers seen, of the same shape.

    Raises
    ------
    NotImplementedError
        ``is_dynamic``, or the scheme ``per_channel_affine_float_qparams``.
    ValueError
        No integer is above the zero point; when called: the number of channels changed, or the
        data holds nan or infinity.

    Notes
    -----
    Source: S. K. Esser et al., *Learned step size quantization*, ICLR 2020 (arXiv 1902.08153),
    section 2.1.

    Examples
    --------
    >>> import pyqref
    >>> observer = LSQObserver(quant_min=-8, quant_max=4)
    >>> _ = observer(pyqref.tensor([-1.0, 3.0]))
    >>> observer.calculate_qparams()
    (tensor([2.]), tensor([0]))
    """

    total: Any
    count: Any

    def __init__(
        self,
        ch_axis: int = 0,
        dtype: Dtype = qint8,
        qscheme: Qscheme = per_tensor_symmetric,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
    ) -> None:
        super().__init__(
            ch_axis,
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
        if self._zero_point() >= self.quant_max:
            raise ValueError(
                f"LSQObserver: quant_max must exceed the zero point {self._zero_point()}, "
                f"got {self.quant_max}"
            )
        self.register_buffer("total", wrap(np.zeros(1, np.float64)))
        self.register_buffer("count", wrap(np.zeros(1, np.int64)))

    def _zero_point(self) -> int:
        signed = np.issubdtype(self.dtype.numpy_dtype, np.signedinteger)
        if signed or not self.qscheme.is_symmetric:
            return max(0, self.quant_min)
        chosen = (self.quant_min, self.quant_max) if self.has_customized_qrange else (None, None)
        return symmetric_zero_point(False, *chosen)

    def forward(self, x_orig: Tensor) -> Tensor:
        """Add the magnitudes of ``x_orig``, which is returned."""
        x = calibration_array(self, x_orig)
        if not x.size:
            return x_orig
        rows = x.reshape(1, -1)
        if self.qscheme.is_per_channel:
            if not -x.ndim <= self.ch_axis < x.ndim:
                raise no_such_axis(f"{named(self)}: ch_axis", self.ch_axis, x.ndim)
            rows = np.moveaxis(x, self.ch_axis, 0).reshape(x.shape[self.ch_axis], -1)
        before = self._buffers["count"]._array
        if before.size != len(rows) and before.any():
            raise ValueError(
                f"{named(self)}: there must be {before.size} channels as before, got {len(rows)} "
                f"in shape {x.shape}; call reset_min_max_vals() first"
            )
        totals = _kernels.magnitude_sums(rows)
        if not totals.max() < np.inf:  # nan is not, either
            raise not_finite(self, x)
        count = rows.shape[1]
        self._add(totals, count if before.size == len(rows) else np.full(len(rows), count))
        return x_orig

    def _add(self, totals: Array, counts: int | Array) -> None:
        total, count = self._buffers["total"], self._buffers["count"]
        assign(total, total._array + totals)
        assign(count, count._array + counts)

    def _has_data(self) -> bool:
        return bool(self.count._array.any())

    def _merge(self, other: Any) -> None:
        """Add the sums of ``other``."""
        own, given = self.count._array.size, other.count._array.size
        if not other._has_data():
            return
        if self._has_data() and own != given:
            raise channels_differ(self, own, given)
        self._add(other.total._array, other.count._array)

    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """Scale (float32) and zero point (int64), each of shape ``(1,)`` or ``(C,)``."""
        counts = self.count._array
        if not counts.any():
            return self._calculate_qparams(wrap(np.empty(0)), wrap(np.empty(0)))
        zero_point = self._zero_point()
        scale = lsq_scale(self.total._array / counts, self.quant_max - zero_point)
        scale = np.maximum(scale, self.eps._array)
        return wrap(scale), wrap(np.full(scale.shape, zero_point, np.int64))

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        assign(self.total, np.zeros(1))
        assign(self.count, np.zeros(1, np.int64))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Take the number of channels from the state."""
        for name in ("total", "count"):
            given, own = state_dict.get(prefix + name), self._buffers[name]
            if given is not None and given.shape != own.shape and given.dim() == 1:
                assign(own, np.zeros(given.shape[0], own._array.dtype))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        """The sums."""
        return f"total={self.total}, count={self.count}"
