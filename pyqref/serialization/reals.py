"""Real numbers in JSON, which has neither infinities nor nan."""

from __future__ import annotations

import math

__all__ = ["SPECIAL_REALS", "real_from_json", "real_to_json"]

#: The numbers that JSON does not have, by the text that stands for them.
SPECIAL_REALS = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}


def real_to_json(value: float) -> float | list[str]:
    """A finite number stands for itself, another one is ``["float", "nan"]`` or the like."""
    return value if math.isfinite(value) else ["float", str(value)]


def real_from_json(node: float) -> float:
    """The number for which ``node`` stands; anything else comes back as it is."""
    if isinstance(node, list) and len(node) == 2 and node[0] == "float":
        name = node[1]
        return SPECIAL_REALS.get(name, node) if isinstance(name, str) else node
    return node
