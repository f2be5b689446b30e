"""Floats are no further from the exact result than torch's."""

from __future__ import annotations

import pytest
from parity.float_errors import OPERATIONS, error

import pyqref


@pytest.mark.parametrize("name", OPERATIONS)
def test_error_is_at_most_torchs(name: str) -> None:
    """The root mean square of the errors, against that of torch 2.13 on the same numbers."""
    operation = OPERATIONS[name]
    assert error(operation, pyqref) <= operation.most * operation.theirs


@pytest.mark.parametrize("name", OPERATIONS)
def test_live_torch_makes_the_errors_that_were_recorded(name: str) -> None:
    """Within a half: its sums depend on the processor, and on how many threads there are."""
    torch = pytest.importorskip("torch", minversion="2.13", reason="the extra 'parity' has torch")
    operation = OPERATIONS[name]
    assert error(operation, torch) == pytest.approx(operation.theirs, rel=0.5)
