"""Entries of custom configs that match nothing in the model."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from pyqref._typing import Module
from pyqref.fx import GraphModule
from pyqref.quantization.diagnostics import NoMatchWarning, UnusedMappingWarning, warn

from .custom_config import ConvertCustomConfig, PrepareCustomConfig

__all__ = ["present", "warn_of_unmatched", "warn_of_unmatched_at_convert"]


def present(asks: str, model: Module, attributes: Iterable[str]) -> list[str]:
    """Return the attributes to preserve that a model has; warn of others.

    Parameters
    ----------
    asks
        Who asks, for the message.
    model
        The model.
    attributes
        Their names.
    """
    found = []
    for name in attributes:
        if hasattr(model, name):
            found.append(name)
        else:
            what = f"the preserved attribute {name!r} matches nothing: the model has none"
            warn(f"{asks}: {what} of this name; correct it or leave it out", NoMatchWarning)
    return found


def warn_of_unmatched(
    asks: str,
    model: Module,
    traced: GraphModule,
    custom: PrepareCustomConfig,
    called: Collection[Any],
) -> None:
    """Warn of entries for names, classes, inputs and outputs that the model does not have.

    Parameters
    ----------
    asks
        Who asks, for the message.
    model
        The user's model.
    traced
        The same as a graph.
    custom
        The config.
    called
        Paths and classes of the modules that ``forward`` calls.
    """
    names = {
        "standalone_module_names": custom.standalone_module_names,
        "non_traceable_module_names": custom.non_traceable_module_names,
    }
    paths = {path for path, _ in model.named_modules()}
    for entry, listed in names.items():
        for name in listed:
            if name not in called:
                why = "forward never calls it" if name in paths else "there is no such module"
                _warn_of_name(asks, entry, name, why)
    classes: dict[str, Iterable[type]] = {
        "standalone_module_classes": custom.standalone_module_classes,
        "non_traceable_module_classes": custom.non_traceable_module_classes,
        "float_to_observed_mapping": [
            kind for each in custom.float_to_observed_mapping.values() for kind in each
        ],
    }
    for entry, kinds in classes.items():
        for kind in kinds:
            if kind not in called:
                _warn_of_class(asks, entry, kind)
    results = traced.graph.output_node().args[0]
    counts = {
        "input": len(traced.graph.find_nodes(op="placeholder")),
        "output": len(results) if isinstance(results, tuple | list) else 1,
    }
    for what, count in counts.items():
        for index in getattr(custom, f"{what}_quantized_indexes"):
            if index not in range(count):
                has = f"the model has {count} {what}{'' if count == 1 else 's'}, from 0"
                _warn_of_name(asks, f"{what}_quantized_indexes", index, has)


def warn_of_unmatched_at_convert(
    asks: str, model: GraphModule, custom: ConvertCustomConfig
) -> None:
    """Warn of entries for classes that the prepared model does not have.

    Parameters
    ----------
    asks
        Who asks, for the message.
    model
        The prepared model.
    custom
        The config.
    """
    types = {type(each) for each in model.modules()}
    for classes in custom.observed_to_quantized_mapping.values():
        for kind in classes:
            if kind not in types:
                _warn_of_class(asks, "observed_to_quantized_mapping", kind)


def _warn_of_name(asks: str, entry: str, key: Any, why: str) -> None:
    warn(
        f"{asks}: the entry {key!r} of {entry} matches nothing: {why}; correct it or leave it out",
        NoMatchWarning,
    )


def _warn_of_class(asks: str, entry: str, kind: type) -> None:
    warn(
        f"{asks}: the entry for {kind.__qualname__} in {entry} was not used: no module of this "
        "very type is called; correct it or leave it out",
        UnusedMappingWarning,
    )
