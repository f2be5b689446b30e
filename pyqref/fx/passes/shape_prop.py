"""Shapes and dtypes of all values of a graph, from one run of it."""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import dtypes
from ..._typing import Tensor
from ...dtypes import dtype as dtype_
from ...dtypes import memory_format as memory_format_
from ...tensor.base import TensorBase
from ...tensor.size import Size
from ..graph_module import GraphModule
from ..interpreter import Interpreter
from ..node import Node, map_aggregate

__all__ = ["ShapeProp", "TensorMetadata"]


class TensorMetadata(NamedTuple):
    """Description of a tensor by :class:`ShapeProp`.

    Parameters
    ----------
    shape, dtype, requires_grad, stride
        As of the tensor.
    memory_format
        The order of its dimensions in memory; None if it is none that has a name.
    is_quantized
        Whether it has a quantizer.
    qparams
        Of a quantized tensor: ``qscheme``, and ``scale`` and ``zero_point`` (numbers, or lists
        beside ``axis``).
    """

    shape: Size
    dtype: dtype_
    requires_grad: bool
    stride: tuple[int, ...]
    memory_format: memory_format_ | None
    is_quantized: bool
    qparams: dict[str, Any]


def _noted(value: Any) -> Any:
    if not isinstance(value, TensorBase):
        return value
    tensor: Any = value
    formats = (dtypes.contiguous_format, dtypes.channels_last, dtypes.channels_last_3d)
    found = None
    for each in formats:
        of_images = {dtypes.channels_last: 4, dtypes.channels_last_3d: 5}.get(each, tensor.dim())
        if tensor.dim() == of_images and tensor.is_contiguous(memory_format=each):
            found = each
            break
    qparams: dict[str, Any] = {}
    if tensor.is_quantized:
        qparams["qscheme"] = tensor.qscheme()
        if tensor.qscheme().is_per_channel:
            qparams["scale"] = tensor.q_per_channel_scales().tolist()
            qparams["zero_point"] = tensor.q_per_channel_zero_points().tolist()
            qparams["axis"] = tensor.q_per_channel_axis()
        else:
            qparams["scale"] = tensor.q_scale()
            qparams["zero_point"] = tensor.q_zero_point()
    return TensorMetadata(
        tensor.shape,
        tensor.dtype,
        bool(tensor.requires_grad),
        tuple(tensor.stride()),
        found,
        bool(tensor.is_quantized),
        qparams,
    )


class ShapeProp(Interpreter):
    """Run a graph, and note the shape and dtype of every value in its node.

    ``node.meta["tensor_meta"]`` is a :class:`TensorMetadata`, or a tuple, list or dict of them
    where the value is one; ``node.meta["type"]`` is the class of the value.

    Parameters
    ----------
    gm
        The graph module.
    fake_mode
        torch runs such graphs without numbers; here a graph is always run with them.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.fx.passes.shape_prop import ShapeProp
    >>> gm = pyqref.fx.symbolic_trace(pyqref.nn.Sequential(pyqref.nn.Linear(3, 2)))
    >>> y = ShapeProp(gm).propagate(pyqref.ones(4, 3))
    >>> [(node.name, tuple(node.meta["tensor_meta"].shape)) for node in gm.graph.nodes]
    [('input_1', (4, 3)), ('_0', (4, 2)), ('output', (4, 2))]
    """

    def __init__(self, gm: GraphModule, fake_mode: None = None) -> None:
        if fake_mode is not None:
            raise TypeError("ShapeProp: fake_mode must be None; pyqref runs graphs with numbers")
        super().__init__(gm)

    def run_node(self, n: Node) -> Tensor:
        """The value of a node, noted in it."""
        value = super().run_node(n)
        holds_tensor = False

        def noted(each: Any) -> Any:
            nonlocal holds_tensor
            holds_tensor |= isinstance(each, TensorBase)
            return _noted(each)

        meta = map_aggregate(value, noted)
        if holds_tensor:
            n.meta["tensor_meta"] = meta
        n.meta["type"] = type(value)
        return value

    def propagate(self, *args: Tensor) -> Tensor:
        """Run the graph on its inputs, note the shapes, and return its output."""
        return self.run(*args)
