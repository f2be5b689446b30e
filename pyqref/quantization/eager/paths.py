"""Modules of a model by their dotted path, and small questions about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref._typing import AnyModule
from pyqref.nn.modules.module import Module

__all__ = [
    "custom_config",
    "get_module",
    "is_leaf",
    "replace_module",
    "require_mapping",
    "require_module",
]


def get_module(model: Module, path: str) -> Module:
    """The module at ``path``.

    Raises
    ------
    ValueError
        There is none; the message lists those next to where it was looked for.
    """
    if not isinstance(path, str):
        raise TypeError(f"the path of a module must be a string such as 'conv1', got {path!r}")
    current: Any = model
    done: list[str] = []
    for name in path.split("."):
        children = dict(current.named_children()) if hasattr(current, "named_children") else {}
        if name not in children:
            where = ".".join(done) or "the model"
            raise ValueError(
                f"there is no module {path!r}: {where} ({type(current).__name__}) has no submodule "
                f"{name!r}; it has {', '.join(children) or 'none'}"
            )
        current = children[name]
        done.append(name)
    return current


def replace_module(model: Module, path: str, module: Module) -> None:
    """Put ``module`` in the place of the one at ``path``."""
    parent, _, name = path.rpartition(".")
    owner = get_module(model, parent) if parent else model
    owner._modules[name] = module


def is_leaf(module: AnyModule) -> bool:
    """Return True if a module has no submodules."""
    return not module._modules


def require_module(name: str, model: AnyModule) -> None:
    """Raise TypeError unless ``model`` is a module; ``name`` is who asks."""
    if not isinstance(model, Module):
        hint = f"; call it: {model.__name__}()" if isinstance(model, type) else ""
        raise TypeError(f"{name}: the model must be a Module, got {model!r}{hint}")


def require_mapping(asks: str, argument: str, mapping: Mapping[Any, Any]) -> None:
    """Raise TypeError unless ``mapping`` goes from module types to types."""
    if not isinstance(mapping, Mapping):
        raise TypeError(
            f"{asks}: {argument} must be a dictionary from types to types, got {mapping!r}"
        )
    for key in mapping:
        if not callable(key):
            raise TypeError(f"{asks}: a key of {argument} must be a module type, got {key!r}")


def custom_config(
    name: str, config: Mapping[str, Any] | None, known: tuple[str, ...]
) -> dict[str, Any]:
    """A copy of a dictionary of custom settings, whose keys are checked.

    Raises
    ------
    ValueError
        A key has no meaning, so that it would have no effect.
    """
    if config is not None and not isinstance(config, Mapping):
        raise TypeError(f"{name} must be a dictionary, got {config!r}")
    found = dict(config or {})
    unknown = [key for key in found if key not in known]
    if unknown:
        raise ValueError(f"{name}: keys must be among {', '.join(known)}, got {unknown}")
    return found
