"""``PlaceholderObserver``: says which dtype, for ranges that are found later."""

from __future__ import annotations

from typing import NoReturn

from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import float32, per_tensor_affine
from pyqref.dtypes import qscheme as Qscheme
from pyqref.numerics.qparams import EPS

from ..._typing import Tensor
from .base import ObserverBase

__all__ = ["PlaceholderObserver"]


class PlaceholderObserver(ObserverBase):
    """Say how a tensor will be quantized, without looking at it.

    Stands where the parameters are chosen at run time (dynamic quantization) or where
    there are none (``float16``).

    Parameters
    ----------
    dtype
        Type that the tensor will be quantized to.
    custom_op_name
        Name of a custom operation, as in torch.
    compute_dtype
        Older spelling of dynamic quantization: given, it becomes ``dtype`` and
        ``is_dynamic`` becomes True.
    quant_min, quant_max
        Range of the integers.
    qscheme
        Scheme; ``per_tensor_affine`` if None.
    eps
        Smallest scale; ``2**-23`` if None.
    is_dynamic
        Whether the parameters are chosen for each tensor at run time.

    Raises
    ------
    RuntimeError
        When asked for quantization parameters.

    Notes
    -----
    Source: ``torch.ao.quantization.PlaceholderObserver``.

    Examples
    --------
    >>> import pyqref
    >>> PlaceholderObserver(dtype=pyqref.quint8, is_dynamic=True)
    PlaceholderObserver(dtype=pyqref.quint8, is_dynamic=True)
    """

    def __init__(
        self,
        dtype: Dtype = float32,
        custom_op_name: str = "",
        compute_dtype: Dtype | None = None,
        quant_min: int | None = None,
        quant_max: int | None = None,
        qscheme: Qscheme | None = None,
        eps: float | None = None,
        is_dynamic: bool = False,
    ) -> None:
        if compute_dtype is not None:
            dtype, is_dynamic = compute_dtype, True
        super().__init__(dtype=dtype, is_dynamic=is_dynamic)
        self.qscheme = per_tensor_affine if qscheme is None else qscheme
        self.quant_min = quant_min
        self.quant_max = quant_max
        self.eps = EPS if eps is None else eps
        self.custom_op = custom_op_name

    def forward(self, x: Tensor) -> Tensor:
        """``x`` itself."""
        return x

    def extra_repr(self) -> str:
        """The dtype, and whether dynamic."""
        return f"dtype={self.dtype}, is_dynamic={self.is_dynamic}"

    def _merge(self, other: ObserverBase) -> None:
        """Nothing was seen."""

    def calculate_qparams(self, **kwargs: object) -> NoReturn:
        """There are none: an error."""
        raise RuntimeError(
            "calculate_qparams should not be called for PlaceholderObserver: it sees no data; "
            "use MinMaxObserver for static quantization"
        )
