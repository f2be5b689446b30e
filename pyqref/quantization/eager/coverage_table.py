"""The answer of ``coverage``: rows for programs, a table for people."""

from __future__ import annotations

import io
import shutil
from collections import Counter
from dataclasses import dataclass

__all__ = ["Coverage", "CoverageRow"]

_HEADINGS = ("module", "type", "qconfig", "outcome", "bytes")


@dataclass(frozen=True)
class CoverageRow:
    """Row of the table about one module, or one function of a graph.

    Attributes
    ----------
    path : str
        Where it is; empty for the model itself. Of a function the name of its node.
    type : str
        The type of the float module.
    qconfig : str or None
        Its observers, of activations and of weights.
    status : str
        ``"planned"``, ``"observed"`` or ``"quantized"``; ``"as is"`` if it works on quantized
        tensors as it is; ``"part"`` of a quantized module; ``"container"`` of other modules;
        or ``"float"``.
    became : str or None
        The quantized type that it is now, or will be.
    reason : str or None
        Why it was left alone.
    float_bytes, weight_bytes : int
        Size of its own weights and biases, in float and now; without scales.

    Examples
    --------
    >>> from pyqref import nn, quantization
    >>> model = nn.Sequential(nn.Linear(4, 2), nn.Dropout())
    >>> row = quantization.coverage(quantization.quantize_dynamic(model))["0"]
    >>> row.status, row.float_bytes, row.weight_bytes
    ('quantized', 40, 16)
    """

    path: str
    type: str
    qconfig: str | None
    status: str
    became: str | None
    reason: str | None
    float_bytes: int
    weight_bytes: int


@dataclass(frozen=True)
class Coverage:
    """Table of the modules of a model, and whether and why each was quantized.

    Attributes
    ----------
    rows : tuple of CoverageRow
        One a module, in the order of ``named_modules``.
    notes : tuple of str
        What holds for the model as a whole.

    Examples
    --------
    >>> Coverage((CoverageRow("fc", "Linear", None, "float", None, "no qconfig", 32, 32),), ())
    Coverage(float: 1; weights 32 of 32 bytes)
    """

    rows: tuple[CoverageRow, ...]
    notes: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """Count the modules of each status, without containers and parts."""
        return dict(Counter(row.status for row in self._shown))

    @property
    def float_bytes(self) -> int:
        """Size of all weights and biases of the float model."""
        return sum(row.float_bytes for row in self.rows)

    @property
    def weight_bytes(self) -> int:
        """Size of all weights and biases now."""
        return sum(row.weight_bytes for row in self.rows)

    def __getitem__(self, path: str) -> CoverageRow:
        """The row of a module.

        Raises
        ------
        KeyError
            There is no module at ``path``.
        """
        for row in self.rows:
            if row.path == path:
                return row
        raise KeyError(f"there is no module {path!r}")

    @property
    def _shown(self) -> list[CoverageRow]:
        return [row for row in self.rows if row.status not in ("container", "part")]

    def __repr__(self) -> str:
        counts = ", ".join(f"{status}: {count}" for status, count in self.counts.items())
        sizes = f"weights {self.weight_bytes} of {self.float_bytes} bytes"
        return f"Coverage({counts}; {sizes})"

    def __str__(self) -> str:
        """The table, drawn by rich where it is installed."""
        try:
            from rich.console import Console
        except ImportError:
            return self.plain()
        page = io.StringIO()
        console = Console(file=page, width=shutil.get_terminal_size((100, 24)).columns)
        console.print(self)
        return page.getvalue().rstrip("\n")

    def plain(self) -> str:
        """The table in plain text.

        Examples
        --------
        >>> row = CoverageRow("fc", "Linear", None, "float", None, "no qconfig was given", 32, 32)
        >>> print(Coverage((row,)).plain())
        module  type    qconfig  outcome                      bytes
        fc      Linear  -        float: no qconfig was given  32
        float: 1; weights 32 of 32 bytes
        """
        lines = [_HEADINGS, *(_cells(row) for row in self._shown)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(_HEADINGS))]
        text = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        return "\n".join([*text, self._summary, *self.notes])

    @property
    def _summary(self) -> str:
        return repr(self).removeprefix("Coverage(").removesuffix(")")

    def __rich__(self) -> object:
        """The table for a rich console."""
        from rich.table import Table
        from rich.text import Text

        caption = "\n".join([self._summary, *self.notes])
        table = Table(*_HEADINGS, caption=Text(caption), caption_justify="left")
        for row in self._shown:
            table.add_row(*(Text(cell) for cell in _cells(row)))
        return table


def _cells(row: CoverageRow) -> tuple[str, str, str, str, str]:
    outcome = f"{row.status}: {row.became or row.reason}"
    if row.status == "as is":
        outcome = row.reason or row.status
    size = str(row.float_bytes)
    if row.weight_bytes != row.float_bytes:
        size = f"{row.float_bytes} -> {row.weight_bytes}"
    return row.path or "(model)", row.type, row.qconfig or "-", outcome, size
