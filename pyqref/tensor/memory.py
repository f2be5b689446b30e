"""Amount of memory, so that a tensor that cannot fit is refused by its size."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import cache

try:
    from resource import RLIMIT_AS as _ADDRESSES
    from resource import getrlimit as _getrlimit
except ImportError:  # Windows has no such limits
    _getrlimit = None  # type: ignore[assignment]

__all__ = ["machine_memory", "require_memory", "usable_memory"]

#: What fits anywhere: the limits are not asked for.
_SMALL = 1 << 20


@cache
def machine_memory() -> int:
    """The bytes of this machine's memory; 2**47, all that a process can address, if unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 2**47


def usable_memory() -> int:
    """The machine's memory, or less where this process may have less (``ulimit -v``)."""
    limit = machine_memory()
    if _getrlimit is not None:
        allowed = _getrlimit(_ADDRESSES)[0]
        if 0 <= allowed < limit:
            return int(allowed)
    return limit


def require_memory(shape: Sequence[int], itemsize: int, what: str = "a tensor") -> None:
    """Raise unless elements of ``itemsize`` bytes in this shape fit the machine's memory.

    Raises
    ------
    RuntimeError
        They need more than all of it.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.zeros(2**50)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: a tensor of shape (1125899906842624,) needs 4503599627370496 bytes, ...
    """
    if 0 in shape and math.prod(length or 1 for length in shape) * itemsize >= 2**63:
        raise RuntimeError(f"{what} of shape {tuple(shape)} cannot be addressed")
    needed = math.prod(shape) * itemsize
    if needed > _SMALL and needed > usable_memory():
        limited = usable_memory() < machine_memory()
        whose = "this process may have" if limited else "this machine's memory has"
        raise RuntimeError(
            f"{what} of shape {tuple(shape)} needs {needed} bytes, but {whose} {usable_memory()}"
        )
