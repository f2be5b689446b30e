"""``FixedQParamsObserver``: parameters that are known beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import per_tensor_affine, quint8
from pyqref.dtypes import qscheme as Qscheme
from pyqref.nn.loaded_grid import require_loaded_grid
from pyqref.tensor import Tensor
from pyqref.tensor.base import wrap

from .base import ObserverBase
from .checks import named

__all__ = ["FixedQParamsObserver"]


class FixedQParamsObserver(ObserverBase):
    """Give a scale and zero point that do not depend on the data.

    For operations whose results have a known range, such as the sigmoid: scale 1/256 and
    zero point 0 cover [0, 1).

    Parameters
    ----------
    scale
        Positive finite number.
    zero_point
        Integer in [quant_min, quant_max].
    dtype, qscheme, quant_min, quant_max, is_dynamic
        As in :class:`MinMaxObserver`.

    Attributes
    ----------
    scale, zero_point : Tensor
        float32 and int32, of shape ``(1,)``.

    Raises
    ------
    ValueError
        The scale is not positive and finite, or the zero point is out of range.

    Notes
    -----
    Source: ``torch.ao.quantization.FixedQParamsObserver``.

    Examples
    --------
    >>> observer = FixedQParamsObserver(scale=1 / 256, zero_point=0)
    >>> observer.calculate_qparams()
    (tensor([0.0039]), tensor([0], dtype=pyqref.int32))
    """

    scale: Any
    zero_point: Any

    def __init__(
        self,
        scale: float,
        zero_point: int,
        dtype: Dtype = quint8,
        qscheme: Qscheme = per_tensor_affine,
        quant_min: int = 0,
        quant_max: int = 255,
        is_dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(dtype=dtype, is_dynamic=is_dynamic, **kwargs)
        if not 0 < scale < float("inf"):
            raise ValueError(
                f"FixedQParamsObserver: scale must be positive and finite, got {scale}"
            )
        if not quant_min <= zero_point <= quant_max:
            raise ValueError(
                f"FixedQParamsObserver: zero_point must be in [{quant_min}, {quant_max}], "
                f"got {zero_point}"
            )
        self.quant_min = quant_min
        self.quant_max = quant_max
        self.register_buffer("scale", wrap(np.array([scale], dtype=np.float32)))
        self.register_buffer("zero_point", wrap(np.array([zero_point], dtype=np.int32)))
        self.qscheme = qscheme

    def _merge(self, other: Any) -> None:
        """Take the same parameters, which do not depend on data."""
        for name in ("scale", "zero_point"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine.tolist() != theirs.tolist():
                raise ValueError(
                    f"{named(self)}: merge takes an observer with the same {name}, "
                    f"{mine.tolist()}, got {theirs.tolist()}"
                )

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """Load; some states have numbers without dimensions, where today there is a list of one."""
        keys = f"{prefix}scale", f"{prefix}zero_point"
        for key in keys:
            given = state_dict.get(key)
            if isinstance(given, Tensor) and given.dim() == 0:
                state_dict[key] = given.reshape(1)
        require_loaded_grid(state_dict, *keys, (self.quant_min, self.quant_max))
        super()._load_from_state_dict(state_dict, prefix, *args)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` itself."""
        return x

    def calculate_qparams(self, **kwargs: object) -> tuple[Tensor, Tensor]:
        """The scale and the zero point given."""
        return self.scale, self.zero_point
