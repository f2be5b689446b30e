"""Printing a tree of modules, one line a module, children indented."""

from __future__ import annotations

from collections.abc import Iterable

from ..._typing import Module

__all__ = ["indented", "module_repr", "with_children"]


def module_repr(module: Module) -> str:
    """``Name(extra)``, or ``Name(`` and one indented line for each child."""
    children = (f"({name}): {indented(repr(child))}" for name, child in module._modules.items())
    return with_children(module, children)


def with_children(module: Module, child_lines: Iterable[str]) -> str:
    """The name and extra line of ``module`` around the lines of its children."""
    extra = module.extra_repr()
    extra_lines = extra.split("\n") if extra else []
    lines = [*extra_lines, *child_lines]
    name = module._get_name()
    if not lines:
        return f"{name}()"
    if len(extra_lines) == 1 == len(lines):
        return f"{name}({extra})"
    return "\n  ".join([f"{name}(", *lines]) + "\n)"


def indented(text: str, spaces: int = 2) -> str:
    """``text`` with all lines but the first moved to the right."""
    first, *rest = text.split("\n")
    return "\n".join([first, *(" " * spaces + line for line in rest)])
