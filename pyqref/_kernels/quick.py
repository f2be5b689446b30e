"""Operations on tensors as they mostly are, by the kernel in use: None for anything unusual.

Each takes what a public function was given and makes its result, where no argument needs a second
look. For all else, and by the reference for everything, it gives None: the public function goes on
as it is read. What each takes, the ``tensors.pxi`` of its operation says.

A name of a module is found in a tenth of the time of :func:`.registry.twin`, of which a short call
would notice. So the functions of the kernel in use stand here themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import registry

__all__ = [
    "dequantize_tensor",
    "fake_quantize_tensor",
    "fake_quantize_tensor_channels",
    "quantize_tensor",
    "quantize_tensor_channels",
]


def _leave(*arguments: Any) -> None:
    """What the reference has instead."""


def _first(home: str) -> Callable[..., Any]:
    """Stands for a function until it is called, and then puts that of the kernel in its place."""
    name = home.rpartition(".")[2]

    def found(*arguments: Any) -> Any:
        kernel = registry.in_use()
        function = globals()[name] = registry.twin_of(kernel, home) or _leave
        if registry.in_use() != kernel:  # another thread has chosen another one meanwhile
            globals()[name] = found
        return function(*arguments)

    return found


dequantize_tensor = _first("quantize.dequantize_tensor")
fake_quantize_tensor = _first("fake_quantize.fake_quantize_tensor")
fake_quantize_tensor_channels = _first("fake_quantize.fake_quantize_tensor_channels")
quantize_tensor = _first("quantize.quantize_tensor")
quantize_tensor_channels = _first("quantize.quantize_tensor_channels")
_EACH_FIRST = {name: globals()[name] for name in __all__}

registry.when_another_is_used(lambda: globals().update(_EACH_FIRST))
