"""``MinMaxObserver``: the range of everything seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_tensor_affine, per_tensor_symmetric, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.moving_average import extreme_range
from pyqref.numerics.qparams import EPS
from pyqref.tape import Array
from pyqref.tensor.assign import assign
from pyqref.tensor.base import wrap

from .checks import calibration_array, not_finite
from .uniform import UniformQuantizationObserverBase

__all__ = ["MinMaxObserver"]


class MinMaxObserver(UniformQuantizationObserverBase):
    r"""Observe the smallest and the largest number seen so far.

    .. math:: x_{min} \leftarrow \min(x_{min}, \min X), \qquad
              x_{max} \leftarrow \max(x_{max}, \max X)

    (``eq-running-range``). The scale and zero point follow from them as in
    :class:`UniformQuantizationObserverBase` (``eq-choose-qparams``).

    Parameters
    ----------
    dtype, reduce_range, quant_min, quant_max, factory_kwargs, eps, is_dynamic
        As in :class:`UniformQuantizationObserverBase`.
    qscheme
        ``per_tensor_affine`` or ``per_tensor_symmetric``.

    Attributes
    ----------
    min_val, max_val : Tensor
        float32 numbers of shape ``()``; infinity and minus infinity before any data.

    Raises
    ------
    NotImplementedError
        ``qscheme`` is per channel, or symmetric with ``quint8`` and ``reduce_range``.
    ValueError
        When called: the data holds nan or infinity, which torch lets through.

    Notes
    -----
    An empty tensor changes nothing. The buffers are changed in place, as in torch. Keeps
    updating in ``eval()`` mode too. Source: ``torch.quantization.MinMaxObserver``.

    Examples
    --------
    >>> import pyqref
    >>> observer = MinMaxObserver()
    >>> _ = observer(pyqref.tensor([-1.0, 0.0])), observer(pyqref.tensor([3.0, 0.5]))
    >>> observer
    MinMaxObserver(min_val=-1.0, max_val=3.0)
    >>> scale, zero_point = observer.calculate_qparams()
    >>> round(scale.item(), 6), zero_point.item()
    (0.015686, 64)
    """

    min_val: Any
    max_val: Any

    def __init__(
        self,
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_tensor_affine,
        reduce_range: bool = False,
        quant_min: int | None = None,
        quant_max: int | None = None,
        factory_kwargs: dict[str, Any] | None = None,
        eps: float = EPS,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
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
        if qscheme not in (per_tensor_affine, per_tensor_symmetric):
            self._refuse_qscheme("per_tensor_affine or per_tensor_symmetric")
        self._refuse_reduced_quint8()
        self.register_buffer("min_val", wrap(np.array(np.inf, np.float32)))
        self.register_buffer("max_val", wrap(np.array(-np.inf, np.float32)))

    def forward(self, x_orig: Tensor) -> Tensor:
        """Widen the range to that of ``x_orig``, which is returned."""
        x = calibration_array(self, x_orig)
        if x.size:
            seen = self._buffers
            found = self._range_with(seen["min_val"]._array, seen["max_val"]._array, x)
            if found is None:
                raise not_finite(self, x)
            low, high = found
            assign(seen["min_val"], low)
            assign(seen["max_val"], high)
        return x_orig

    def _range_with(self, low: Array, high: Array, x: Array) -> tuple[Array, Array] | None:
        """Return the range of ``x`` and all earlier data, or None where ``x`` is not finite."""
        return _kernels.running_range(low, high, x)

    def _merge(self, other: Any) -> None:
        """Widen the range to that of ``other`` (``eq-running-range``)."""
        low, high = extreme_range(
            self.min_val._array, self.max_val._array, other.min_val._array, other.max_val._array
        )
        assign(self.min_val, low)
        assign(self.max_val, high)

    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """Scale (float32) and zero point, each of shape ``(1,)``.

        The zero point is int32 for the affine and int64 for the symmetric scheme.
        Before any data a warning is given, and scale 1 and zero point 0.
        """
        return self._calculate_qparams(self.min_val, self.max_val)

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        assign(self.min_val, np.array(np.inf))
        assign(self.max_val, np.array(-np.inf))

    def extra_repr(self) -> str:
        """The range."""
        return f"min_val={self.min_val.item()}, max_val={self.max_val.item()}"
