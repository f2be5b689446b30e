"""Fused copies that were not kept: ``fuse_modules`` returns a copy unless ``inplace=True``.

Who does not take it goes on with the model that was not fused. That is told when such a model is
prepared and its fused copy is gone, never having been prepared itself.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary, ref

from pyqref._typing import Module
from pyqref.quantization.diagnostics import WrongOrderWarning, warn

__all__ = ["remember_copy", "warn_of_thrown_away_copy"]

_copies: WeakKeyDictionary[Any, ref[Any]] = WeakKeyDictionary()


def remember_copy(model: Module, fused: Module) -> None:
    """Take note of the copy of a model in which layers were fused."""
    _copies[model] = ref(fused)


def warn_of_thrown_away_copy(asks: str, model: Module) -> None:
    """Warn where a model is prepared whose fused copy was thrown away.

    Parameters
    ----------
    asks
        Who asks.
    model
        The model that is prepared.
    """
    for original, copy in list(_copies.items()):
        if copy() is model:  # the copy is what is prepared: all is well
            del _copies[original]
    if model in _copies and _copies.pop(model)() is None:
        warn(
            f"{asks}: fuse_modules returned a fused copy of this model, which was thrown away, and "
            "this model has its layers one by one; call model = fuse_modules(model, ...), or pass "
            "inplace=True",
            WrongOrderWarning,
        )
