"""Every public class and function shows itself at work.

Public is what a package names in ``__all__``. What stands in a file below a package and is not
named there is for those who read the file, and may go without.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from types import ModuleType
from typing import Any

import pytest
from docs.extensions import extension

import pyqref

REFERENCE = re.compile(r":(?:func|class|meth):`~?([\w.]+)`")


PAGES = extension("api_pages")  # writes the pages of the reference


def described(subject: Any) -> str:
    """The first paragraph of its own docstring."""
    return inspect.cleandoc(subject.__doc__ or "").partition("\n\n")[0]


def shows_itself(subject: Any, package: ModuleType, seen: tuple[Any, ...] = ()) -> bool:
    """Return True if the docstring has a doctest, or refers to another one that has.

    An in-place variant of a function is described by the difference: ``elu_`` is "``elu``, stored
    in ``input``", and the example of ``elu`` serves both.

    Variants of a function are described by the difference: ``elu_`` is "``elu``, stored in
    ``input``", and the example of ``elu`` is its own.
    """
    if ">>> " in (subject.__doc__ or ""):
        return True
    if inspect.isclass(subject):
        return False
    for name in REFERENCE.findall(described(subject)):
        other = named(name, package)
        if other is not None and other not in seen and other is not subject:
            return shows_itself(other, package, (*seen, subject))
    return False


def named(name: str, package: ModuleType) -> Any:
    """Return the object that a reference in a docstring leads to."""
    if "." not in name:
        return getattr(package, name, None)
    path, _, last = name.rpartition(".")
    return getattr(importlib.import_module(path), last, None)


def packages() -> list[str]:
    """Return the packages of the reference, and all others that have one dot or are packages."""
    found = [
        each.name
        for each in pkgutil.walk_packages(pyqref.__path__, "pyqref.")
        if each.ispkg or each.name.count(".") == 1
    ]
    public = [each for each in found if "._" not in each]
    return sorted({*PAGES.packages(), *public})


@pytest.mark.parametrize("name", packages())
def test_everything_public_has_an_example(name: str) -> None:
    """The class or function itself, not what it inherits, has a doctest."""
    package = importlib.import_module(name)
    public = [getattr(package, each) for each in getattr(package, "__all__", [])]
    ours = [each for each in public if str(getattr(each, "__module__", "")).startswith("pyqref")]
    shown = [each for each in ours if inspect.isclass(each) or inspect.isroutine(each)]
    assert [] == [each.__name__ for each in shown if not shows_itself(each, package)]
