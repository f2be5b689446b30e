"""The source of an example, run with ``torch`` in the place of this package."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

__all__ = ["EXAMPLES", "example"]

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name: str, package: str = "pyqref") -> ModuleType:
    """The example as a module; for ``package="torch"`` with its imports swapped."""
    source = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
    if package == "torch":
        source = source.replace("import pyqref as torch", "import torch")
        source = source.replace("from pyqref import", "from torch import")
        assert "import pyqref" not in source
    module = ModuleType(f"{name}_on_{package}")
    sys.modules[module.__name__] = module
    exec(compile(source, f"{name}.py", "exec"), module.__dict__)
    return module
