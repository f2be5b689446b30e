"""Converted graphs: only what the graph uses, with packed weights in the state dict."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from pyqref._typing import Tensor
from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import qint32
from pyqref.fx import GraphModule, Node
from pyqref.nn.loaded_grid import integers_of, require_loaded_grid
from pyqref.nn.modules.module import Module
from pyqref.ops.quantized import PackedConv, PackedConvTranspose
from pyqref.tensor.base import TensorBase

from .failures import TellingGraphModule

__all__ = ["QUANTIZED_INPUTS", "ConvertedGraphModule"]


#: What a packed weight is made of besides weight and bias.
_GEOMETRY: dict[Any, tuple[str, ...]] = {
    PackedConv: ("stride", "padding", "dilation", "groups"),
    PackedConvTranspose: ("stride", "padding", "output_padding", "dilation", "groups"),
}


def _packed_like(present: Any, weight: Any, bias: Any) -> Any:
    """Another weight, packed with the geometry of a present one.

    A weight for one axis may come with a second one of length 1, as ``torch`` packs it.
    """
    if isinstance(present, PackedConv) and weight.ndim == present.spatial + 3 == 4:
        weight = weight.squeeze(2)
    geometry = (getattr(present, name) for name in _GEOMETRY.get(type(present), ()))
    return type(present)(weight, bias, *geometry)


#: Buffers that hold the grid of one result.
_SCALE, _ZERO_POINT = re.compile(r"\w*_scale_\d+"), re.compile(r"\w*_zero_point_\d+")


def _result_dtype(node: Node) -> Dtype:
    """Return the dtype that a function with a grid is given, or the widest that it may have."""
    given = [each for each in node.args if isinstance(each, Dtype)]
    return given[0] if given else qint32


#: The key in ``GraphModule.meta`` for the indexes of inputs that are quantized already.
QUANTIZED_INPUTS = "quantized_inputs"


def _float_given(model: GraphModule, index: int, given: TensorBase) -> str:
    name = model.graph.find_nodes(op="placeholder")[index].target
    return (
        f"input {index} ({name!r}) of this converted model must be a quantized tensor, because "
        f"input_quantized_indexes of the PrepareCustomConfig lists {index}; got one of "
        f"{given.dtype}; pass pyqref.quantize_per_tensor({name}, scale, zero_point, "
        f"pyqref.quint8), or leave {index} out of input_quantized_indexes and prepare the float "
        "model again"
    )


class ConvertedGraphModule(TellingGraphModule):
    """A converted model.

    Attributes that the graph does not name are left behind. Weights that are packed for
    functions, ``_packed_weight_0`` and so on, are part of the state dict under their names, as
    pairs of weight and bias; torch puts the packed objects there.
    """

    def __call__(self, *args: Tensor, **kwargs: object) -> Tensor:
        try:
            return super().__call__(*args, **kwargs)
        except Exception as error:
            for index in self.meta.get(QUANTIZED_INPUTS, ()):
                given = args[index] if index < len(args) else None
                if isinstance(given, TensorBase) and not given.is_quantized:
                    error.args = (_float_given(self, index, given),)
                    break
            raise

    def _packed_names(self) -> list[str]:
        names = dict.fromkeys(n.target for n in self.graph.nodes if n.op == "get_attr")
        return [
            name
            for name in names
            if "." not in name and not isinstance(getattr(self, name), TensorBase | Module)
        ]

    def _grids(self) -> list[tuple[str, str, tuple[int, int] | None]]:
        """Names of the scales and zero points that functions take, and the range of the latter."""
        found = []
        for node in self.graph.nodes:
            names = [each.target for each in node.args if getattr(each, "op", "") == "get_attr"]
            for scale, zero_point in pairwise(names):
                if _SCALE.fullmatch(scale) and _ZERO_POINT.fullmatch(zero_point):
                    floats = getattr(self, zero_point).dtype.is_floating_point
                    limits = None if floats else integers_of(_result_dtype(node))
                    found.append((scale, zero_point, limits))
        return found

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
        for scale, zero_point, limits in self._grids():
            require_loaded_grid(state_dict, prefix + scale, prefix + zero_point, limits)
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
