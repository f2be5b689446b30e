"""The table of the arithmetics on the theory page: each row says what is computed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from pyqref import arithmetic

PAGE = Path(__file__).parents[2] / "docs" / "theory" / "arithmetics.rst"


def rows() -> list[list[str]]:
    """The cells of each row but the first."""
    table = PAGE.read_text(encoding="utf-8").split(".. list-table::")[1].split("\n\n", 2)[1]
    cells = [re.sub(r"^ +(\* )?- ", "", line) for line in table.strip("\n").split("\n")]
    return [cells[start : start + 7] for start in range(7, len(cells), 7)]


def test_the_table_has_all() -> None:
    """One row an arithmetic, in the order of ``names``."""
    assert [f"``{name}``" for name in arithmetic.names()] == [row[0] for row in rows()]


@pytest.mark.parametrize("row", rows(), ids=lambda row: row[0].strip("`"))
def test_each_row(row: list[str]) -> None:
    """Bias, ties, the place of the zero point, and saturation, by the model of the row."""
    model = arithmetic.get(row[0].strip("`"))
    sums, scales = np.array([[10], [-10]]), (0.5, 0.5, 1.0)
    up, down = model.requantize(sums, None, *scales, 0, -128, 127)[:, 0]
    odd = model.requantize(sums[:1], None, *scales, 11)[0, 0]
    pair = model.accumulate(np.uint8([[255, 255]]), 0, np.int8([[127, 127]]), 0)[0, 0]
    # A tenth of a unit of the accumulator is lost where the bias is an integer.
    kept = np.ravel(model.bias(np.float32([0.025]), 0.5, 0.5)).item()
    bias = "real" if abs(kept - 0.1) < 1e-6 else "integer"
    if bias == "integer":
        assert kept == 0
    assert row[1:6] == [bias, *map(str, (up, down, odd, pair))]
