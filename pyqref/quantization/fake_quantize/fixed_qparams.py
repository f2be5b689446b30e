"""``FixedQParamsFakeQuantize``: fake quantization with known parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyqref.quantization.observer.fixed_qparams import FixedQParamsObserver

from ..._typing import Module
from .fake_quantize import FakeQuantize

__all__ = ["FixedQParamsFakeQuantize"]


class FixedQParamsFakeQuantize(FakeQuantize):
    """Simulate quantization with a scale and zero point that do not depend on the data.

    Parameters
    ----------
    observer
        Class, or recipe, of a :class:`FixedQParamsObserver`.

    Raises
    ------
    TypeError
        ``observer`` makes an observer of another kind.

    Notes
    -----
    The formula is that of :class:`FakeQuantize` (``eq-fake-quantize``). Source:
    ``torch.ao.quantization.FixedQParamsFakeQuantize``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.quantization import default_fixed_qparams_range_0to1_fake_quant
    >>> fake_quantize = default_fixed_qparams_range_0to1_fake_quant()
    >>> fake_quantize(pyqref.tensor([0.25, 1.0, 7.0]))
    tensor([0.2500, 0.9961, 0.9961])
    """

    def __init__(self, observer: Callable[..., Module]) -> None:
        super().__init__(observer=observer)
        fixed = self.activation_post_process
        if not isinstance(fixed, FixedQParamsObserver):
            raise TypeError(
                "FixedQParamsFakeQuantize: observer must make a FixedQParamsObserver, "
                f"got {type(fixed).__name__}; use FakeQuantize with it"
            )
        self.scale = fixed.scale
        self.zero_point = fixed.zero_point

    def calculate_qparams(self, **kwargs: object) -> tuple[Any, Any]:
        """The scale and zero point given."""
        return self.scale, self.zero_point

    def _keep(self, scale: Any, zero_point: Any) -> None:
        """They stay."""

    def extra_repr(self) -> str:
        """The switches and the parameters."""
        return (
            f"fake_quant_enabled={self.fake_quant_enabled}, "
            f"observer_enabled={self.observer_enabled}, scale={self.scale}, "
            f"zero_point={self.zero_point}, dtype={self.dtype}, quant_min={self.quant_min}, "
            f"quant_max={self.quant_max}, qscheme={self.qscheme}"
        )
