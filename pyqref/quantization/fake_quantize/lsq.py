"""``LSQFakeQuantize``: a step size that is trained from the first tensor on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyqref._typing import Module, Tensor
from pyqref.quantization._learnable_fake_quantize import _LearnableFakeQuantize
from pyqref.quantization.observer.lsq import LSQObserver
from pyqref.tensor.base import wrap

__all__ = ["LSQFakeQuantize"]


class LSQFakeQuantize(_LearnableFakeQuantize):
    r"""Simulate quantization with a scale that is trained like a weight.

    The first tensor sets the scale (``eq-lsq-scale``); from then on gradients move it:
    ``eq-learnable-scale-gradient``, multiplied by
    :math:`g = 1 / \sqrt{N\, q_{max}}` for a tensor of N numbers. The output is
    ``eq-fake-quantize``. The zero point stays where the observer puts it.

    Parameters
    ----------
    observer
        Class, or recipe, of the observer of the first tensor.
    quant_min, quant_max
        Range of the integers, within that of the observer's dtype.
    channel_len
        Number of channels for a per-channel scheme; -1 takes it from the first tensor.
    **observer_kwargs
        Arguments of the observer.

    Attributes
    ----------
    scale : Parameter
        float32, ``(1,)`` or ``(C,)``.
    zero_point : Parameter
        float32 of the same shape, without gradient.
    activation_post_process : ObserverBase
        The observer.
    static_enabled, learning_enabled, fake_quant_enabled : Tensor
        uint8 flags of shape ``(1,)``; the first is 1 until the first tensor comes.

    Raises
    ------
    ValueError
        A number is out of its range.

    Notes
    -----
    ``enable_observer()`` lets the next tensor set the scale anew. Run one tensor through the model
    before you save it, so that a per-channel scale has its size. Source: S. K. Esser et al.,
    *Learned step size quantization*, ICLR 2020 (arXiv 1902.08153).

    Examples
    --------
    >>> import pyqref
    >>> lsq = LSQFakeQuantize(quant_min=-8, quant_max=7)
    >>> y = lsq(pyqref.tensor([-1.0, 0.4, 2.0]))
    >>> round(lsq.scale.item(), 4)  # 2 * 1.1333 / sqrt(7)
    0.8567
    >>> y.sum().backward()
    >>> lsq.scale.grad.shape, lsq.zero_point.grad
    (pyqref.Size([1]), None)
    """

    def __init__(
        self,
        observer: Callable[..., Module] = LSQObserver,
        quant_min: int = -128,
        quant_max: int = 127,
        channel_len: int = -1,
        **observer_kwargs: Any,
    ) -> None:
        self._takes_channels = False
        if channel_len == -1 and callable(observer):
            limits = {"quant_min": quant_min, "quant_max": quant_max}
            scheme = getattr(observer(**{**observer_kwargs, **limits}), "qscheme", None)
            self._takes_channels = scheme is not None and scheme.is_per_channel
        super().__init__(
            observer,  # type: ignore[arg-type]
            quant_min,
            quant_max,
            channel_len=1 if self._takes_channels else channel_len,
            use_grad_scaling=True,
            **observer_kwargs,
        )
        self.toggle_qparam_learning(True)

    def toggle_qparam_learning(self, enabled: bool = True) -> _LearnableFakeQuantize:
        """Let the scale require gradients, or not; the zero point never does."""
        super().toggle_qparam_learning(enabled)
        self.zero_point.requires_grad = False
        return self

    def forward(self, X: Tensor) -> Tensor:
        """``X``, fake quantized; the first tensor sets the scale."""
        sets_scale = bool(self.static_enabled._array[0] == 1)
        result = super().forward(X)
        if sets_scale and X.numel():
            self.toggle_observer_update(False)
        return result

    def _take(self, scale: Any, zero_point: Any) -> None:
        """Copy what the observer found, with as many channels as it found."""
        if self._takes_channels and scale.shape != self.scale.shape:
            self._resize(scale.shape)
        super()._take(scale, zero_point)

    def _resize(self, shape: Any) -> None:
        for each in (self.scale, self.zero_point):
            each.data = wrap(each._array[:1].repeat(shape[0]))

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Take the number of channels from the state."""
        given = state_dict.get(f"{prefix}scale")
        if self._takes_channels and given is not None and given.shape != self.scale.shape:
            self._resize(given.shape)
        super()._load_from_state_dict(state_dict, prefix, *args)
