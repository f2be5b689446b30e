"""The table at the end of the run."""

from __future__ import annotations

from rich import box
from rich.table import Table

from .findings import Findings, Row

__all__ = ["METHODS", "WIDE", "cells", "number", "table"]

METHODS = {
    "float": "float32",
    "fused": "fused",
    "static": "static",
    "qat": "QAT",
    "dynamic": "dynamic",
}
"""How the report names each method."""

WIDE = 100
"""Columns of a terminal from which on every property gets a column of its own."""

PROPERTIES = ["variant", "engine", "weights", "observer"]
NUMBERS = [
    "float\n%",
    "fake\n%",
    "int8\n%",
    "weights\nbytes",
    "batch\n1\nµs",
    "batch\n64\nµs",
    "SQNR\ndB",
]


def table(findings: Findings, width: int = WIDE) -> Table:
    """The rows of ``findings`` for a terminal of ``width`` columns."""
    result = Table(
        box=box.SIMPLE_HEAD,
        padding=(0, 1),
        pad_edge=False,
        collapse_padding=True,
        caption="µs: median time of one image · SQNR of the logits against the same float weights",
        caption_justify="left",
    )
    for heading in PROPERTIES if width >= WIDE else PROPERTIES[:1]:
        result.add_column(heading, vertical="bottom")
    for heading in NUMBERS:
        result.add_column(heading, justify="right", no_wrap=True)
    previous = None
    for row in findings.rows:
        if previous is not None and row.network != previous:
            result.add_section()
        previous = row.network
        result.add_row(*(described(row) if width >= WIDE else summary(row)), *cells(row))
    return result


def described(row: Row) -> list[str]:
    """What the row is, one cell a property."""
    return [f"{row.network} {METHODS[row.method]}", row.engine, row.weights, row.observer]


def summary(row: Row) -> list[str]:
    """What the row is, in one cell of two lines."""
    variant, *properties = described(row)
    details = " ".join(each for each in properties if each)
    return [f"{variant}\n  {details}" if details else variant]


def cells(row: Row) -> list[str]:
    """The numbers of one row, in the order of the headings."""
    return [
        number(row.float_accuracy, ".2f"),
        number(row.fake_accuracy, ".2f"),
        number(row.quantized_accuracy, ".2f"),
        f"{row.weight_bytes:,}",
        number(row.latency.get(1), ",.0f"),
        number(row.latency.get(64), ",.0f" if row.latency.get(64, 0) >= 100 else ",.1f"),
        number(row.sqnr, ".1f"),
    ]


def number(value: float | None, form: str) -> str:
    """A number, or a dash where there is none."""
    return "–" if value is None else format(value, form)
