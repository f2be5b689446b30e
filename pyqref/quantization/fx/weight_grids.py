"""The grids on which the weights of a layer are quantized."""

from __future__ import annotations

from typing import Any

from pyqref import dtypes
from pyqref._typing import Module, QConfigLike
from pyqref.nn import modules as nn
from pyqref.nn.quantized.integer_range import range_entries

__all__ = ["weight_grids"]

_AFFINE = {
    dtypes.per_tensor_symmetric: dtypes.per_tensor_affine,
    dtypes.per_channel_symmetric: dtypes.per_channel_affine,
}


def weight_grids(
    module: Module, qconfig: QConfigLike | None, fake_quantize: object = None
) -> dict[str, Any]:
    """Return the arguments for ``from_float`` of a reference layer.

    Parameters
    ----------
    module
        The float layer.
    qconfig
        Its QConfig.
    fake_quantize
        The fake quantizer that the weight was trained with, if it was.

    Returns
    -------
    dict
        One grid, or one for each weight of a recurrent layer by name.
    """
    if isinstance(module, nn.RNNCellBase):
        return {
            name: _grid(_observed(qconfig, getattr(module, name)))
            for name in ("weight_ih", "weight_hh")
        }
    if isinstance(module, nn.RNNBase):
        names = [name for name, _ in module.named_parameters() if name.startswith("weight")]
        return {name: _grid(_observed(qconfig, getattr(module, name))) for name in names}
    return _grid(_observed(qconfig, module.weight, fake_quantize))


def _observed(qconfig: Any, weight: Any, observer: Any = None) -> Any:
    """The observer, one of its own if it has none, after it saw the weight.

    One that was trained sees it once more: training may have ended with a step.
    """
    observer = qconfig.weight() if observer is None else observer
    observer(weight.detach())
    return observer


def _grid(observer: Any) -> dict[str, Any]:
    """Scheme, dtype and parameters that an observer found."""
    scheme = getattr(observer, "qscheme", None)
    if not observer.dtype.is_quantized:
        scheme = None
    affine = scheme if scheme is None else _AFFINE.get(scheme, scheme)
    grid = {"qscheme": affine, "dtype": observer.dtype}
    if scheme is None:
        return grid
    grid["scale"], grid["zero_point"] = observer.calculate_qparams()
    if scheme.is_per_channel:
        grid["axis"] = int(observer.ch_axis)
    grid.update(range_entries(observer))
    return grid
