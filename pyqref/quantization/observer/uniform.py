"""Base class of the observers of uniform (affine and symmetric) quantization."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.backends import quantized as settings
from pyqref.devices import require_cpu
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import (
    float32,
    int8,
    int16,
    int32,
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    qint8,
    qint32,
    quint4x2,
    quint8,
    uint8,
)
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.qparams import (
    EPS,
    choose_qparams,
    float_qparams,
    reduce_range,
    symmetric_zero_point,
)
from pyqref.quantization.diagnostics import UncalibratedWarning, warn
from pyqref.tape import Array
from pyqref.tensor import Tensor
from pyqref.tensor.base import wrap

from .base import ObserverBase
from .checks import named

__all__ = ["UniformQuantizationObserverBase"]

_DTYPES = (qint8, quint8, quint4x2, qint32, int8, uint8, int16, int32)
_QSCHEMES = (
    per_tensor_affine,
    per_tensor_symmetric,
    per_channel_affine,
    per_channel_symmetric,
    per_channel_affine_float_qparams,
)
_FULL_RANGE = {quint4x2: (0, 15)}


class UniformQuantizationObserverBase(ObserverBase):
    r"""Base of the observers that find a range and derive scale and zero point from it.

    A range ``[min_val, max_val]`` gives (``eq-affine-qparams``)

    .. math:: s = \frac{\max(x_{max}, 0) - \min(x_{min}, 0)}{q_{max} - q_{min}}, \qquad
              z = q_{min} - \mathrm{round}(\min(x_{min}, 0) / s)

    and, where the scheme is symmetric (``eq-symmetric-scale``),

    .. math:: s = \frac{2 \max(-x_{min}, x_{max})}{q_{max} - q_{min}}, \qquad
              z = 0 \;(\text{signed}), \; 128 \;(\text{unsigned})

    A scale is never smaller than ``eps``. A range of one point gives scale 1 and zero
    point 0 (torch 2.13 applies the formula:
    ``pyqref.backends.quantized.conventions = "torch"``).

    Parameters
    ----------
    dtype
        ``quint8``, ``qint8``, ``qint32`` or ``quint4x2``; also ``uint8``, ``int8``,
        ``int16``, ``int32``.
    qscheme
        One of the five schemes; subclasses accept those that they can observe.
    reduce_range
        Take one bit off the range of the integers (``eq-reduce-range``).
    quant_min, quant_max
        Range of the integers where it is not the dtype's; both or neither, with
        ``quant_min <= 0 <= quant_max``.
    factory_kwargs
        As in torch; the device must be the CPU.
    eps
        Smallest scale.
    is_dynamic
        As in :class:`ObserverBase`.

    Raises
    ------
    ValueError
        The dtype or scheme cannot be observed, or the range is empty, without zero, or
        wider than 8 bits (31 bits for the wider types).

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization import UniformQuantizationObserverBase
    >>> class LargestSeen(UniformQuantizationObserverBase):
    ...     top = 0.0
    ...     def forward(self, x):
    ...         self.top = max(self.top, x.max().item())
    ...         return x
    ...     def calculate_qparams(self):
    ...         return self._calculate_qparams(pyqref.tensor(0.0), pyqref.tensor(self.top))
    >>> observer = LargestSeen()
    >>> _ = observer(pyqref.tensor([1.0, 25.5]))
    >>> [each.item() for each in observer.calculate_qparams()]
    [0.10000000149011612, 0]
    """

    _version = 3

    eps: Any

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
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        name = type(self).__name__
        _check_factory(name, factory_kwargs or {})
        if qscheme not in _QSCHEMES:
            raise ValueError(f"{name}: qscheme must be one of {_QSCHEMES}, got {qscheme!r}")
        if dtype not in _DTYPES:
            raise ValueError(f"{name}: dtype must be one of {_DTYPES}, got {dtype!r}")
        self.qscheme = qscheme
        self.reduce_range = reduce_range
        self.register_buffer("eps", wrap(np.array([eps], dtype=np.float32)))
        self.has_customized_qrange = quant_min is not None and quant_max is not None
        if (quant_min is None) != (quant_max is None):
            raise ValueError(
                f"{name}: give quant_min and quant_max both or neither, "
                f"got quant_min={quant_min}, quant_max={quant_max}"
            )
        self.quant_min, self.quant_max = self._integer_range(quant_min, quant_max)

    def _integer_range(self, quant_min: int | None, quant_max: int | None) -> tuple[int, int]:
        """The range of integers, chosen by the user or the dtype's, perhaps reduced."""
        narrow = self.dtype.itemsize == 1 and self.dtype is not quint4x2
        if quant_min is None or quant_max is None:
            info = np.iinfo(self.dtype.numpy_dtype)
            full = _FULL_RANGE.get(self.dtype, (int(info.min), int(info.max)))
            return reduce_range(*full) if self.reduce_range and narrow else full
        name, got = type(self).__name__, f"got [{quant_min}, {quant_max}]"
        if not quant_min <= 0 <= quant_max:
            raise ValueError(f"{name}: the range quant_min..quant_max must contain 0, {got}")
        if quant_min == quant_max:
            raise ValueError(f"{name}: quant_min must be less than quant_max, {got}")
        allowed = 256 if self.dtype.itemsize == 1 else 2**31
        if quant_max - quant_min + 1 > allowed:
            raise ValueError(
                f"{name}: the range quant_min..quant_max may hold {allowed} integers "
                f"for {self.dtype!r}, {got}"
            )
        return reduce_range(quant_min, quant_max) if self.reduce_range else (quant_min, quant_max)

    def _refuse_reduced_quint8(self) -> None:
        if self.reduce_range and self.qscheme.is_symmetric and self.dtype is quint8:
            raise NotImplementedError(
                f"{type(self).__name__} cannot reduce the range of quint8 with {self.qscheme!r}; "
                "use qint8, or reduce_range=False"
            )

    def _refuse_qscheme(self, allowed: str) -> None:
        raise NotImplementedError(
            f"{type(self).__name__}: qscheme must be {allowed}, got {self.qscheme!r}"
        )

    def _calculate_qparams(self, min_val: Any, max_val: Any) -> tuple[Tensor, Tensor]:
        """Scale and zero point, as tensors, of a range given as tensors."""
        low, high = min_val._array, max_val._array
        if low.size == 0 or (low.ndim == 0 and np.isinf(low) and np.isinf(high) and low > high):
            warn(
                f"{named(self)} has seen no data: scale 1 and zero point 0 are returned; "
                "run the prepared model on calibration data before convert",
                UncalibratedWarning,
            )
            return wrap(np.ones(1, np.float32)), wrap(np.zeros(1, np.int64))
        if (low > high).any():
            raise ValueError(
                f"{named(self)}: min_val must not exceed max_val, got {low!r} and {high!r}; "
                "were they loaded from another observer's state?"
            )
        scale, zero_point = self._from_range(np.atleast_1d(low), np.atleast_1d(high))
        return wrap(scale), wrap(zero_point)

    def _from_range(self, low: Array, high: Array) -> tuple[Array, Array]:
        eps = self.eps.item()
        if self.qscheme is per_channel_affine_float_qparams:
            scale, offset = float_qparams(low, high, self.quant_min, self.quant_max, eps)
            return scale.astype(np.float32), offset.astype(np.float32)
        symmetric = self.qscheme.is_symmetric
        chosen = (self.quant_min, self.quant_max) if self.has_customized_qrange else (None, None)
        signed = self.dtype not in (quint8, uint8)
        scale, zero_point = choose_qparams(
            low,
            high,
            self.quant_min,
            self.quant_max,
            symmetric=symmetric,
            midpoint=symmetric_zero_point(signed, *chosen) if symmetric else 0,
            eps=eps,
            convention=settings.conventions,  # type: ignore[arg-type]
        )
        return scale, zero_point.astype(np.int64 if symmetric else np.int32)

    def _has_data(self) -> bool:
        low, high = getattr(self, "min_val", None), getattr(self, "max_val", None)
        if not (isinstance(low, Tensor) and isinstance(high, Tensor)):
            return True
        return bool(low._array.size and (low._array <= high._array).all())

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        raise NotImplementedError(f"{type(self).__name__} keeps no minimum and maximum")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Load; states of the documentation's time have no ``eps``: it stays.

        Before any data they have ranges without elements, where today there is the empty range.
        """
        state_dict.setdefault(f"{prefix}eps", self.eps)
        for name, empty in (("min_val", np.inf), ("max_val", -np.inf)):
            own, given = getattr(self, name, None), state_dict.get(prefix + name)
            if isinstance(own, Tensor) and own.dim() == 0 and getattr(given, "shape", ()) == (0,):
                state_dict[prefix + name] = wrap(np.array(empty, np.float32))
        super()._load_from_state_dict(state_dict, prefix, *args)


def _check_factory(name: str, factory_kwargs: dict[str, Any]) -> None:
    """Refuse what has no effect: observers keep float32 numbers on the CPU."""
    unknown = sorted(set(factory_kwargs) - {"device", "dtype"})
    if unknown:
        raise TypeError(f"{name}: factory_kwargs may hold device and dtype, got {unknown}")
    require_cpu(factory_kwargs.get("device") or "cpu")
    kept = factory_kwargs.get("dtype") or float32
    if kept is not float32:
        raise ValueError(f"{name}: an observer keeps float32 numbers, got dtype={kept!r}")
