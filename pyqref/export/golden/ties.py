"""Which outputs lie on a tie of the last rounding: there the rule alone decides."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["on_ties"]

Array = np.ndarray[Any, Any]


def on_ties(stages: dict[str, Array], shape: tuple[int, ...]) -> Array | None:
    """A mask of the shape of the output; None if the stages do not tell.

    Parameters
    ----------
    stages
        By the names of :data:`~pyqref.export.golden.stages.STAGES`.
    shape
        Of the output; channels are the second axis of images and the last of others.

    Examples
    --------
    >>> on_ties({"scaled": np.float32([0.25, 2.5])}, (2,)).tolist()
    [False, True]
    >>> upper, exponent = np.array([[4, 6]]), np.array([-2, -2])
    >>> on_ties({"product_upper_half": upper, "exponent": exponent}, (1, 2)).tolist()
    [[False, True]]
    """

    def spread(name: str) -> Any:
        array = stages[name].astype(np.int64)
        if array.ndim == 1 and len(shape) > 2 and array.shape[0] == shape[1]:
            return array.reshape(-1, *(1,) * (len(shape) - 2))
        return array

    real = stages.get("with_zero_point", stages.get("scaled"))
    if real is not None and real.dtype.kind == "f":
        mask = real % 1 == 0.5
    elif {"product_upper_half", "exponent"} <= stages.keys():
        mask = _in_the_middle(spread("product_upper_half"), -spread("exponent"))
    elif {"sum", "shift"} <= stages.keys():
        mask = _in_the_middle(spread("sum"), spread("shift"))
    elif {"multiplier", "exponent", "accumulator"} <= stages.keys():
        total = spread("sum" if "sum" in stages else "accumulator")
        mask = _in_the_middle(total * spread("multiplier"), 31 - spread("exponent"))
    else:
        return None
    return mask if mask.shape == shape else None


def _in_the_middle(number: Array, places: Array) -> Array:
    """Return True where a shift to the right drops exactly half of a unit."""
    kept = np.clip(places, 0, 62)
    low = number & ((np.int64(1) << kept) - 1)
    return np.asarray((kept > 0) & (low == (np.int64(1) << np.maximum(kept - 1, 0))))
