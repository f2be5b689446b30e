"""A package without compiled kernels says at import what that costs and how to get them.

NumPy alone gives the same bits, but takes about 50 times as long. That happens in two ways: Python
was started in a clone, whose uncompiled sources hide the installed package; or the package was
installed on a machine without a C compiler. Who wants it so sets ``PYQREF_KERNEL=reference``, or
built with ``PYQREF_BUILD=reference``, and is told nothing.
"""

from __future__ import annotations

import os
import sys
import warnings
from importlib.machinery import EXTENSION_SUFFIXES

__all__ = ["UncompiledWarning", "warn_if_uncompiled"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_COMPILERS = ("cc", "gcc", "clang", "cl")
#: What ``setup.py`` leaves beside this file where it found no C compiler.
NO_COMPILER = "no_compiler.txt"


class UncompiledWarning(UserWarning):
    """The package that was imported has no compiled kernels, although it could have them."""


def warn_if_uncompiled() -> None:
    """Warn, at the line that imports the package, if it runs on NumPy by accident.

    Warns
    -----
    UncompiledWarning
        See the head of this file. The message tells the place and the remedy.
    """
    if _has_kernels(_PACKAGE) or os.environ.get("PYQREF_KERNEL"):
        return
    reason = _reason()
    if reason:
        slow = f"pyqref from {_PACKAGE} has no compiled kernels and is about 50 times slower"
        silent = "set PYQREF_KERNEL=reference to use NumPy and hide this warning"
        warnings.warn(f"{slow}: {reason}; or {silent}", UncompiledWarning, stacklevel=3)


def _has_kernels(package: str) -> bool:
    place = os.path.join(package, "_kernels", "_parallel")
    return any(os.path.exists(place + suffix) for suffix in EXTENSION_SUFFIXES)


def _reason() -> str:
    """Why there are no kernels, and what to do; empty where that was asked for."""
    clone = os.path.dirname(_PACKAGE)
    if not os.path.exists(os.path.join(clone, "setup.py")):
        return _told_by_setup()
    other = _compiled_installation()
    if other:
        return (
            f"it is the source tree, which hides the compiled package in {other}; start Python "
            "in another folder, or compile the tree by `pip install -e .`"
        )
    return "it is the source tree; compile it by `pip install -e .`" if _has_compiler() else ""


def _told_by_setup() -> str:
    try:
        with open(os.path.join(_PACKAGE, "_kernels", NO_COMPILER), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


def _compiled_installation() -> str:
    """Folder of a compiled package that stands later on the path; empty if none does."""
    for place in sys.path:
        package = os.path.abspath(os.path.join(place, "pyqref"))
        if package != _PACKAGE and _has_kernels(package):
            return package
    return ""


def _has_compiler() -> bool:
    from shutil import which  # after all else: the usual import does not come here

    named = os.environ.get("CC", "").split()[:1]
    return any(which(each) for each in (*named, *_COMPILERS))
