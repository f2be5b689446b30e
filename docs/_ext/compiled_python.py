"""The sources of modules that are compiled from their own Python text.

Python finds only the compiled module, so Sphinx is told of the text beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sphinx.pycode import ModuleAnalyzer

import pyqref


def find_source(app: Any, name: str) -> tuple[str, dict[str, Any]] | None:
    """The text of a module and where its definitions stand; None where Sphinx finds them itself."""
    package = Path(pyqref.__file__).parent
    folder = package.joinpath(*name.split(".")[1:-1])
    path = folder / f"{name.rpartition('.')[2]}.py"
    if not name.startswith("pyqref.") or not list(folder.glob(f"{path.stem}.*.so")):
        return None
    analyzer = ModuleAnalyzer.for_file(path, name)
    analyzer.analyze()
    return analyzer.code, analyzer.tags


def setup(app: Any) -> dict[str, bool]:
    """Answer Sphinx's question for the source of a module."""
    app.connect("viewcode-find-source", find_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
