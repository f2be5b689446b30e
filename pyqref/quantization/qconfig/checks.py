"""Errors for objects that are no QConfig, with what their user most likely meant."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from pyqref.nn.modules.module import Module
from pyqref.quantization.observer.partial import PartialWrapper
from pyqref.tensor.arguments import described

from .base import _Recipes

__all__ = ["is_equalization_qconfig", "is_qconfig", "require_entry", "require_qconfig"]


def is_qconfig(value: object) -> bool:
    """Return True if ``value`` holds recipes for the observers of activations and weight.

    Examples
    --------
    >>> from pyqref.quantization import QConfig, default_qconfig
    >>> is_qconfig(default_qconfig), is_qconfig(QConfig), is_qconfig("x86")
    (True, False, False)
    """
    if isinstance(value, _Recipes):
        return True
    if isinstance(value, type | Module):
        return False
    return callable(getattr(value, "activation", None)) and callable(getattr(value, "weight", None))


def require_qconfig(value: object, name: str) -> Any:
    """``value``, which must be a QConfig or None.

    Parameters
    ----------
    value
        What was given.
    name
        The argument or the module that it was given to, for the message.

    Raises
    ------
    TypeError
        It is something else; the message says what to write.

    Examples
    --------
    >>> require_qconfig("x86", "features.0.qconfig")
    Traceback (most recent call last):
        ...
    TypeError: features.0.qconfig must be a QConfig, a QConfigDynamic or None, got 'x86'; \
write get_default_qconfig('x86')
    """
    if value is None or is_qconfig(value):
        return value
    raise TypeError(
        f"{name} must be a QConfig, a QConfigDynamic or None, got {_described(value)}; "
        f"{_remedy(value)}"
    )


def is_equalization_qconfig(value: object) -> bool:
    """Return True for an ``EqualizationQConfig``, which measures columns and quantizes nothing."""
    return not isinstance(value, type) and hasattr(value, "input_activation")


def require_entry(value: object, name: str) -> Any:
    """``value``, which must be an entry of a QConfigMapping: a QConfig, None, or of equalization.

    Examples
    --------
    >>> require_entry(None, "qconfig")
    """
    return value if is_equalization_qconfig(value) else require_qconfig(value, name)


def _described(value: Any) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    named = callable(value) and not isinstance(value, Module) and hasattr(value, "__name__")
    return f"the function {value.__name__}" if named else described(value)


def _remedy(value: Any) -> str:
    if isinstance(value, str):
        return f"write get_default_qconfig({value!r})"
    if hasattr(value, "global_qconfig"):
        return (
            "a QConfigMapping is for prepare_fx; give one of its qconfigs, such as its "
            "global_qconfig"
        )
    if isinstance(value, Mapping):
        return "give one of its qconfigs, or pass the dictionary as qconfig_dict of prepare"
    if isinstance(value, type) and issubclass(value, _Recipes):
        return (
            f"make one: {value.__name__}(activation=default_observer, "
            "weight=default_weight_observer)"
        )
    if isinstance(value, PartialWrapper | functools.partial) or _makes_observers(value):
        return "put it into one: QConfig(activation=..., weight=default_weight_observer)"
    if isinstance(value, type):
        return "write default_qconfig, or make one with QConfig"
    if callable(value) and not isinstance(value, Module) and hasattr(value, "__name__"):
        return f"call it: {value.__name__}()"
    return "write default_qconfig, or make one with QConfig"


def _makes_observers(value: Any) -> bool:
    """Return True if it is the class, or an object, of an observer or a fake quantizer."""
    return hasattr(value, "calculate_qparams") and hasattr(value, "with_args")
