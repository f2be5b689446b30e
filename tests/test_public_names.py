"""The names of a package are told thrice: to type checkers, to the lazy loader and in ``__all__``.

They agree, so that what a type checker finds is what a script finds.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import pyqref

PACKAGE = Path(pyqref.__file__).parent
SOURCES = {
    str(path.parent.relative_to(PACKAGE.parent)).replace("/", "."): path.read_text("utf-8")
    for path in sorted(PACKAGE.rglob("__init__.py"))
}
LAZY = [name for name, text in SOURCES.items() if "on_first_use(" in text]


def _imports(statements: list[Any]) -> dict[str, str]:
    """Where each name comes from, of imports of the package's own modules."""
    return {
        each.asname or each.name: f"{'.' * node.level}{node.module or ''}"
        for node in statements
        if isinstance(node, ast.ImportFrom)
        for each in node.names
    }


def _for_type_checkers(tree: ast.Module) -> dict[str, str]:
    blocks = [
        node
        for node in tree.body
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
    ]
    return _imports([each for block in blocks for each in block.body])


def _for_the_loader(tree: ast.Module) -> tuple[dict[str, str], set[str]]:
    names: dict[str, str] = {}
    modules: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "on_first_use":
            table = ast.literal_eval(node.args[1])
            names |= {name: module for module, its_names in table.items() for name in its_names}
            given = [*node.args[2:], *(each.value for each in node.keywords)]
            modules |= {name for each in given for name in ast.literal_eval(each)}
    return names, modules


@pytest.mark.parametrize("package", LAZY)
def test_type_checkers_and_the_loader_agree(package):
    """A name imported at its first use is one for type checkers, of that module or one below."""
    tree = ast.parse(SOURCES[package])
    told = _for_type_checkers(tree)
    loaded, modules = _for_the_loader(tree)
    assert set(told) - modules == set(loaded)
    elsewhere = {
        name: (module, told[name])
        for name, module in loaded.items()
        if told[name] != module and not told[name].startswith(f"{module}.")
    }
    assert {} == elsewhere


@pytest.mark.parametrize("package", [name for name in LAZY if "__all__" in SOURCES[name]])
def test_every_public_name_is_there(package):
    """``__all__`` lists no name twice, and each is bound or imported at its first use."""
    module = __import__(package, fromlist=["__all__"])
    assert len(module.__all__) == len(set(module.__all__))
    assert [] == [name for name in module.__all__ if not hasattr(module, name)]
