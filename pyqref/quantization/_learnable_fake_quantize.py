"""``_LearnableFakeQuantize``: scale and zero point trained like weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._typing import Tensor
from pyqref.nn.loaded_grid import require_loaded_finite
from pyqref.nn.parameter import Parameter
from pyqref.numerics.qparams import symmetric_zero_point
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase, require_equal, require_tensor
from pyqref.quantization.observer.checks import named
from pyqref.tensor.base import wrap
from pyqref.tensor.learnable_fake_quantize import (
    _fake_quantize_learnable_per_channel_affine,
    _fake_quantize_learnable_per_tensor_affine,
)

__all__ = ["_LearnableFakeQuantize"]


class _LearnableFakeQuantize(FakeQuantizeBase):
    r"""Simulate quantization with a scale and zero point that gradients move.

    .. math:: y = \big(\mathrm{sat}(\mathrm{rne}(x / s + z)) - z\big)\, s

    (``eq-fake-quantize``), with the gradients ``eq-learnable-scale-gradient`` and
    ``eq-learnable-zero-point-gradient``. At first an observer sets both
    (:meth:`enable_static_estimate`); :meth:`enable_param_learning` leaves them to the
    optimizer.

    Parameters
    ----------
    observer
        Class, or recipe, of the observer of the first phase.
    quant_min, quant_max
        Range of the integers, within that of the observer's dtype.
    scale, zero_point
        What both begin with.
    channel_len
        Number of channels for a per-channel scheme; -1 for one scale.
    use_grad_scaling
        Multiply the gradients of both by ``1 / sqrt(x.numel() * quant_max)``.
    **observer_kwargs
        Arguments of the observer.

    Attributes
    ----------
    scale, zero_point : Parameter
        float32, ``(1,)`` or ``(channel_len,)``. The zero point is a real number while it is
        trained (``eq-learnable-zero-point``), and 0 where the scheme is symmetric.
    activation_post_process : ObserverBase
        The observer.
    static_enabled, learning_enabled, fake_quant_enabled, observer_enabled : Tensor
        uint8 flags of shape ``(1,)``. The last one has no effect, as in torch.

    Raises
    ------
    ValueError
        A number is out of its range, or ``channel_len`` does not fit the scheme.

    Notes
    -----
    A scale below the smallest float32 step, 1.2e-7, which a step of an optimizer may leave, is
    set to that. Where torch trains a symmetric unsigned scheme (``quint8``) with a zero point of
    0, this class takes the middle of the range, as the observer does. Source:
    ``torch.ao.quantization._learnable_fake_quantize``; S. K. Esser et al., *Learned step size
    quantization*, ICLR 2020 (arXiv 1902.08153).

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization import MovingAverageMinMaxObserver
    >>> learnable = _LearnableFakeQuantize(MovingAverageMinMaxObserver, 0, 255)
    >>> _ = learnable(pyqref.tensor([0.0, 2.55]))  # the observer sets the scale
    >>> round(learnable.scale.item(), 4)
    0.01
    >>> _ = learnable.enable_param_learning()
    >>> learnable(pyqref.tensor([0.0, 5.0])).sum().backward()
    >>> learnable.scale.grad  # 5 is above the range: 255 for each unit of the scale
    tensor([255.])
    """

    scale: Any
    zero_point: Any
    eps: Any
    static_enabled: Any
    learning_enabled: Any
    activation_post_process: Any

    def __init__(
        self,
        observer: type[Any],
        quant_min: int = 0,
        quant_max: int = 255,
        scale: float = 1.0,
        zero_point: float = 0.0,
        channel_len: int = -1,
        use_grad_scaling: bool = False,
        **observer_kwargs: Any,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        if not quant_min < quant_max:
            raise ValueError(
                f"{name}: quant_min must be less than quant_max, got [{quant_min}, {quant_max}]"
            )
        if use_grad_scaling and quant_max <= 0:
            raise ValueError(
                f"{name}: use_grad_scaling divides by quant_max, which must be positive, "
                f"got {quant_max}"
            )
        if not callable(observer):
            raise TypeError(
                f"{name}: observer must be an observer class or recipe, got {observer!r}"
            )
        self.quant_min, self.quant_max = quant_min, quant_max
        self.use_grad_scaling = use_grad_scaling
        observer_kwargs.update(quant_min=quant_min, quant_max=quant_max)
        made = observer(**observer_kwargs)
        channels = _channels(name, channel_len, made)
        _check_range(name, quant_min, quant_max, made.dtype)
        if not 0 < scale < np.inf:
            raise ValueError(f"{name}: scale must be positive and finite, got {scale}")
        if not np.isfinite(zero_point):
            raise ValueError(f"{name}: zero_point must be finite, got {zero_point}")
        self.scale = Parameter(wrap(np.full(channels, scale, np.float32)))
        self.zero_point = Parameter(wrap(np.full(channels, zero_point, np.float32)))
        self.activation_post_process = made
        self.dtype, self.qscheme = made.dtype, made.qscheme
        self.ch_axis: int = getattr(made, "ch_axis", -1)
        self.bitwidth = int(np.log2(quant_max - quant_min + 1))
        self.register_buffer("static_enabled", wrap(np.ones(1, np.uint8)))
        self.register_buffer("learning_enabled", wrap(np.zeros(1, np.uint8)))
        eps = np.array([np.finfo(np.float32).eps], np.float32)
        self.register_buffer("eps", wrap(eps))

    def enable_param_learning(self) -> _LearnableFakeQuantize:
        """Fake quantize, and leave scale and zero point to the optimizer."""
        self.toggle_qparam_learning(True).toggle_fake_quant(True).toggle_observer_update(False)
        return self

    def enable_static_estimate(self) -> _LearnableFakeQuantize:
        """Fake quantize with the scale and zero point of the observer, which goes on observing."""
        self.toggle_qparam_learning(False).toggle_fake_quant(True).toggle_observer_update(True)
        return self

    def enable_static_observation(self) -> _LearnableFakeQuantize:
        """Observe, and let numbers pass unchanged."""
        self.toggle_qparam_learning(False).toggle_fake_quant(False).toggle_observer_update(True)
        return self

    def toggle_observer_update(self, enabled: bool = True) -> _LearnableFakeQuantize:
        """Let the observer set scale and zero point, or not."""
        self.static_enabled[0] = int(enabled)
        return self

    def enable_observer(self, enabled: bool = True) -> None:
        """Let the observer set scale and zero point, or not."""
        self.toggle_observer_update(enabled)

    def toggle_qparam_learning(self, enabled: bool = True) -> _LearnableFakeQuantize:
        """Let scale and zero point require gradients, or not."""
        self.learning_enabled[0] = int(enabled)
        self.scale.requires_grad = self.zero_point.requires_grad = enabled
        return self

    def toggle_fake_quant(self, enabled: bool = True) -> _LearnableFakeQuantize:
        """Apply the quantization error, or let numbers pass unchanged."""
        self.fake_quant_enabled[0] = int(enabled)
        return self

    def observe_quant_params(self) -> None:
        """Print scale and zero point."""
        print(f"{type(self).__name__} Scale: {self.scale.detach()}")  # noqa: T201
        print(f"{type(self).__name__} Zero Point: {self.zero_point.detach()}")  # noqa: T201

    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """The scale, at least ``eps``, and the zero point as an int64 within the range."""
        self.scale.data.clamp_(min=self.eps.item())
        zero_point = self.zero_point.detach().round().clamp(self.quant_min, self.quant_max)
        return self.scale.detach(), zero_point.long()

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Load; what an optimizer leaves out of range is brought back, nan and infinity are not."""
        for name in ("scale", "zero_point"):
            require_loaded_finite(state_dict, prefix + name)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def forward(self, X: Tensor) -> Tensor:
        """``X``, observed and fake quantized as the switches say."""
        require_tensor(self, X)
        if not X.numel():
            return X
        if self.static_enabled._array[0] == 1:
            self.activation_post_process(X.detach())
            self._take(*self.activation_post_process.calculate_qparams())
        else:
            self.scale.data.clamp_(min=self.eps.item())
        if not self._fake_quantizes:
            return X
        if self.qscheme.is_symmetric:
            self.zero_point.data.fill_(self._middle())
        factor = 1.0 / (X.numel() * self.quant_max) ** 0.5 if self.use_grad_scaling else 1.0
        limits = self.quant_min, self.quant_max, factor
        if self.qscheme.is_per_channel:
            return _fake_quantize_learnable_per_channel_affine(
                X, self.scale, self.zero_point, self.ch_axis, *limits
            )
        return _fake_quantize_learnable_per_tensor_affine(X, self.scale, self.zero_point, *limits)

    def _merge(self, other: Any) -> None:
        """Merge the observers; once the parameters are trained, they must be the same."""
        if self.static_enabled._array[0] != 1:
            for name in ("scale", "zero_point"):
                require_equal(self, name, other, "; trained scales have no parts: train one model")
            return
        observer = self.activation_post_process
        observer.merge(other.activation_post_process)
        if observer._has_data():
            self._take(*observer.calculate_qparams())

    def _take(self, scale: Any, zero_point: Any) -> None:
        """Copy what the observer found into the parameters."""
        if scale.shape != self.scale.shape:
            raise ValueError(
                f"{named(self.activation_post_process)} found {scale.numel()} channels, but "
                f"{type(self).__name__} was made with channel_len={self.scale.numel()}"
            )
        self.scale.data.copy_(scale)
        self.zero_point.data.copy_(zero_point)

    def _middle(self) -> int:
        """The zero point of a symmetric scheme (``eq-symmetric-zero-point``)."""
        signed = np.issubdtype(self.dtype.numpy_dtype, np.signedinteger)
        return symmetric_zero_point(signed, self.quant_min, self.quant_max)


def _channels(name: str, channel_len: Any, observer: Any) -> int:
    """The number of scales; raise unless it fits the scheme of the observer."""
    if channel_len == -1 and not observer.qscheme.is_per_channel:
        return 1
    if isinstance(channel_len, bool) or not isinstance(channel_len, int) or channel_len < 1:
        raise ValueError(
            f"{name}: channel_len must be the number of channels for {observer.qscheme!r}, "
            f"a positive int, got {channel_len!r}"
        )
    if not observer.qscheme.is_per_channel:
        raise ValueError(
            f"{name}: channel_len={channel_len} needs a per-channel scheme, the observer "
            f"{type(observer).__name__} has {observer.qscheme!r}"
        )
    return channel_len


def _check_range(name: str, quant_min: int, quant_max: int, dtype: Any) -> None:
    info = np.iinfo(dtype.numpy_dtype)
    if quant_min < info.min or quant_max > info.max:
        raise ValueError(
            f"{name}: quant_min and quant_max must be in [{info.min}, {info.max}] for {dtype!r}, "
            f"got [{quant_min}, {quant_max}]"
        )
