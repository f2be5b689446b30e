"""A plugin of pytest: Python that is compiled as it stands runs as Python here."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_file_location
from typing import Any

NAMES = sys.argv[sys.argv.index("--as-python") + 1].split(",") if "--as-python" in sys.argv else []


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--as-python")


class Sources:
    """Finds the text of these modules before what was compiled of it."""

    @staticmethod
    def find_spec(name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name not in NAMES:
            return None
        (folder,) = path
        return spec_from_file_location(name, f"{folder}/{name.rpartition('.')[2]}.py")


assert not any(name in sys.modules for name in NAMES)
sys.meta_path.insert(0, Sources)  # type: ignore[arg-type]
for each in NAMES:
    found = find_spec(each)
    assert found is not None
    assert str(found.origin).endswith(".py")
