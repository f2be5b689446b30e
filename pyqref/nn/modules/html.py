"""A model in a notebook: the tree of its modules with number types, scales and errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..._typing import Module, Tensor
from ...tensor.html import Markup, block, element, faint, span, table

__all__ = ["module_html"]

ROWS = 200
"""Modules up to which every one is shown."""

HEADER = ["module", "type", "weight, or range seen", "scale", "zero point", "error"]


def module_html(module: Module) -> str:
    """One row a module; of what is quantized the number type, the scale and the error."""
    lines = list(tree(module))
    rows = [row(depth, name, each) for depth, name, each in lines[:ROWS]]
    below = [table(rows, HEADER, left=2)]
    if len(lines) > ROWS:
        below.append(element("div", faint(f"and {len(lines) - ROWS} more modules")))
    parameters = sum(each.numel() for each in module.parameters())
    facts = [f"{len(lines)} modules", f"{parameters:,} float parameters"]
    facts.append("training" if module.training else "evaluation")
    return block(type(module).__name__, facts, *below)


def tree(module: Module, name: str = "", depth: int = 0) -> Iterator[tuple[int, str, Any]]:
    """Depth, name and module, parents first.

    The inside of packed weights is left out, and what stands in the place of a folded module.
    """
    yield depth, name, module
    for child_name, child in module.named_children():
        if child_name != "_packed_params" and type(child).__name__ != "Identity":
            yield from tree(child, child_name, depth + 1)


def row(depth: int, name: str, module: Module) -> list[Any]:
    """The cells of one module."""
    kind = type(module)
    indent = f"padding-left:{1.2 * depth:.1f}em"
    title = name or "(the model)"
    scale, zero_point = output_grid(module)
    return [
        element("span", title, style=indent),
        element("span", kind.__name__, title=f"{kind.__module__}.{kind.__qualname__}"),
        weight_type(module),
        numbers(scale),
        numbers(zero_point),
        error(module, scale),
    ]


def weight_type(module: Module) -> str:
    """Number type of the weight, and how many scales it has; of an observer what it looks for."""
    if hasattr(module, "calculate_qparams"):
        return observed(module)
    weight: Any = getattr(module, "weight", None)
    try:
        weight = weight() if callable(weight) else weight
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        return ""
    dtype = getattr(weight, "dtype", None)
    if dtype is None:
        return ""
    text = str(dtype).rpartition(".")[2]
    if getattr(weight, "is_quantized", False):
        many = "channel" in str(weight.qscheme())
        text += ", per channel" if many else ", per tensor"
    return text


def observed(module: Module) -> str:
    """The range that an observer saw."""
    ends = [getattr(module, name, None) for name in ("min_val", "max_val")]
    if any(end is None for end in ends):
        return ""
    low, high = (np.asarray(end, dtype=np.float64).ravel() for end in ends)
    if not low.size or not np.all(low <= high):
        return "saw no data"
    return f"saw {span(low.min(), high.max())}"


def output_grid(module: Module) -> tuple[Any, Any]:
    """Scale and zero point of what a module gives; None where it has none."""
    found = []
    for name in ("scale", "zero_point"):
        value = getattr(module, name, None)
        if value is None or callable(value):
            return None, None
        try:
            found.append(np.asarray(value, dtype=np.float64).ravel())
        except (TypeError, ValueError):
            return None, None
    return (found[0], found[1]) if found[0].size else (None, None)


def numbers(values: Any) -> str:
    """One number, or from where to where several reach."""
    if values is None:
        return ""
    return span(values.min(), values.max())


def error(module: Module, scale: Tensor | None) -> Markup | str:
    """The measured ratio where there is one, and half a step where the output is rounded."""
    texts = []
    measured = module.__dict__.get("_measured_sqnr")
    if measured is not None:
        texts.append(f"{measured:.1f} dB")
    if scale is not None:
        texts.append(f"± {numbers(scale / 2)}")
    return ", ".join(texts)
