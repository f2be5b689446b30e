"""While a model is traced, ``FloatFunctional`` is ``FXFloatFunctional``.

``self.skip.add(x, y)`` is then recorded as a sum like any other::

    x, y -> add -> skip.activation_post_process -> z        otherwise
    x, y -> add -> z                                        here

Threads that prepare such models take turns at tracing, since the model may be the same.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

from pyqref._typing import Module
from pyqref.nn.quantized import FloatFunctional, FXFloatFunctional

__all__ = ["float_functional_traced_through"]

_lock = threading.RLock()


@contextmanager
def float_functional_traced_through(model: Module) -> Iterator[None]:
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
    concerned = any(type(each) in (FloatFunctional, FXFloatFunctional) for each in model.modules())
    with _lock if concerned else nullcontext():
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
