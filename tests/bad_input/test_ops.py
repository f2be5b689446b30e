"""Wrong arguments of every function of ``pyqref.ops.quantized``."""

from __future__ import annotations

import pytest
from bad_input.engine import Entry
from bad_input.ops_table import ENTRIES

from pyqref.ops import quantized as ops


@pytest.mark.parametrize("of", ENTRIES, ids=[each.name for each in ENTRIES])
def test_one_wrong_argument(of: Entry) -> None:
    """The valid call is answered; each wrong argument is answered, or refused by its name."""
    of.call(**of.valid)
    assert [] == list(of.cases())


def test_every_name_has_a_row() -> None:
    """A function added to the namespace must be added to the table."""
    assert set(ops.__all__) == {each.name.removeprefix("quantized.") for each in ENTRIES}
