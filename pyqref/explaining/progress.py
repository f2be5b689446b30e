"""A progress bar in a terminal, and silence elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Progress"]

WIDTH = 24
"""Characters of the bar."""
PERIOD = 0.1
"""Seconds between two pictures of it."""


class Progress:
    """Shows on standard error how far a piece of work of known length is.

    Parameters
    ----------
    title
        What is done.
    steps
        How many steps it has.
    show
        Whether to show it; None for a terminal only.
    """

    def __init__(self, title: str, steps: int, show: bool | None = None) -> None:
        self.title = title
        self.steps = steps
        self.done = 0
        self.show = sys.stderr.isatty() if show is None else show
        self.start = time.monotonic()
        self.last = -PERIOD

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.show:
            self._draw()
            sys.stderr.write("\n")

    def step(self) -> None:
        """One step more is done."""
        self.done += 1
        now = time.monotonic()
        if self.show and now - self.last >= PERIOD:
            self.last = now
            self._draw()

    def _draw(self) -> None:
        filled = WIDTH * self.done // max(self.steps, 1)
        bar = "#" * filled + "." * (WIDTH - filled)
        seconds = time.monotonic() - self.start
        sys.stderr.write(f"\r{self.title} [{bar}] {self.done}/{self.steps} {seconds:.0f} s")
        sys.stderr.flush()
