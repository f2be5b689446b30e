"""One part of a model that can be quantized by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Unit"]


@dataclass(frozen=True)
class Unit:
    """One part of a model.

    Attributes
    ----------
    name
        Path of its module, or name of its node in the graph.
    what
        Class of the module, or name of the function or method.
    entry
        Level of the QConfigMapping, and key there.
    qconfig
        For 8 bits.
    kind
        ``"static"``, ``"dynamic"``, ``"weight only"``, ``"reference"`` or ``"custom"``.
    target
        Class, function or method name, for reference forms.
    follows
        Whether it moves or picks numbers of one tensor, whose grid it keeps.
    fixed
        Whether the grid of its output is known beforehand, and is no grid for its input: then it is
        quantized only behind integers.
    weights
        How many it has that are quantized.
    macs
        Products in one call of the model with the first batch.
    inputs
        Names of the units that give its inputs; None for an input that is not of a unit.
    """

    name: str
    what: str
    entry: tuple[str, Any]
    qconfig: Any
    kind: str
    target: Any
    follows: bool = False
    fixed: bool = False
    weights: int = 0
    macs: int = 0
    inputs: tuple[str | None, ...] = ()
