"""The arguments of the functions that users call: checked, and configs from dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref.nn.modules.module import Module
from pyqref.quantization.backend_config import BackendConfig, get_native_backend_config

from .observed import require_float

__all__ = ["backend_from", "check_model", "config_from", "optional_config"]


def check_model(asks: str, model: Module, is_qat: bool = False) -> None:
    """Refuse what is no module, and unless for training a module in training mode."""
    if not isinstance(model, Module):
        raise TypeError(f"{asks} takes a Module, got {type(model).__name__}")
    if model.training and not is_qat:
        raise ValueError(f"{asks} takes a model in evaluation mode; call model.eval() first")
    require_float(asks, model)


def config_from(name: str, value: object, kind: Any) -> Any:
    """A config from itself, its dictionary or None."""
    if value is None and name != "qconfig_mapping":
        return kind()
    if isinstance(value, Mapping):
        return kind.from_dict(value)
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__} or a dictionary, got {value!r}")
    return value


def optional_config(name: str, value: object, kind: Any) -> Any:
    """A config from itself or its dictionary; None stays None."""
    return None if value is None else config_from(name, value, kind)


def backend_from(value: object) -> BackendConfig:
    """A back end from itself or its dictionary; the native one for None."""
    found = optional_config("backend_config", value, BackendConfig)
    return get_native_backend_config() if found is None else found
