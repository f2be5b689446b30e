"""Tells how far long work is: on a terminal, or by calling a function."""

from __future__ import annotations

import sys
from collections.abc import Callable

__all__ = ["Report"]


class Report:
    """Counts steps of long work.

    Parameters
    ----------
    asks
        Who works, which the terminal shows.
    progress
        True shows the count on a terminal; a function is called with it; False does neither.
    unit
        What is counted.
    seen
        How many there are already.

    Examples
    --------
    >>> counts = []
    >>> report = Report("search", counts.append, "measurements", 3)
    >>> report.add(2)
    >>> counts
    [5]
    """

    def __init__(
        self, asks: str, progress: bool | Callable[[int], object], unit: str, seen: int = 0
    ) -> None:
        self.asks = asks
        self.unit = unit
        self.call = progress if callable(progress) else None
        self.shows = progress is True and sys.stderr.isatty()
        self.seen = seen

    def add(self, count: int = 1) -> None:
        """So many more are done."""
        self.seen += count
        if self.call is not None:
            self.call(self.seen)
        if self.shows:
            sys.stderr.write(f"\r{self.asks}: {self.seen} {self.unit}")
            sys.stderr.flush()

    def end(self) -> None:
        """Go to a new line where something was shown."""
        if self.shows and self.seen:
            sys.stderr.write("\n")
