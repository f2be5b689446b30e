"""Compare a file's contents with a model that the user names."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pyqref.nn import Module
from pyqref.run import as_torch, is_installed

__all__ = ["ModelError", "fits", "named_model"]


class ModelError(Exception):
    """Why a model cannot be made, in words for who named it."""


def named_model(name: str) -> Module:
    """The model that ``module:Class`` names, made without arguments.

    Parameters
    ----------
    name
        Module and class, or a function without arguments that returns a model. Only this module
        is imported, as Python would from the folder one is in; if it imports ``torch``, that is
        pyqref.

    Raises
    ------
    ModelError
        There is no such model, or making it failed.

    Examples
    --------
    >>> named_model("pyqref.nn:ReLU")
    ReLU()
    """
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise ModelError(f"--model must be module:Class, got {name!r}")
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        with _torch():
            found: Any = importlib.import_module(module)
            for step in attribute.split("."):
                found = getattr(found, step)
            model = found if isinstance(found, Module) else found()
    except Exception as error:
        raise ModelError(
            f"{name} cannot be made: {type(error).__name__}: {error}; name a class or function "
            "that takes no arguments"
        ) from error
    if not isinstance(model, Module):
        raise ModelError(f"{name} gives a {type(model).__name__}, not a module of pyqref")
    return model


def _torch() -> AbstractContextManager[Any]:
    """Lets the module of a model import pyqref as torch, unless a torch is there already."""
    return nullcontext() if "torch" in sys.modules and not is_installed() else as_torch()


def fits(model: Module, state: Mapping[str, Any]) -> str:
    """Empty if ``load_state_dict`` takes the state; else what it says."""
    try:
        model.load_state_dict(state)
    except (RuntimeError, TypeError) as error:
        return str(error)
    return ""
