"""Output while the demo runs: progress bars in a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from rich.console import Console as RichConsole
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

__all__ = ["Console"]

PLAIN_WIDTH = 112
"""Columns of a table in a file or a pipe, which have no width of their own."""


class Console:
    """Prints text, tables and progress to a stream.

    Parameters
    ----------
    stream
        Where to; standard output if None.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self.rich = RichConsole(file=stream, highlight=False)
        self.terminal = self.rich.is_terminal
        if not self.terminal:
            self.rich = RichConsole(file=stream, highlight=False, width=PLAIN_WIDTH)

    @property
    def width(self) -> int:
        """Columns of a line."""
        return self.rich.width

    def print(self, *objects: object) -> None:
        """Print as ``rich.print`` does."""
        self.rich.print(*objects)

    @contextmanager
    def stage(self, title: str, steps: int) -> Iterator[Callable[[str], None]]:
        """A piece of work of known length.

        Yields a function to call after each step, with a note to show beside the bar.
        Elsewhere than in a terminal, one line is printed when the stage has ended.
        """
        start = time.perf_counter()
        last = ""
        if self.terminal:
            columns = (
                TextColumn("{task.description:<34}"),
                BarColumn(bar_width=24),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                TextColumn("{task.fields[note]}"),
            )
            with Progress(*columns, console=self.rich) as progress:
                task = progress.add_task(title, total=steps, note="")

                def advance(note: str = "") -> None:
                    progress.update(task, advance=1, note=note)

                yield advance
            return

        def remember(note: str = "") -> None:
            nonlocal last
            last = note

        yield remember
        self.rich.print(f"{title:<34} {time.perf_counter() - start:5.1f} s  {last}".rstrip())
