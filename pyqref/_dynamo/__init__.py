"""``torch._dynamo`` for scripts that set or ask it something: nothing here compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from . import utils as utils

__all__ = ["reset", "utils"]


def reset() -> None:
    """Forget what was compiled: nothing.

    Examples
    --------
    >>> import pyqref
    >>> pyqref._dynamo.reset()
    """


if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {})
