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
"""Names of the methods in the report."""

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
    """The rows of ``findings`` for a terminal of ``width`` columns, at least 80."""
    result = Table(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        padding=(0, 1),
        pad_edge=False,
        collapse_padding=True,
        caption="µs: median of one image · SQNR: logits against the same weights in float32",
        caption_justify="left",
    )
    wide = width >= WIDE
    for heading in PROPERTIES if wide else PROPERTIES[:1]:
        result.add_column(heading, no_wrap=True, vertical="bottom")
    for heading in NUMBERS:
        result.add_column(heading, justify="right", no_wrap=True)
    previous = Row("", "")
    for row in findings.rows:
        if previous.network and row.network != previous.network:
            result.add_section()
        if wide:
            result.add_row(variant(row), row.engine, row.weights, row.observer, *cells(row))
        elif not row.engine:
            result.add_row(variant(row), *cells(row))
        else:
            if variant(row) != variant(previous):
                result.add_row(variant(row))
            details = f" {row.engine} {row.weights.removeprefix('per ')} {row.observer}"
            result.add_row(details.rstrip(), *cells(row))
        previous = row
    return result


def variant(row: Row) -> str:
    """Network and method."""
    return f"{row.network} {METHODS[row.method]}"


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
