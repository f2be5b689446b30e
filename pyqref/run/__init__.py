"""Run scripts and notebooks that are written for ``torch``, unchanged.

``pyqref run script.py`` runs one; :func:`install_as_torch` does the same for a notebook or an
interpreter.
"""

from __future__ import annotations

from .alias import as_torch as as_torch
from .alias import install_as_torch as install_as_torch
from .alias import is_installed as is_installed
from .alias import load_ipython_extension as load_ipython_extension
from .alias import uninstall_as_torch as uninstall_as_torch
from .alias import unload_ipython_extension as unload_ipython_extension

__all__ = ["as_torch", "install_as_torch", "is_installed", "uninstall_as_torch"]
