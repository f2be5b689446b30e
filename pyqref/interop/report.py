"""Table of the tensors of a loaded state, with what was done with each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .._problems import aligned

__all__ = ["LoadReport", "LoadRow"]


@dataclass(frozen=True)
class LoadRow:
    """One name of the model's state or of the given one.

    Attributes
    ----------
    name : str
        Key in the state dict.
    status : str
        ``"loaded"``, ``"missing"`` (the model has it, the state does not), ``"unexpected"``
        (the other way round), ``"wrong shape"``, ``"wrong dtype"``, ``"unreadable"`` (no
        value of this package can hold it) or ``"refused"`` (by the module itself).
    note : str
        Shape and dtype, or what is wrong.

    Examples
    --------
    >>> import numpy
    >>> from pyqref import interop, nn
    >>> layer = nn.Linear(2, 1, bias=False)
    >>> report = interop.load_torch_state_dict(layer, {"weight": numpy.float32([[1, 2]])})
    >>> report.rows[0].name, report.rows[0].status
    ('weight', 'loaded')
    """

    name: str
    status: str
    note: str


class LoadReport:
    """Report of :func:`~pyqref.interop.load_torch_state_dict`, name by name.

    Printed, it is a table of all names.

    Attributes
    ----------
    rows : tuple of LoadRow
        In the order of the model's state; what is unexpected comes last.

    Examples
    --------
    >>> report = LoadReport([LoadRow("weight", "loaded", "(2, 3) float32")])
    >>> print(report)
    1 loaded
    name    status  note
    weight  loaded  (2, 3) float32
    """

    def __init__(self, rows: Iterable[LoadRow]) -> None:
        self.rows = tuple(rows)

    def names(self, status: str) -> list[str]:
        """The names with a status."""
        return [row.name for row in self.rows if row.status == status]

    @property
    def loaded(self) -> list[str]:
        """Names whose values the model now has."""
        return self.names("loaded")

    @property
    def missing(self) -> list[str]:
        """Names in the model that the state lacks."""
        return self.names("missing")

    @property
    def unexpected(self) -> list[str]:
        """Names in the state that the model lacks."""
        return self.names("unexpected")

    @property
    def misfits(self) -> list[LoadRow]:
        """Rows of values that have a place but do not fit into it."""
        known = ("loaded", "missing", "unexpected")
        return [row for row in self.rows if row.status not in known]

    @property
    def problems(self) -> list[LoadRow]:
        """All rows but those that were loaded."""
        return [row for row in self.rows if row.status != "loaded"]

    def summary(self) -> str:
        """Return the number of names with each status."""
        statuses = dict.fromkeys(row.status for row in self.rows)
        counts = [f"{len(self.names(status))} {status}" for status in statuses]
        return ", ".join(counts) or "nothing to load"

    def table(self, rows: Iterable[LoadRow] | None = None) -> str:
        """Some rows, or all, as lines of text."""
        chosen = self.rows if rows is None else tuple(rows)
        return aligned([("name", "status", "note"), *((r.name, r.status, r.note) for r in chosen)])

    def __str__(self) -> str:
        return f"{self.summary()}\n{self.table()}"

    def __repr__(self) -> str:
        return f"<LoadReport: {self.summary()}>"
