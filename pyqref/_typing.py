"""The types that signatures name: one home for those that many files share.

A file may name a type that is defined above it: ``add`` takes a ``Tensor``, and the class
``Tensor`` is made of ``add``. Only type checkers follow the imports below, so the floors of the
house hold at run time, where ``typing.get_type_hints`` reads such a type as ``Any``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar, Union

import numpy as np

from .dtypes import device as _device
from .dtypes import dtype as Dtype
from .dtypes import layout as Layout
from .dtypes import memory_format as MemoryFormat
from .dtypes import qscheme as QScheme

if TYPE_CHECKING:
    from typing_extensions import Self

    from .arithmetic.base import Arithmetic
    from .explaining.derivation import Derivation
    from .fx.graph import Graph
    from .fx.graph_module import GraphModule
    from .fx.node import Node
    from .nn.modules.module import Module
    from .ops.quantized.packed import PackedLinear
    from .ops.quantized.packed_conv import PackedConv
    from .tensor.base import TensorBase
    from .tensor.generator import Generator
    from .tensor.parameter import Parameter
    from .tensor.quantized.quantizer import PerChannelQuantizer, PerTensorQuantizer
    from .tensor.quantized.tensor import QuantizedTensor
    from .tensor.tensor import Tensor

    #: The grid of a quantized tensor.
    Quantizer: TypeAlias = PerTensorQuantizer | PerChannelQuantizer
    #: The weight and the bias of a quantized linear layer or convolution.
    Packed: TypeAlias = PackedLinear | PackedConv

    class AnyModule(Protocol):
        """A module of which a function uses what its own class has."""

        def __getattr__(self, name: str, /) -> Any: ...
        def __setattr__(self, name: str, value: object, /) -> None: ...
        def __delattr__(self, name: str, /) -> None: ...

    class QConfigLike(Protocol):
        """What makes the observers of a layer: a ``QConfig``, of a floor above."""

        @property
        def activation(self) -> Any: ...
        @property
        def weight(self) -> Any: ...

else:
    AnyModule = QConfigLike = Any
    Self = Graph = GraphModule = Node = Module = Generator = Parameter = Any
    QuantizedTensor = Tensor = TensorBase = Any
    Arithmetic = Derivation = PackedConv = PackedLinear = Packed = Quantizer = Any

__all__ = [
    "AnyModule",
    "Arithmetic",
    "Array",
    "Derivation",
    "Device",
    "Dtype",
    "Flag",
    "Function",
    "Generator",
    "Graph",
    "GraphModule",
    "Index",
    "Ints",
    "Layout",
    "MemoryFormat",
    "Model",
    "Module",
    "Node",
    "Number",
    "NumberOrArray",
    "Operand",
    "Packed",
    "PackedConv",
    "PackedLinear",
    "Parameter",
    "QConfigLike",
    "QScheme",
    "QuantizedTensor",
    "Quantizer",
    "Self",
    "Shape",
    "Tensor",
    "TensorBase",
    "TensorOrNumber",
]

#: What a decorator takes and gives back, with its signature.
Function = TypeVar("Function", bound=Callable[..., Any])
#: Elements without a place in a graph.
Array: TypeAlias = np.ndarray[Any, Any]
#: A number of Python (``bool`` and ``int`` are ``float`` to a type checker) or of NumPy.
Number: TypeAlias = Union[float, np.number[Any], np.bool_]  # noqa: UP007 (read at run time)
#: An operand: a tensor, or a number that stands for one of no dimension.
TensorOrNumber: TypeAlias = Union[Tensor, Number]  # noqa: UP007
#: One number for all elements or channels, or an array with one for each.
NumberOrArray: TypeAlias = Union[Number, Array]  # noqa: UP007
if TYPE_CHECKING:
    #: A module that a function gives back, changed or copied.
    Model = TypeVar("Model", bound=Module)
else:
    Model = Any

#: What an operator such as ``+`` takes beside a tensor.
Operand: TypeAlias = Union[TensorOrNumber, Array]  # noqa: UP007
#: The lengths of all axes.
Shape: TypeAlias = Sequence[int]
#: One whole number for all axes, or one for each.
Ints: TypeAlias = Union[int, Sequence[int]]  # noqa: UP007
#: What stands in the brackets of ``tensor[index]``.
Index: TypeAlias = Union[  # noqa: UP007
    int, slice, Tensor, Array, Sequence[Any], np.integer[Any], EllipsisType, None
]
#: True or False, of Python or of NumPy.
Flag: TypeAlias = Union[bool, np.bool_]  # noqa: UP007
#: Where a tensor lies: always the processor; other places are named in order to be refused.
Device: TypeAlias = Union[_device, str, int, None]  # noqa: UP007
