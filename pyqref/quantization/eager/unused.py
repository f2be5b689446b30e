"""Entries of a user's mappings that had no effect."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyqref._typing import Module
from pyqref.quantization.diagnostics import UnusedMappingWarning, warn
from pyqref.quantization.quantization_mappings import (
    get_embedding_qat_module_mappings,
    get_embedding_static_quant_module_mappings,
)

from .origins import named_layers

__all__ = ["warn_of_unused_entries"]


def warn_of_unused_entries(
    asks: str,
    argument: str,
    model: Module,
    mapping: Mapping[Any, Any],
    defaults: Mapping[Any, Any],
    used: set[Any],
) -> None:
    """Warn of each entry of the user's own that no module was swapped by.

    Parameters
    ----------
    asks, argument
        Who asks, and the name of the argument that held the mapping.
    model
        The model, after the swaps.
    mapping
        The mapping that was used.
    defaults
        The default table; its entries, and those of the tables with embeddings, need no
        module.
    used
        Types of the modules that were swapped.
    """
    tables = (
        defaults,
        get_embedding_static_quant_module_mappings(),
        get_embedding_qat_module_mappings(),
    )
    for key, value in mapping.items():
        if key in used or any(table.get(key) is value for table in tables):
            continue
        name = getattr(key, "__qualname__", repr(key))
        places = [path or "the model" for path, each in named_layers(model) if type(each) is key]
        if places:
            cause = (
                f"{', '.join(places)} had no qconfig, is the model itself, or is inside a group "
                "that is swapped as one; give it a qconfig"
            )
        else:
            near = _subclasses(model, key)
            cause = f"the model has no {name}" + (
                f", only subclasses of it ({near}), whose very type must be named" if near else ""
            )
        warn(
            f"{asks}: the entry for {name} in {argument} was not used: {cause}, or leave the "
            "entry out",
            UnusedMappingWarning,
        )


def _subclasses(model: Any, key: Any) -> str:
    if not isinstance(key, type):
        return ""
    names = {type(each).__name__ for _, each in named_layers(model) if isinstance(each, key)}
    return ", ".join(sorted(names))
