"""A ``with`` that sets switches of a module and puts them back."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

__all__ = ["switched"]


@contextmanager
def switched(module: str, switches: dict[str, Any]) -> Iterator[None]:
    """Set attributes of a module inside a ``with``.

    Parameters
    ----------
    module
        Its ``__name__``.
    switches
        Values by name; None leaves a switch as it is.

    Examples
    --------
    >>> import pyqref
    >>> with switched("pyqref.backends.cudnn", {"benchmark": True}):
    ...     pyqref.backends.cudnn.benchmark
    True
    >>> pyqref.backends.cudnn.benchmark
    False
    """
    own = vars(sys.modules[module])
    before = {name: own[name] for name in switches}
    own.update({name: value for name, value in switches.items() if value is not None})
    try:
        yield
    finally:
        own.update(before)
