"""A stub ``__init__.pyi`` is the one list of the names of a package.

Type checkers and the package read the same lines, so what a type checker finds is what a script
finds.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import pyqref
from pyqref._lazy import read_stub

PACKAGE = Path(pyqref.__file__).parent


def _package(path: Path) -> str:
    return ".".join(path.parent.relative_to(PACKAGE.parent).parts)


STUBS = {_package(path): path for path in sorted(PACKAGE.rglob("__init__.pyi"))}
SOURCES = {_package(path): path for path in sorted(PACKAGE.rglob("__init__.py"))}
SOURCES = {name: path for name, path in SOURCES.items() if ".shim" not in name}
#: So many names a package without a stub may both import and list.
FEW = 7


def exported(text: str) -> list[str]:
    """Names that a type checker takes from a stub, by the rules of Python's typing specification.

    They are the imports ``X as X`` and the assignments, without private names.
    """
    names = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom):
            names += [each.name for each in node.names if each.asname == each.name]
        else:
            assert isinstance(node, ast.Assign)
            names += [each.id for each in node.targets if isinstance(each, ast.Name)]
    return [name for name in names if not name.startswith("_") or name.startswith("__")]


def twice(names: list[str]) -> list[str]:
    """Names that are there more than once."""
    return [name for name, count in Counter(names).items() if count > 1]


@pytest.mark.parametrize("package", STUBS)
def test_the_stub_is_the_package(package):
    """Every name of a stub exists, once; ``__all__`` lists only such names."""
    text = STUBS[package].read_text(encoding="utf-8")
    importlib.import_module(package)
    module = sys.modules[package]
    assert [] == twice([public for public, *_ in read_stub(text)])
    read = [public for public, *_ in read_stub(text) if public[0] != "_" or public[:2] == "__"]
    assert read == exported(text)
    assert [] == [name for name in read if not hasattr(module, name)]
    assert set(module.__all__) <= set(read) <= set(dir(module))


@pytest.mark.parametrize("package", STUBS)
def test_a_name_that_is_a_file_too_is_imported_at_once(package):
    """Importing the file puts it in the place of the name, if the name is not there before."""
    folder = STUBS[package].parent
    late = [
        public
        for public, home, name, at_once, _ in read_stub(STUBS[package].read_text("utf-8"))
        if not at_once and (home, name) != (".", public)
        if (folder / f"{public}.py").exists() or (folder / public).is_dir()
    ]
    assert [] == late


def test_a_name_that_stands_twice_is_found():
    """A name is found twice in two imports, or in an import and an assignment."""
    text = "from .a import x as x\nfrom .b import x as x\nfrom .a import y as y\ny = x\n"
    assert ["x", "y"] == twice([public for public, *_ in read_stub(text)])


@pytest.mark.parametrize("package", [name for name in SOURCES if name not in STUBS])
def test_a_package_with_many_names_has_a_stub(package):
    """Without a stub, ``__init__.py`` both imports and lists its names; those are few."""
    tree = ast.parse(SOURCES[package].read_text(encoding="utf-8"))
    imported = {
        each.asname
        for node in tree.body
        if isinstance(node, ast.ImportFrom)
        for each in node.names
        if each.asname == each.name
    }
    importlib.import_module(package)
    listed = getattr(sys.modules[package], "__all__", [])
    assert [] == twice(listed)
    assert [] == [name for name in listed if not hasattr(sys.modules[package], name)]
    assert len(imported & set(listed)) <= FEW, f"give {package} a stub: docs/design/house.rst"


def test_star_import():
    """``from pyqref import *`` gives the names of ``__all__``, also those not imported yet."""
    code = "from pyqref import *; import pyqref; assert set(pyqref.__all__) <= set(globals())"
    subprocess.run([sys.executable, "-c", code], check=True)
