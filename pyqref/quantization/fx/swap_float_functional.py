"""Pass: ``FloatFunctional`` becomes ``FXFloatFunctional``, whose calls can be traced through.

``self.skip.add(x, y)`` is then recorded as ``pyqref.add(x, y)``.
"""

from __future__ import annotations

from typing import Any

from pyqref.nn.quantized import FloatFunctional, FXFloatFunctional

__all__ = ["swap_float_functional"]


def swap_float_functional(model: Any) -> None:
    """Swap them in place; they have no parameters, and compute the same.

    Parameters
    ----------
    model
        The float model.
    """
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if type(child) is FloatFunctional:
                setattr(module, name, FXFloatFunctional())
