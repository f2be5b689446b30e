"""Taking back what a failed ``load_state_dict`` has changed."""

from __future__ import annotations

from typing import Any

from ...tensor.base import fields_of, put_fields

__all__ = ["Undo"]

_REGISTRIES = ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")


class Undo:
    """A copy of the state of a module and of all below it, and the way back to it.

    Attributes, registries and the elements of tensors are remembered, so that it does
    not matter how a ``_load_from_state_dict`` changes its module.
    """

    def __init__(self, module: Any) -> None:
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
        """Put everything back."""
        for module, attributes, registries in self.modules:
            module.__dict__.clear()
            module.__dict__.update(attributes)
            for name, members in registries.items():
                module.__dict__[name].clear()
                module.__dict__[name].update(members)
        for tensor, fields, elements in self.tensors:
            put_fields(tensor, fields)
            tensor._array[...] = elements
            tensor._version[0] += 1
