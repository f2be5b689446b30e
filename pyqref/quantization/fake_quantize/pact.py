"""``PACTFakeQuantize``: activations clipped at a level that is trained."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref._typing import Tensor
from pyqref.autograd.function import Function
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_tensor_affine, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.nn.loaded_grid import require_loaded_finite
from pyqref.nn.parameter import Parameter
from pyqref.numerics.learned_range import pact_clip, pact_gradient
from pyqref.tensor.base import wrap
from pyqref.tensor.fake_quantize import fake_quantize_per_tensor_affine

from .base import FakeQuantizeBase, require_equal, require_tensor

__all__ = ["PACTFakeQuantize"]

#: The least level: the smallest scale that an observer gives, for the widest range.
LEAST = float(2**-15)


class PACTFakeQuantize(FakeQuantizeBase):
    r"""Clip activations at a trained level, and simulate their quantization.

    .. math:: y = \mathrm{clip}(x, 0, \alpha), \qquad s = \frac{\alpha}{q_{max} - q_{min}},
              \quad z = q_{min}

    (``eq-pact-clip``), then ``eq-fake-quantize``. The level :math:`\alpha` gets the gradient of all
    numbers at or above it (``eq-pact-gradient``). It takes the place of a ReLU's fake quantizer.

    Parameters
    ----------
    alpha
        The level to begin with, positive.
    dtype
        Type of the integers.
    quant_min, quant_max
        Their range, within that of ``dtype``.

    Attributes
    ----------
    alpha : Parameter
        float32, ``(1,)``.
    fake_quant_enabled : Tensor
        uint8 flag ``(1,)``; when 0, numbers are clipped but not rounded.
    observer_enabled : Tensor
        uint8 flag ``(1,)``. It has no effect: the level is trained, not observed.

    Raises
    ------
    ValueError
        A number is out of its range.

    Notes
    -----
    The paper adds :math:`\lambda \alpha^2` to the loss: give ``alpha`` a weight decay. A level
    below :math:`2^{-15}`, which a step of an optimizer may leave, is set to that. Source:
    J. Choi et al., *PACT: parameterized clipping activation for quantized neural networks*, 2018
    (arXiv 1805.06085).

    Examples
    --------
    >>> import pyqref
    >>> pact = PACTFakeQuantize(alpha=3.0, quant_max=3)
    >>> y = pact(pyqref.tensor([-1.0, 1.2, 5.0]))
    >>> y.detach()
    tensor([0., 1., 3.])
    >>> y.sum().backward()
    >>> pact.alpha.grad
    tensor([1.])
    """

    alpha: Any

    def __init__(
        self,
        alpha: float = 6.0,
        dtype: Dtype = quint8,
        quant_min: int = 0,
        quant_max: int = 255,
    ) -> None:
        super().__init__()
        if not 0 < alpha < float("inf"):
            raise ValueError(f"PACTFakeQuantize: alpha must be positive and finite, got {alpha}")
        if not isinstance(dtype, Dtype) or np.dtype(dtype.numpy_dtype).kind not in "iu":
            raise ValueError(
                "PACTFakeQuantize: dtype must be one of integers such as pyqref.quint8, "
                f"got {dtype!r}"
            )
        info = np.iinfo(dtype.numpy_dtype)
        if not info.min <= quant_min < quant_max <= info.max:
            raise ValueError(
                f"PACTFakeQuantize: quant_min must be less than quant_max, both in "
                f"[{info.min}, {info.max}] for {dtype!r}, got [{quant_min}, {quant_max}]"
            )
        self.quant_min, self.quant_max = quant_min, quant_max
        self.dtype: Dtype = dtype
        self.qscheme: Qscheme = per_tensor_affine
        self.ch_axis, self.is_per_channel = -1, False
        self.alpha = Parameter(wrap(np.full(1, alpha, np.float32)))

    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """Scale (float32) and zero point (int64) of the level, each of shape ``(1,)``."""
        self.alpha.data.clamp_(min=LEAST)
        scale = self.alpha._array / np.float32(self.quant_max - self.quant_min)
        return wrap(scale), wrap(np.full(1, self.quant_min, np.int64))

    def forward(self, x: Tensor) -> Tensor:
        """``x``, clipped and fake quantized."""
        require_tensor(self, x)
        scale, zero_point = self.calculate_qparams()
        y: Tensor = _Clip.apply(x, self.alpha)
        if not self._fake_quantizes or not x.numel():
            return y
        return fake_quantize_per_tensor_affine(
            y, scale.item(), int(zero_point.item()), self.quant_min, self.quant_max
        )

    def _merge(self, other: Any) -> None:
        """Take the same level, which is trained and not observed."""
        require_equal(self, "alpha", other, "; a trained level has no parts: train one model")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Load; nan and infinity are refused."""
        require_loaded_finite(state_dict, f"{prefix}alpha")
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        """The switch, the level and the integers."""
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, alpha={self.alpha.item()}, "
            f"quant_min={self.quant_min}, quant_max={self.quant_max}, dtype={self.dtype}"
        )


class _Clip(Function):
    """``eq-pact-clip`` and its gradients."""

    @staticmethod
    def forward(ctx: Any, x: Any, alpha: Any) -> Any:
        ctx.save_for_backward(x, alpha)
        return wrap(pact_clip(x._array, alpha.item()))

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        x, alpha = ctx.saved_tensors
        return tuple(map(wrap, pact_gradient(x._array, alpha.item(), gradient._array)))
