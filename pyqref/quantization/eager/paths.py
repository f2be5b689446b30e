"""Modules of a model by their dotted path, and small questions about them."""

from __future__ import annotations

from typing import Any

__all__ = ["get_module", "is_leaf", "replace_module", "type_name"]


def get_module(model: Any, path: str) -> Any:
    """The module at ``path``.

    Raises
    ------
    ValueError
        There is none; the message lists those next to where it was looked for.
    """
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


def replace_module(model: Any, path: str, module: Any) -> None:
    """Put ``module`` in the place of the one at ``path``."""
    parent, _, name = path.rpartition(".")
    owner = get_module(model, parent) if parent else model
    owner._modules[name] = module


def is_leaf(module: Any) -> bool:
    """Whether a module has no submodules."""
    return not module._modules


def type_name(module: Any) -> str:
    """Name of the type of a module, for messages."""
    return type(module).__name__
