"""Values of one model as the operations of another want them: float, or on a grid."""

from __future__ import annotations

from typing import Any

from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import quint8
from pyqref.fx import GraphModule, Node
from pyqref.nn import modules as nn
from pyqref.ops import quantized as ops
from pyqref.quantization.backend_config.patterns.pointwise import FIXED_QPARAMS
from pyqref.tensor import Tensor, quantize_per_tensor

from ..lowering_tables import BINARY, KEEPS_GRID, STATIC_FUNCTIONS, WITH_GRID_FUNCTIONS
from .subgraphs import activations, operation_of

__all__ = ["as_float", "as_grid", "grid_of"]

_WITH_GRID = frozenset(
    [each for pair in (*BINARY.values(), *STATIC_FUNCTIONS.values()) for each in pair]
    + [*WITH_GRID_FUNCTIONS.values(), ops.cat, ops.matmul]
)


def as_float(value: Tensor) -> Tensor:
    """A tensor without its grid.

    Examples
    --------
    >>> import pyqref
    >>> as_float(pyqref.quantize_per_tensor(pyqref.ones(1), 0.5, 0, pyqref.qint8)).tolist()
    [1.0]
    """
    return value.dequantize() if isinstance(value, Tensor) and value.is_quantized else value


def as_grid(value: Tensor, scale: float, zero_point: int, dtype: Dtype) -> Tensor:
    """A tensor on a grid.

    Examples
    --------
    >>> import pyqref
    >>> as_grid(pyqref.ones(1), 0.5, 0, pyqref.qint8).int_repr().tolist()
    [2]
    """
    if not isinstance(value, Tensor) or value.is_quantized:
        return value
    return quantize_per_tensor(value, float(scale), int(zero_point), dtype)


def grid_of(model: GraphModule, node: Node) -> tuple[float, int, Dtype] | None:
    """Scale, zero point and type of the value of a node; None if it is float or not known."""
    if node.op == "placeholder" or not activations(model, node):
        return None
    operation = operation_of(model, node)
    if operation is quantize_per_tensor:
        return (*_numbers(model, node.args[1:3]), node.args[3])
    if node.op == "call_module":
        module = model.get_submodule(node.target)
        grid = [getattr(module, name, None) for name in ("scale", "zero_point")]
        if ".quantized." in type(module).__module__ and None not in grid:
            return (*_numbers(model, grid), quint8)
    if operation in _WITH_GRID:
        names = ("scale", "zero_point")
        given = [node.kwargs.get(f"output_{name}", node.kwargs.get(name)) for name in names]
        return (*_numbers(model, node.args[-2:] if None in given else given), quint8)
    if operation in FIXED_QPARAMS and operation is not nn.Softmax:
        fixed = FIXED_QPARAMS[operation]
        if grid_of(model, activations(model, node)[0][2]) is None:
            return None
        return (*_numbers(model, (fixed.scale_exact_match, fixed.zero_point_exact_match)), quint8)
    if operation in KEEPS_GRID:
        return grid_of(model, activations(model, node)[0][2])
    return None


def _numbers(model: GraphModule, given: Any) -> tuple[float, int]:
    scale, zero_point = (
        getattr(model, each.target) if isinstance(each, Node) else each for each in given
    )
    return float(scale), int(zero_point)
