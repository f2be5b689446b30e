"""``RecordingObserver``: keeps every tensor, for debugging."""

from __future__ import annotations

from typing import Any, NoReturn

from pyqref._typing import Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_tensor_affine, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.tensor.foreign import kind_of

from .base import ObserverBase
from .checks import named

__all__ = ["RecordingObserver"]


class RecordingObserver(ObserverBase):
    """Keep a copy of every tensor that passes, for debugging.

    Parameters
    ----------
    dtype
        Type that the tensors would be quantized to.
    qscheme, reduce_range
        Kept for whoever reads them; recording does not depend on them.

    Attributes
    ----------
    tensor_val : list of Tensor
        The copies, the oldest first. Memory grows with each call.

    Raises
    ------
    RuntimeError
        When asked for quantization parameters, which it does not find.

    Notes
    -----
    Source: ``torch.quantization.RecordingObserver``.

    Examples
    --------
    >>> import pyqref
    >>> observer = RecordingObserver()
    >>> _ = observer(pyqref.tensor([1.0, 2.0]))
    >>> observer.get_tensor_value()
    [tensor([1., 2.])]
    """

    def __init__(
        self,
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_tensor_affine,
        reduce_range: bool = False,
    ) -> None:
        super().__init__(dtype=dtype)
        self.qscheme = qscheme
        self.reduce_range = reduce_range
        self.tensor_val: list[Any] = []

    def forward(self, x: Tensor) -> Tensor:
        """Keep a copy of ``x``, which is returned."""
        if not hasattr(x, "_array"):
            raise TypeError(f"{named(self)} records tensors, got {kind_of(x)}")
        self.tensor_val.append(x.clone().detach())
        return x

    def _merge(self, other: Any) -> None:
        """Append copies of the tensors of ``other``."""
        self.tensor_val += [each.clone() for each in other.tensor_val]

    def calculate_qparams(self, **kwargs: object) -> NoReturn:
        """There are none: an error."""
        raise RuntimeError(
            "calculate_qparams should not be called for RecordingObserver: it keeps tensors, "
            "not ranges; use MinMaxObserver to quantize"
        )

    def get_tensor_value(self) -> list[Tensor]:
        """The copies of all tensors seen."""
        return self.tensor_val
