"""Making reference layers: the weight's observer gives the grid that they carry."""

from __future__ import annotations

from typing import Any

from pyqref._typing import AnyModule, Module, Tensor
from pyqref.dtypes import float16
from pyqref.nn.quantized.integer_range import range_entries

__all__ = ["reference_form", "weight_qparams"]


def reference_form(mod: AnyModule, reference: AnyModule) -> Module:
    """The reference layer of a float layer with a qconfig.

    Each weight gets an observer of its own.
    """
    if hasattr(mod, "weight"):
        return reference.from_float(mod, weight_qparams(mod.weight, mod.qconfig.weight()))
    grids = {
        name: weight_qparams(parameter, mod.qconfig.weight())
        for name, parameter in mod.named_parameters(recurse=False)
        if name.startswith("weight_")
    }
    return reference.from_float(mod, grids)


def weight_qparams(weight: Tensor, observer: Any) -> dict[str, Any]:
    """Return the parameters that an observer chooses for a weight, for the reference layers."""
    if observer.dtype is float16:
        return {"qscheme": None, "dtype": float16}
    observer(weight)
    scale, zero_point = observer.calculate_qparams()
    found = {
        "qscheme": observer.qscheme,
        "dtype": observer.dtype,
        "scale": scale,
        "zero_point": zero_point,
    }
    if observer.qscheme.is_per_channel:
        found["axis"] = observer.ch_axis
    found.update(range_entries(observer))
    return found
