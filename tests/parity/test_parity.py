"""pyqref gives torch 2.13's numbers: recorded everywhere, live where torch is installed."""

from __future__ import annotations

import pytest
from parity.harness import Case, differences, load_cases, recorded

import pyqref

CASES = load_cases()
IDS = [f"{case.topic}.{case.name}" for case in CASES]


def _problems(case: Case, theirs: dict) -> list[str]:
    found = differences(case, case.run(pyqref), theirs)
    return [f"{path}: {each.problem}" for path, each in found.items() if each.problem]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_agrees_with_recorded_torch(case: Case) -> None:
    """A user's script gives the results that it gave under torch 2.13."""
    theirs = recorded(case)
    assert theirs, f"{case.name} is not recorded; run python tests/parity/record.py {case.topic}"
    assert [] == _problems(case, theirs)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_agrees_with_live_torch(case: Case) -> None:
    """A user's script gives the results that it gives under the installed torch 2.13."""
    torch = pytest.importorskip("torch", minversion="2.13", reason="the extra 'parity' has torch")
    assert [] == _problems(case, case.run(torch))
