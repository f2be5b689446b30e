"""Wrong arguments of every function and method on quantized tensors."""

from __future__ import annotations

import pytest
from bad_input.engine import Entry
from bad_input.tensors_table import ENTRIES


@pytest.mark.parametrize("of", ENTRIES, ids=[each.name for each in ENTRIES])
def test_one_wrong_argument(of: Entry) -> None:
    """The valid call is answered; each wrong argument is answered, or refused by its name."""
    of.call(**of.valid)
    assert [] == list(of.cases())
