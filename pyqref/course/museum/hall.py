"""All bugs of the museum."""

from __future__ import annotations

from .bug import Bug
from .layers import LAYERS
from .ranges import RANGES
from .rounding import ROUNDING

__all__ = ["bugs"]


def bugs() -> dict[str, Bug]:
    """All bugs by their names.

    Examples
    --------
    >>> len(bugs()), list(bugs())[0]
    (34, 'half-away')
    """
    return {each.name: each for each in (*ROUNDING, *RANGES, *LAYERS)}
