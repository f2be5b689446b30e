"""Taking back what a failed ``load_state_dict`` has changed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._typing import AnyModule
from ...tensor.base import fields_of, put_fields

__all__ = ["Undo"]

_REGISTRIES = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")


class Undo:
    """A copy of the state of a module and of all below it, and the way back to it.

    Attributes, registries and the elements of tensors are remembered, so that it does
    not matter how a ``_load_from_state_dict`` changes its module.
    """

    def __init__(self, module: AnyModule) -> None:
        self.modules = []
        tensors = {}
        for each in module.modules():
            attributes = each.__dict__
            registries = {name: attributes[name].copy() for name in _REGISTRIES}
            self.modules.append((each, attributes.copy(), registries))
            for tensor in (*each._parameters.values(), *each._buffers.values()):
                if tensor is not None:
                    tensors[id(tensor)] = tensor
        self.tensors = [(each, fields_of(each), each._array.copy()) for each in tensors.values()]

    def run(self) -> None:
        """Put everything back, so that another thread never misses what was not changed."""
        for module, attributes, registries in self.modules:
            _put_back(module.__dict__, attributes)
            for name, members in registries.items():
                _put_back(module.__dict__[name], members)
        for tensor, fields, elements in self.tensors:
            put_fields(tensor, fields)
            if not _same_bits(tensor._array, elements):
                tensor._array[...] = elements
                tensor._version[0] += 1


def _put_back(now: Any, before: Any) -> None:
    """Give a dictionary, or a set, the members that it had, in their order."""
    for each in [each for each in now if each not in before]:
        now.pop(each) if isinstance(now, dict) else now.remove(each)
    now.update(before)
    if isinstance(now, dict) and list(now) != list(before):  # some went, and stand at the end now
        now.clear()
        now.update(before)


def _same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    bits = f"u{a.dtype.itemsize}"
    return bool(np.array_equal(a.view(bits), b.view(bits)))
