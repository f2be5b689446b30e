"""Calls of scripts to a compiler that does not exist here; they have no effect."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._lazy import on_first_use
from ..compiler import allow_in_graph as allow_in_graph
from ..compiler import disable as disable
from ..compiler import reset as reset
from . import config as config
from . import utils as utils

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "graph_break",
    "reset",
    "utils",
]

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__)


def graph_break(msg: str = "") -> None:
    """Do nothing: no graph is recorded that could be broken off.

    Examples
    --------
    >>> from pyqref import _dynamo
    >>> _dynamo.graph_break()
    """


def assume_constant_result(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function: each call runs it.

    Examples
    --------
    >>> from pyqref import _dynamo
    >>> _dynamo.assume_constant_result(len) is len
    True
    """
    return fn
