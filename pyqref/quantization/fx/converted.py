"""Converted graphs: only what the graph uses, with packed weights in the state dict."""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule
from pyqref.nn.modules.module import Module
from pyqref.ops.quantized import PackedConv, PackedConvTranspose
from pyqref.tensor.base import TensorBase

__all__ = ["ConvertedGraphModule"]


#: What a packed weight is made of besides weight and bias.
_GEOMETRY: dict[Any, tuple[str, ...]] = {
    PackedConv: ("stride", "padding", "dilation", "groups"),
    PackedConvTranspose: ("stride", "padding", "output_padding", "dilation", "groups"),
}


def _packed_like(present: Any, weight: Any, bias: Any) -> Any:
    """Another weight, packed with the geometry of a present one."""
    geometry = (getattr(present, name) for name in _GEOMETRY.get(type(present), ()))
    return type(present)(weight, bias, *geometry)


class ConvertedGraphModule(GraphModule):
    """A converted model.

    Attributes that the graph does not name are left behind. Weights that are packed for
    functions, ``_packed_weight_0`` and so on, are part of the state dict under their names, as
    pairs of weight and bias; torch puts the packed objects there.
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
            destination[prefix + name] = getattr(self, name).unpack()

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
                setattr(
                    self, name, _packed_like(getattr(self, name), *state_dict.pop(prefix + name))
                )
            else:
                missing_keys.append(prefix + name)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )
