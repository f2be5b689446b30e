"""Pass: the qconfigs at convert, where entries may have become None.

The mapping given to ``convert_fx`` may leave operations out by None. Everything else must
be as it was given to ``prepare_fx``, since the observers are there already. With None for ``fc``::

    x -> observer 0 -> conv -> observer 1 -> fc -> observer 2 -> y      before
    x -> quantize -> conv -> dequantize -> fc -> y                      what convert makes of it
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule
from pyqref.quantization.diagnostics import NotQuantizedWarning, warn
from pyqref.quantization.qconfig.base import qconfig_equals
from pyqref.quantization.qconfig_mapping import QConfigMapping

from .node_qconfigs import find_qconfigs, warn_of_unused_entries
from .observed import Preparation
from .reasons import keep_reason

__all__ = ["convert_qconfigs"]


def convert_qconfigs(
    asks: str, model: GraphModule, preparation: Preparation, mapping: QConfigMapping | None
) -> dict[str, Any]:
    """The qconfig of each node by name.

    Parameters
    ----------
    asks
        Who asks, for messages.
    model
        The prepared model.
    preparation
        What was prepared.
    mapping
        The mapping given now, or None.

    Raises
    ------
    ValueError
        An entry was not there before and is not None, is missing, or has changed.
    """
    if mapping is None:
        return preparation.qconfigs
    _check(asks, preparation.qconfig_mapping, mapping)
    found, lookup = find_qconfigs(model, mapping, preparation.scopes)
    given_before = {
        (level, key)
        for level, entries in preparation.qconfig_mapping._entries().items()
        for key in entries
    }
    warn_of_unused_entries(asks, model, mapping, lookup.used | given_before)
    kept = {
        name: qconfig if qconfig is None or name not in found else found[name]
        for name, qconfig in preparation.qconfigs.items()
    }
    for node in model.graph.nodes:
        if node.name in preparation.observed and kept.get(node.name) is None:
            keep_reason(node, f"the mapping given to {asks} sets its qconfig to None")
    if preparation.observed and not any(kept.get(name) for name in preparation.observed):
        warn(
            f"{asks}: nothing will be quantized: the qconfig_mapping sets the qconfig of all "
            "operations to None; leave it out, or set only some of them to None",
            NotQuantizedWarning,
        )
    return kept


def _check(asks: str, before: QConfigMapping, now: QConfigMapping) -> None:
    pairs: list[tuple[str, Any, Any, Any]] = []
    if before.global_qconfig is not now.global_qconfig:
        pairs.append(("global", "", before.global_qconfig, now.global_qconfig))
    for level, entries in now._entries().items():
        old = before._entries()[level]
        missing = [key for key in old if key not in entries]
        if missing:
            raise ValueError(
                f"{asks}: the entries of qconfig_mapping must include those given to prepare_fx; "
                f"{level} lacks {missing}"
            )
        pairs += [(level, key, old.get(key), value) for key, value in entries.items()]
    for level, key, old_value, value in pairs:
        if value is not None and not qconfig_equals(old_value, value):
            raise ValueError(
                f"{asks}: an entry of qconfig_mapping must be the one given to prepare_fx or "
                f"None; {level} {key!r} was {old_value}, now it is {value}"
            )
