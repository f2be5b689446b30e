"""A package whose stub is missing says so when it is imported, and what to do."""

from __future__ import annotations

import importlib
import sys

from messages.following import says


def test_the_stub_is_brought_back(monkeypatch, tmp_path):
    """With the file the package is imported, and has its names."""
    folder = tmp_path / "package_without_stub"
    folder.mkdir()
    text = "from pyqref import _lazy\n_, _, __all__ = _lazy.attach_stub(__name__)\n"
    (folder / "__init__.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    with says(
        "is missing, which lists the names of {}: install pyqref again, or tell the program that "
        "packed it to include the .pyi files of pyqref"
    ):
        importlib.import_module(folder.name)
    (folder / "__init__.pyi").write_text("from math import pi as pi\n", encoding="utf-8")
    assert ["pi"] == importlib.import_module(folder.name).__all__
    del sys.modules[folder.name]
