"""``ReuseInputObserver``: the result keeps the input's parameters."""

from __future__ import annotations

from typing import NoReturn

from pyqref._typing import Tensor
from pyqref.dtypes import quint8

from .base import ObserverBase

__all__ = ["ReuseInputObserver"]


class ReuseInputObserver(ObserverBase):
    """Say that a result is quantized with the parameters of its input.

    For operations that only move numbers around, such as reshape, in graph mode.

    Raises
    ------
    RuntimeError
        When asked for quantization parameters.

    Notes
    -----
    Source: ``torch.ao.quantization.ReuseInputObserver``.

    Examples
    --------
    >>> import pyqref
    >>> ReuseInputObserver()(pyqref.tensor([1.0]))
    tensor([1.])
    """

    def __init__(self) -> None:
        super().__init__(quint8, is_dynamic=False)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` itself."""
        return x

    def _merge(self, other: ObserverBase) -> None:
        """Nothing was seen."""

    def calculate_qparams(self, **kwargs: object) -> NoReturn:
        """There are none of its own: an error."""
        raise RuntimeError(
            "calculate_qparams should not be called for ReuseInputObserver: "
            "its parameters come from the observer of the input"
        )
