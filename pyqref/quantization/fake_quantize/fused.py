"""``FusedMovingAvgObsFakeQuantize``: observing and fake quantization in one step."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._typing import Tensor
from pyqref.quantization.diagnostics import NoEffectWarning, UncalibratedWarning, warn
from pyqref.quantization.observer.checks import named
from pyqref.quantization.observer.moving_average_min_max import MovingAverageMinMaxObserver
from pyqref.quantization.observer.moving_average_per_channel_min_max import (
    MovingAveragePerChannelMinMaxObserver,
)
from pyqref.tensor.base import wrap
from pyqref.tensor.fused_fake_quantize import choose_for_range, fused_moving_avg_obs_fake_quant

from .base import require_tensor
from .fake_quantize import FakeQuantize

__all__ = ["FusedMovingAvgObsFakeQuantize", "unused_override"]


class FusedMovingAvgObsFakeQuantize(FakeQuantize):
    r"""Simulate quantization with parameters of a moving average, found in the same step.

    The running range is that of :class:`MovingAverageMinMaxObserver`
    (``eq-fused-average``) and the output that of :class:`FakeQuantize`
    (``eq-fake-quantize``). In between, scale and zero point are chosen in double
    (``eq-choose-qparams-dynamic``):

    .. math::
        \begin{gathered}
        s = \frac{\max(x_{max}, 0) - \min(x_{min}, 0)}{q_{max} - q_{min}}
        \quad\text{(affine)}, \\[1ex]
        s = \max\left(\frac{-x_{min}}{128}, \frac{x_{max}}{127}\right)
        \quad\text{(symmetric, int8)}
        \end{gathered}

    Parameters
    ----------
    observer
        ``MovingAverageMinMaxObserver`` or ``MovingAveragePerChannelMinMaxObserver``, or
        a recipe for one. A :class:`PowerOfTwoObserver` is one as well; it chooses the scale itself.
    quant_min, quant_max
        Range of the integers.
    **observer_kwargs
        Arguments of the observer.

    Attributes
    ----------
    fake_quant_enabled, observer_enabled : Tensor
        int64 flags of shape ``(1,)``, as in torch.

    Raises
    ------
    TypeError
        Another observer is given.
    ValueError
        When called: the data holds nan or infinity.

    Warns
    -----
    UncalibratedWarning
        It quantizes, but never observed and does not observe.
    NoEffectWarning
        A ``calculate_qparams`` of the user's own, which ``convert`` asks, has no effect in
        training: when it is first called, and in ``prepare_qat`` and ``prepare_qat_fx``.

    Notes
    -----
    ``convert`` does not take the parameters used in training: it asks
    :meth:`calculate_qparams`, which is the observer's and divides by 127.5 where the
    scheme is symmetric. So training and the converted weights use slightly different
    grids, here as in torch. While fake quantization is off, ``scale`` is not updated.
    Source: ``torch.ao.quantization.FusedMovingAvgObsFakeQuantize``.

    Examples
    --------
    >>> import pyqref
    >>> fake_quantize = FusedMovingAvgObsFakeQuantize()
    >>> fake_quantize(pyqref.tensor([-2.6, 0.2, 252.4]))
    tensor([ -3.,   0., 252.])
    """

    def __init__(
        self,
        observer: type[Any] = MovingAverageMinMaxObserver,
        quant_min: int = 0,
        quant_max: int = 255,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__(observer, quant_min, quant_max, **observer_kwargs)
        kinds = (MovingAverageMinMaxObserver, MovingAveragePerChannelMinMaxObserver)
        if not isinstance(self.activation_post_process, kinds):
            raise TypeError(
                "FusedMovingAvgObsFakeQuantize: observer must be a moving average observer, "
                f"got {type(self.activation_post_process).__name__}; use FakeQuantize with it"
            )
        self.fake_quant_enabled = wrap(np.ones(1, np.int64))
        self.observer_enabled = wrap(np.ones(1, np.int64))
        self.is_symmetric_quant = self.qscheme.is_symmetric
        self._was_called = False

    def forward(self, x: Tensor) -> Tensor:
        """``x``, observed and fake quantized as the switches say."""
        require_tensor(self, x)
        observer = self.activation_post_process
        if not self.__dict__.get("_was_called", True):
            self._was_called = True
            self._warn_of_override(observer)
        if getattr(observer, "chooses_scale", False):
            return super().forward(x)
        # Buffers are looked for in vain elsewhere first: once each.
        observer_on, fake_quant_on = self.observer_enabled, self.fake_quant_enabled
        min_val = observer.min_val
        is_frozen = observer_on._array[0] != 1 and fake_quant_on._array[0] == 1
        if is_frozen and _is_empty(min_val):
            warn(
                f"{named(observer)} has seen no data and is disabled: scale 0.1 is used; "
                "call enable_observer() and run data, or load a state",
                UncalibratedWarning,
            )
        try:
            return fused_moving_avg_obs_fake_quant(
                x,
                observer_on,
                fake_quant_on,
                min_val,
                observer.max_val,
                self.scale,
                self.zero_point,
                observer.averaging_constant,
                self.quant_min,
                self.quant_max,
                self.ch_axis,
                self.is_per_channel,
                self.is_symmetric_quant,
            )
        except (TypeError, ValueError) as error:
            raise type(error)(f"{named(observer)}: {error}") from error

    def _choose(self) -> None:
        """Keep the parameters that training uses for what the observer saw."""
        observer = self.activation_post_process
        if getattr(observer, "chooses_scale", False):
            super()._choose()
            return
        choose_for_range(
            observer.min_val,
            observer.max_val,
            self.scale,
            self.zero_point,
            self.quant_min,
            self.quant_max,
            self.is_symmetric_quant,
        )

    def _warn_of_override(self, observer: Any) -> None:
        problem = unused_override(self)
        if problem and type(observer) not in _told:
            _told.add(type(observer))
            warn(f"{named(observer)}: {problem}", NoEffectWarning)

    def extra_repr(self) -> str:
        """The switches and the parameters."""
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, "
            f"observer_enabled={self.observer_enabled}, scale={self.scale}, "
            f"zero_point={self.zero_point}, dtype={self.dtype}, quant_min={self.quant_min}, "
            f"quant_max={self.quant_max}, qscheme={self.qscheme}, "
            f"reduce_range={self.activation_post_process.reduce_range}"
        )


#: Observers that a call or ``prepare_qat`` has already reported.
_told: set[type] = set()
_CHOOSES = ("calculate_qparams", "_calculate_qparams")


def unused_override(fake_quantize: Any, tell: bool = False) -> str:
    """Name the overridden method of a fused fake quantizer that training ignores, or return "".

    Parameters
    ----------
    fake_quantize
        Any fake quantizer or observer.
    tell
        Whether the caller warns of it, so that the first call does not.
    """
    kind = type(fake_quantize)
    fused = FusedMovingAvgObsFakeQuantize
    if not isinstance(fake_quantize, fused) or kind.forward is not fused.forward:
        return ""
    observer = fake_quantize.activation_post_process
    per_channel = isinstance(observer, MovingAveragePerChannelMinMaxObserver)
    known = MovingAveragePerChannelMinMaxObserver if per_channel else MovingAverageMinMaxObserver
    chooses = [type(observer)] if _differs(type(observer), known) else []
    chooses += [kind] if kind.calculate_qparams is not fused.calculate_qparams else []
    if not chooses:
        return ""
    if tell:
        _told.add(type(observer))
    return (
        f"calculate_qparams of {chooses[0].__name__} has no effect in training, because "
        f"{kind.__name__} chooses scale and zero point itself, while convert asks it: the "
        f"converted model is on another grid than the trained one; use FakeQuantize.with_args("
        f"observer={type(observer).__name__}, ...), which asks it in both"
    )


def _differs(kind: type, known: type) -> bool:
    return any(getattr(kind, name) is not getattr(known, name) for name in _CHOOSES)


def _is_empty(min_val: Any) -> bool:
    return not np.isfinite(min_val._array).any()
