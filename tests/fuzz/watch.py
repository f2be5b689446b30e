"""Watch whether a call asked for the kernel in use, or for the number of threads.

A call that asked for neither cannot give something else on another kernel or another number of
threads. It need not be made again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from types import ModuleType
from typing import Any

import pyqref
from pyqref._kernels import registry, threads

#: What was asked for since :func:`forget`: ``kernel``, ``threads``.
asked: set[str] = set()
forget = asked.clear


def _asking(function: Callable[..., Any]) -> Callable[..., Any]:
    def watched(*arguments: Any) -> Any:
        asked.add("kernel")
        return function(*arguments)

    return watched


class _Threads(ModuleType):
    """The module whose ``limit`` every operation reads that uses threads."""

    @property
    def limit(self) -> Any:
        asked.add("threads")
        return self.__dict__["limit"]


@lru_cache(None)
def start() -> None:
    """Watch from now on, in this process."""
    for name in ("twin", "twin_of", "in_use"):
        setattr(registry, name, _asking(getattr(registry, name)))
    pyqref.kernels.in_use = registry.in_use
    threads.__class__ = _Threads
    # Which kernels there are does not change meanwhile; looking takes longer than most calls.
    registry.usable = lru_cache(registry.usable)
