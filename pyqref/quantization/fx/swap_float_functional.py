"""While a model is traced, ``FloatFunctional`` is ``FXFloatFunctional``.

``self.skip.add(x, y)`` is then recorded as ``pyqref.add(x, y)``: a sum as any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyqref.nn.quantized import FloatFunctional, FXFloatFunctional

__all__ = ["float_functional_traced_through"]


@contextmanager
def float_functional_traced_through(model: Any) -> Iterator[None]:
    """Swap them inside, and put them back.

    Parameters
    ----------
    model
        The float model.

    Examples
    --------
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.quantized.FloatFunctional())
    >>> with float_functional_traced_through(model):
    ...     type(model[0]).__name__
    'FXFloatFunctional'
    >>> type(model[0]).__name__
    'FloatFunctional'
    """
    swapped = []
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if type(child) is FloatFunctional:
                swapped.append((module, name, child))
                module._modules[name] = FXFloatFunctional()
    try:
        yield
    finally:
        for module, name, child in swapped:
            module._modules[name] = child
