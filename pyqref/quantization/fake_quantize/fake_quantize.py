"""``FakeQuantize``: observe, quantize, dequantize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pyqref._typing import Module, Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_channel_affine_float_qparams, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.nn.loaded_grid import integers_of, require_loaded_grid
from pyqref.quantization.observer.moving_average_min_max import MovingAverageMinMaxObserver
from pyqref.quantization.observer.partial import PartialWrapper
from pyqref.tensor.assign import assign
from pyqref.tensor.base import wrap
from pyqref.tensor.fake_quantize import (
    fake_quantize_per_channel_affine,
    fake_quantize_per_tensor_affine,
)

from .base import FakeQuantizeBase, require_equal, require_tensor

__all__ = ["FakeQuantize"]


class FakeQuantize(FakeQuantizeBase):
    r"""Simulate quantization in training.

    .. math:: x_{out} = (\mathrm{clamp}(\mathrm{round}(x / s + z),\, q_{min},\, q_{max})
              - z) \cdot s

    (``eq-fake-quantize``; per channel ``eq-fake-quantize-channel``). The gradient passes
    where the rounded number is in range (``eq-straight-through``).

    Parameters
    ----------
    observer
        Class, or recipe, of the observer that finds scale and zero point.
    quant_min, quant_max
        Range of the integers, within that of the observer's dtype; if None, the dtype's.
    is_dynamic
        Whether parameters are found for each tensor by itself.
    **observer_kwargs
        Arguments of the observer.

    Attributes
    ----------
    activation_post_process : ObserverBase
        The observer.
    scale, zero_point : Tensor
        float32 and int32 (float32 for ``per_channel_affine_float_qparams``), ``(1,)`` or
        ``(C,)``.
    fake_quant_enabled, observer_enabled : Tensor
        The switches of :class:`FakeQuantizeBase`.

    Raises
    ------
    ValueError
        ``quant_min > quant_max``, or they lie outside the dtype's range.

    Notes
    -----
    torch adds the zero point after rounding, which differs at ties with an odd zero
    point: ``pyqref.backends.quantized.conventions = "torch"``. The observer goes on
    observing in ``eval()`` mode: use :meth:`disable_observer`. Source:
    ``torch.quantization.FakeQuantize``.

    Examples
    --------
    >>> import pyqref
    >>> fake_quantize = FakeQuantize(quant_min=0, quant_max=255)
    >>> fake_quantize(pyqref.tensor([-2.6, 0.2, 252.4]))
    tensor([ -3.,   0., 252.])
    >>> fake_quantize.scale, fake_quantize.zero_point
    (tensor([1.]), tensor([3], dtype=pyqref.int32))
    """

    scale: Any
    zero_point: Any
    activation_post_process: Any

    def __init__(
        self,
        observer: Callable[..., Module] = MovingAverageMinMaxObserver,
        quant_min: int | None = None,
        quant_max: int | None = None,
        is_dynamic: bool = False,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__()
        if (quant_min is None) != (quant_max is None):
            raise ValueError(
                "FakeQuantize: give quant_min and quant_max both or neither, "
                f"got quant_min={quant_min}, quant_max={quant_max}"
            )
        if quant_min is not None and quant_max is not None:
            dtype = observer_kwargs.get("dtype", quint8)
            if isinstance(observer, PartialWrapper):
                dtype = observer.p.keywords.get("dtype", dtype)
            _check_range(quant_min, quant_max, dtype)
            observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        if not callable(observer):
            raise TypeError(
                f"{type(self).__name__}: observer must be an observer class or recipe, "
                f"got {observer!r}"
            )
        if is_dynamic:
            observer_kwargs["is_dynamic"] = True
        self.is_dynamic = is_dynamic
        self.activation_post_process = observer(**observer_kwargs)
        self._follow(self.activation_post_process)
        offset = np.float32 if self.qscheme is per_channel_affine_float_qparams else np.int32
        self.register_buffer("scale", wrap(np.ones(1, np.float32)))
        self.register_buffer("zero_point", wrap(np.zeros(1, offset)))

    @property
    def observer(self) -> Module:
        """The observer, under the name that the documentation gives it."""
        return self.activation_post_process

    def _follow(self, observer: Any) -> None:
        """Take over what the observer was made with."""
        if not all(hasattr(observer, name) for name in ("quant_min", "dtype", "qscheme")):
            raise TypeError(
                f"{type(self).__name__}: observer must make an observer with quant_min, quant_max, "
                f"dtype and qscheme, it made {type(observer).__name__}"
            )
        self.quant_min: int = observer.quant_min
        self.quant_max: int = observer.quant_max
        self.dtype: Dtype = observer.dtype
        self.qscheme: Qscheme = observer.qscheme
        self.ch_axis: int = getattr(observer, "ch_axis", -1)
        self.is_per_channel: bool = observer.qscheme.is_per_channel

    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """Scale and zero point that the observer finds."""
        return self.activation_post_process.calculate_qparams()

    def forward(self, x: Tensor) -> Tensor:
        """``x``, observed and fake quantized as the switches say."""
        require_tensor(self, x)
        if not x.numel():
            return x
        if self._observes:
            self.activation_post_process(x.detach())
            self._keep(*self.calculate_qparams())
        if not self._fake_quantizes:
            return x
        if self.is_per_channel:
            return fake_quantize_per_channel_affine(
                x, self.scale, self.zero_point, self.ch_axis, self.quant_min, self.quant_max
            )
        return fake_quantize_per_tensor_affine(
            x, self.scale, self.zero_point, self.quant_min, self.quant_max
        )

    def _merge(self, other: Any) -> None:
        """Merge the observers; where they are off, the parameters must be the same."""
        if not self._observes:
            for name in ("scale", "zero_point"):
                require_equal(self, name, other, "; turn the observers on, or calibrate together")
        observer = self.activation_post_process
        observer.merge(other.activation_post_process)
        if self._observes and observer._has_data():
            self._choose()

    def _choose(self) -> None:
        """Keep the parameters of what the observer saw."""
        self._keep(*self.calculate_qparams())

    def _keep(self, scale: Any, zero_point: Any) -> None:
        assign(self.scale, scale._array)
        assign(self.zero_point, zero_point._array)

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Take the number of channels from the state."""
        low, high = integers_of(self.dtype)
        limits = min(low, self.quant_min), max(high, self.quant_max)
        floats = self.qscheme is per_channel_affine_float_qparams
        keys = f"{prefix}scale", f"{prefix}zero_point"
        require_loaded_grid(state_dict, *keys, None if floats else limits)
        for name in ("scale", "zero_point"):
            given, own = state_dict.get(prefix + name), getattr(self, name)
            if given is not None and given.shape != own.shape:
                setattr(self, name, wrap(np.ones(tuple(given.shape), own._array.dtype)))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        """The switches and the parameters."""
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, "
            f"observer_enabled={self.observer_enabled}, quant_min={self.quant_min}, "
            f"quant_max={self.quant_max}, dtype={self.dtype}, qscheme={self.qscheme}, "
            f"ch_axis={self.ch_axis}, scale={self.scale}, zero_point={self.zero_point}"
        )


def _check_range(quant_min: int, quant_max: int, dtype: Dtype) -> None:
    """Refuse integers that the dtype cannot hold."""
    if quant_min > quant_max:
        raise ValueError(
            f"FakeQuantize: quant_min must not exceed quant_max, got [{quant_min}, {quant_max}]"
        )
    info = np.iinfo(dtype.numpy_dtype)
    low = int(info.min) if dtype.quant_min is None else dtype.quant_min
    high = int(info.max) if dtype.quant_max is None else dtype.quant_max
    if quant_min < low or quant_max > high:
        raise ValueError(
            f"FakeQuantize: quant_min and quant_max must be in [{low}, {high}] for {dtype!r}, "
            f"got [{quant_min}, {quant_max}]; leave them out to use the dtype's range"
        )
