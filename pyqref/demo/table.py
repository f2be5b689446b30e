"""The table at the end of the run."""

from __future__ import annotations

from typing import Literal

from rich import box
from rich.table import Table

from .findings import Findings, Row

__all__ = ["METHODS", "cells", "table"]

METHODS = {
    "float": "float32",
    "fused": "fused",
    "static": "static",
    "qat": "QAT",
    "dynamic": "dynamic",
}
"""How the report names each method."""

HEADINGS: list[tuple[str, Literal["left", "right"]]] = [
    ("Variant", "left"),
    ("Engine", "left"),
    ("Weights", "left"),
    ("Observer", "left"),
    ("float\n%", "right"),
    ("fake\n%", "right"),
    ("int8\n%", "right"),
    ("weights\nbytes", "right"),
    ("batch 1\nµs/image", "right"),
    ("batch 64\nµs/image", "right"),
    ("SQNR\ndB", "right"),
]


def table(findings: Findings) -> Table:
    """The rows of ``findings`` for the terminal."""
    result = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False, collapse_padding=True)
    for heading, justify in HEADINGS:
        result.add_column(heading, justify=justify, no_wrap=justify == "right")
    previous = None
    for row in findings.rows:
        if previous is not None and row.network != previous:
            result.add_section()
        previous = row.network
        result.add_row(*cells(row))
    return result


def cells(row: Row) -> list[str]:
    """The texts of one row, in the order of the headings."""
    return [
        f"{row.network} {METHODS[row.method]}",
        row.engine,
        row.weights,
        row.observer,
        number(row.float_accuracy, ".2f"),
        number(row.fake_accuracy, ".2f"),
        number(row.quantized_accuracy, ".2f"),
        f"{row.weight_bytes:,}",
        number(row.latency.get(1), ",.0f"),
        number(row.latency.get(64), ",.1f"),
        number(row.sqnr, ".1f"),
    ]


def number(value: float | None, form: str) -> str:
    """A number, or a dash where there is none."""
    return "–" if value is None else format(value, form)
