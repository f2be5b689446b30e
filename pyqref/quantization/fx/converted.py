"""Converted graphs: only what the graph uses, with packed weights in the state dict."""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule
from pyqref.nn.modules.module import Module
from pyqref.tensor.base import TensorBase

__all__ = ["ConvertedGraphModule"]


class ConvertedGraphModule(GraphModule):
    """A converted model.

    Attributes that the graph does not name are left behind. Weights that are packed for
    functions, ``_packed_weight_0`` and so on, are part of the state dict under their names.
    """

    def _packed_names(self) -> list[str]:
        names = dict.fromkeys(n.target for n in self.graph.nodes if n.op == "get_attr")
        return [
            name
            for name in names
            if "." not in name and not isinstance(getattr(self, name), TensorBase | Module)
        ]

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name in self._packed_names():
            destination[prefix + name] = getattr(self, name)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        for name in self._packed_names():
            if prefix + name in state_dict:
                setattr(self, name, state_dict.pop(prefix + name))
            else:
                missing_keys.append(prefix + name)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )
