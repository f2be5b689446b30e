"""The weight of a dynamic layer, from the observer in its qconfig."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyqref import dtypes
from pyqref._typing import AnyModule, Tensor
from pyqref.backends import quantized as settings
from pyqref.nn.quantized.modules.utils import quantize_weight
from pyqref.numerics.qparams import choose_qparams
from pyqref.tensor.quantized import quantize_per_tensor

__all__ = ["dynamic_weight", "weight_observer_method"]


def weight_observer_method(cls: type, mod: AnyModule) -> Callable[[], Any] | None:
    """Return the recipe of the observer for a weight of ``mod``; None means the default.

    Raises
    ------
    ValueError
        ``mod`` has no attribute ``qconfig``, or its observer is of another dtype.
    """
    if not hasattr(mod, "qconfig"):
        raise ValueError(
            f"{cls.__name__}.from_float: {type(mod).__name__} must have a qconfig; set "
            "mod.qconfig = default_dynamic_qconfig, or call quantization.quantize_dynamic"
        )
    if mod.qconfig is None or mod.qconfig.weight is None:
        return None
    method: Callable[[], Any] = mod.qconfig.weight
    dtype = method().dtype
    if dtype not in (dtypes.qint8, dtypes.float16):
        raise ValueError(
            f"{cls.__name__}.from_float: the weight of a dynamic layer must be qint8 or float16, "
            f"the qconfig has an observer for {dtype}"
        )
    return method


def dynamic_weight(weight: Tensor, method: Callable[[], Any] | None) -> Tensor:
    """The qint8 weight that an observer chooses, or the float one if it is to be float16.

    Without an observer the weight is quantized as ``default_weight_observer`` would:
    per tensor, symmetric (equation ``eq-symmetric-scale``).
    """
    weight = weight.detach().float()
    if method is None:
        low, high = float(weight.min()), float(weight.max())
        scale, zero_point = choose_qparams(
            low,
            high,
            -128,
            127,
            symmetric=True,
            convention=settings.conventions,  # type: ignore[arg-type]
        )
        return quantize_per_tensor(weight, float(scale), int(zero_point), dtypes.qint8)
    observer = method()
    observer(weight)
    if observer.dtype is dtypes.float16:
        return weight
    return quantize_weight(weight, observer)
