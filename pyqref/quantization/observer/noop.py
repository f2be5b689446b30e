"""``NoopObserver``: looks away."""

from __future__ import annotations

from typing import NoReturn

from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import float16

from ..._typing import Tensor
from .base import ObserverBase

__all__ = ["NoopObserver"]


class NoopObserver(ObserverBase):
    """Do nothing but tell ``from_float`` a dtype.

    For quantization to ``float16``, which needs no range.

    Parameters
    ----------
    dtype
        Type of the quantized weights.
    custom_op_name
        Name of a custom operation, as in torch.

    Raises
    ------
    RuntimeError
        When asked for quantization parameters.

    Notes
    -----
    Source: ``torch.quantization.NoopObserver``.

    Examples
    --------
    >>> import pyqref
    >>> NoopObserver().dtype
    pyqref.float16
    """

    def __init__(self, dtype: Dtype = float16, custom_op_name: str = "") -> None:
        super().__init__(dtype=dtype, is_dynamic=False)
        self.custom_op = custom_op_name

    def forward(self, x: Tensor) -> Tensor:
        """``x`` itself."""
        return x

    def _merge(self, other: ObserverBase) -> None:
        """Nothing was seen."""

    def calculate_qparams(self, **kwargs: object) -> NoReturn:
        """There are none: an error."""
        raise RuntimeError(
            "calculate_qparams should not be called for NoopObserver: "
            f"{self.dtype!r} needs no scale and zero point"
        )
