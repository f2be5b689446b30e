"""When the states of two observers, or of two fake quantizers, may become one."""

from __future__ import annotations

from typing import Any

from pyqref._typing import Module
from pyqref.tensor.foreign import kind_of

from .checks import named

__all__ = ["channels_differ", "require_alike", "settings_of"]

#: Attributes that change while an observer works.
_NOT_SETTINGS = {
    "average_batch_activation_range",
    "num_batches_tracked",
    "tensor_val",
    "training",
}
#: Those that are compared in classes of a user's own, whose other attributes may be state.
_ALWAYS_SETTINGS = {
    "averaging_constant",
    "ch_axis",
    "dtype",
    "is_dynamic",
    "qscheme",
    "quant_max",
    "quant_min",
    "reduce_range",
}


def settings_of(module: Module) -> dict[str, Any]:
    """Return what an observer was made with: its public attributes that are not state."""
    public = {
        key: value
        for key, value in vars(module).items()
        if not key.startswith("_") and key not in _NOT_SETTINGS
    }
    if type(module).__module__.startswith("pyqref."):
        return public
    return {key: value for key, value in public.items() if key in _ALWAYS_SETTINGS}


def require_alike(own: Module, other: Any) -> None:
    """Raise unless ``other`` is of the class of ``own`` and was made with the same arguments.

    Raises
    ------
    TypeError
        It is of another class.
    ValueError
        It was made with other arguments, which the message names.
    """
    if type(own) is not type(other):
        raise TypeError(
            f"{named(own)}: merge takes another {type(own).__name__}, got {kind_of(other)}"
        )
    mine, theirs = settings_of(own), settings_of(other)
    for each, found in ((own, mine), (other, theirs)):
        if "eps" in each._buffers:
            found["eps"] = each._buffers["eps"].tolist()
    differ = [key for key in mine if key not in theirs or mine[key] != theirs[key]]
    if differ:
        key = differ[0]
        raise ValueError(
            f"{named(own)}: merge takes an observer made with the same arguments, got "
            f"{key}={theirs.get(key)!r} instead of {mine[key]!r}; prepare both from the same model "
            "with the same qconfig"
        )


def channels_differ(own: Module, mine: int, theirs: int) -> ValueError:
    """Return the error for an observer that saw another number of channels."""
    return ValueError(
        f"{named(own)}: merge takes an observer of as many channels, {mine}, got {theirs}"
    )
