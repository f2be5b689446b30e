"""Paths of modules and attributes in a model."""

from __future__ import annotations

from pyqref._typing import Tensor
from pyqref.fx import GraphModule
from pyqref.nn import Module

__all__ = ["free_name", "get_attribute", "replace_module", "split_path"]


def split_path(path: str) -> tuple[str, str]:
    """Path of the parent, and name in it.

    Examples
    --------
    >>> split_path("a.b.c"), split_path("c")
    (('a.b', 'c'), ('', 'c'))
    """
    parent, _, name = path.rpartition(".")
    return parent, name


def replace_module(model: Module, path: str, module: Module) -> None:
    """Put another module at a path, in the mode (training or not) of the one before it."""
    parent, name = split_path(path)
    owner = model.get_submodule(parent)
    before = getattr(owner, name, None)
    if isinstance(before, Module):
        module.train(before.training)
    setattr(owner, name, module)


def get_attribute(model: Module, path: str) -> Tensor:
    """Return the attribute at a path."""
    parent, name = split_path(path)
    return getattr(model.get_submodule(parent), name)


def free_name(model: GraphModule, prefix: str) -> str:
    """The prefix, made an identifier, and the first number that gives no attribute yet.

    Examples
    --------
    >>> from pyqref import nn
    >>> module = nn.Module()
    >>> module.a_b_0 = 1
    >>> free_name(module, "a.b_")
    'a_b_1'
    """
    prefix = prefix.replace(".", "_")
    number = 0
    while hasattr(model, f"{prefix}{number}"):
        number += 1
    return f"{prefix}{number}"
