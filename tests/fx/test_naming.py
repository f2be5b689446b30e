"""The names of nodes do not depend on what an interpreter keeps in ``builtins``."""

from __future__ import annotations

import builtins

import pytest

from pyqref.fx.naming import Namespace


def test_the_last_result_of_an_interpreter_is_no_builtin(monkeypatch: pytest.MonkeyPatch) -> None:
    """``builtins._`` comes and goes with interactive use, and with doctests."""
    monkeypatch.setattr(builtins, "_", 3, raising=False)
    assert "_" == Namespace().create_name("_")
    assert "sum_1" == Namespace().create_name("sum")
