"""``PerChannelMinMaxObserver``: a range for each channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref import _kernels
from pyqref._typing import Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_channel_affine, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.moving_average import extreme_range
from pyqref.numerics.qparams import EPS
from pyqref.tape import Array
from pyqref.tensor.assign import assign
from pyqref.tensor.base import wrap
from pyqref.tensor.quantized.validation import no_such_axis

from .checks import calibration_array, named, not_finite
from .merging import channels_differ
from .uniform import UniformQuantizationObserverBase

__all__ = ["PerChannelMinMaxObserver"]


class PerChannelMinMaxObserver(UniformQuantizationObserverBase):
    r"""Observe the smallest and the largest number seen so far in each channel.

    For each index ``c`` of the axis ``ch_axis``

    .. math:: x_{min,c} \leftarrow \min(x_{min,c}, \min X_c), \qquad
              x_{max,c} \leftarrow \max(x_{max,c}, \max X_c)

    (``eq-running-range``), and each channel gets a scale and zero point as in
    :class:`MinMaxObserver` (``eq-choose-qparams``; ``eq-float-qparams`` for the scheme
    ``per_channel_affine_float_qparams``).

    Parameters
    ----------
    ch_axis
        The axis of the channels; negative counts from the end.
    dtype, reduce_range, quant_min, quant_max, factory_kwargs, eps
        As in :class:`UniformQuantizationObserverBase`.
    qscheme
        ``per_channel_affine``, ``per_channel_symmetric`` or
        ``per_channel_affine_float_qparams``.
    is_dynamic
        Must be False.

    Attributes
    ----------
    min_val, max_val : Tensor
        float32 numbers ``(C,)``; empty before any data.

    Raises
    ------
    NotImplementedError
        ``qscheme`` is per tensor, or symmetric with ``quint8`` and ``reduce_range``, or
        ``is_dynamic``.
    IndexError
        When called: the tensor has no axis ``ch_axis``.
    ValueError
        When called: the number of channels changed, or the data holds nan or infinity.

    Notes
    -----
    Source: ``torch.quantization.PerChannelMinMaxObserver``.

    Examples
    --------
    >>> import pyqref
    >>> observer = PerChannelMinMaxObserver(
    ...     dtype=pyqref.qint8, qscheme=pyqref.per_channel_symmetric)
    >>> _ = observer(pyqref.tensor([[-127.5, 0.0], [1.0, 255.0]]))
    >>> observer.calculate_qparams()
    (tensor([1., 2.]), tensor([0, 0]))
    """

    min_val: Any
    max_val: Any

    def __init__(
        self,
        ch_axis: int = 0,
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_channel_affine,
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
        if not qscheme.is_per_channel:
            self._refuse_qscheme(
                "per_channel_affine, per_channel_symmetric or per_channel_affine_float_qparams"
            )
        self._refuse_reduced_quint8()
        if is_dynamic:
            raise NotImplementedError(
                f"{type(self).__name__} does not support dynamic quantization; "
                "use MinMaxObserver(is_dynamic=True)"
            )
        if isinstance(ch_axis, bool) or not isinstance(ch_axis, int):
            raise TypeError(f"{type(self).__name__}: ch_axis must be an int, got {ch_axis!r}")
        self.ch_axis = ch_axis
        self.register_buffer("min_val", None)
        self.register_buffer("max_val", None)
        self.reset_min_max_vals()

    def forward(self, x_orig: Tensor) -> Tensor:
        """Widen the range of each channel to that of ``x_orig``, which is returned."""
        x = calibration_array(self, x_orig)
        if x.size:
            axis, ndim = self.ch_axis, x_orig._array.ndim
            if not -ndim <= axis < ndim:
                raise no_such_axis(f"{named(self)}: ch_axis", axis, ndim)
            seen = self._buffers
            low, high = seen["min_val"]._array, seen["max_val"]._array
            channels = low.size
            if channels != x.shape[axis] and channels:
                raise ValueError(
                    f"{named(self)}: axis {axis % ndim} must have {channels} channels as before, "
                    f"got {x.shape[axis]} in shape {x.shape}; call reset_min_max_vals() first"
                )
            found = self._ranges_with(low, high, x, axis)
            if found is None:
                raise not_finite(self, x)
            low, high = found
            assign(seen["min_val"], low)
            assign(seen["max_val"], high)
        return x_orig

    def _ranges_with(
        self, low: Array, high: Array, x: Array, axis: int
    ) -> tuple[Array, Array] | None:
        """Return the ranges of ``x`` and all earlier data, or None where ``x`` is not finite."""
        return _kernels.running_range(low, high, x, axis)

    def _merge(self, other: Any) -> None:
        """Widen the ranges to those of ``other`` (``eq-running-range``)."""
        own, given = self.min_val._array.size, other.min_val._array.size
        if not given:
            return
        if own and own != given:
            raise channels_differ(self, own, given)
        low, high = other.min_val._array, other.max_val._array
        if own:
            low, high = extreme_range(self.min_val._array, self.max_val._array, low, high)
        assign(self.min_val, low)
        assign(self.max_val, high)

    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """Scales (float32) and zero points, each of shape ``(C,)``.

        Zero points are int32 for the affine, int64 for the symmetric scheme, and float32
        for ``per_channel_affine_float_qparams``. Before any data a warning is given, and
        scale 1 and zero point 0 of shape ``(1,)``.
        """
        return self._calculate_qparams(self.min_val, self.max_val)

    def reset_min_max_vals(self) -> None:
        """Forget what was seen."""
        for name in ("min_val", "max_val"):
            self._buffers[name] = wrap(np.empty(0, np.float32))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Take the number of channels from the state (``min_vals`` before torch 1.12)."""
        for name in ("min_val", "max_val"):
            key = prefix + name
            if key not in state_dict and f"{key}s" in state_dict:
                state_dict[key] = state_dict.pop(f"{key}s")
            if key in state_dict and state_dict[key].shape != getattr(self, name).shape:
                empty = np.empty(tuple(state_dict[key].shape), np.float32)
                setattr(self, name, wrap(empty))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        """The ranges."""
        return f"min_val={self.min_val}, max_val={self.max_val}"
