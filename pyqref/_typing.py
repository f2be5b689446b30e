"""The types that signatures name: one home for those that many files share.

A file may name a type that is defined above it: ``add`` takes a ``Tensor``, and the class
``Tensor`` is made of ``add``. Only type checkers follow the imports below, so the floors of the
house hold at run time, where ``typing.get_type_hints`` reads such a type as ``Any``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from types import EllipsisType
from typing import IO, TYPE_CHECKING, Any, Protocol, TypeAlias, TypedDict, TypeVar, Union

import numpy as np

from .dtypes import device as _device
from .dtypes import dtype as Dtype
from .dtypes import layout as Layout
from .dtypes import memory_format as MemoryFormat
from .dtypes import qscheme as QScheme

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .arithmetic.base import Arithmetic
    from .explaining.book import Ledger
    from .explaining.derivation import Derivation
    from .fx.graph import Graph
    from .fx.graph_module import GraphModule
    from .fx.node import Node
    from .fx.proxy import Proxy
    from .fx.recorder import TracerBase
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
        """A module, for functions that use members of its own class."""

        def __getattr__(self, name: str, /) -> Any: ...
        def __setattr__(self, name: str, value: object, /) -> None: ...
        def __delattr__(self, name: str, /) -> None: ...

    class QConfigLike(Protocol):
        """Protocol of what makes the observers of a layer: a ``QConfig``, of a floor above."""

        @property
        def activation(self) -> Callable[..., Any]: ...
        @property
        def weight(self) -> Callable[..., Any]: ...

    class CreationOptions(TypedDict, total=False):
        """Options of a function that makes a tensor."""

        dtype: Dtype | None
        device: Device
        requires_grad: bool
        layout: Layout | None
        memory_format: MemoryFormat | None
        pin_memory: bool

    class FilledOptions(CreationOptions, total=False):
        """Options of a function that may be given its sizes by name as well."""

        size: Ints

else:
    AnyModule = QConfigLike = Any
    CreationOptions = FilledOptions = dict[str, Any]
    Unpack = tuple  # so that typing.get_type_hints can read Unpack[...] without typing_extensions
    Proxy = TracerBase = Self = Graph = GraphModule = Node = Module = Generator = Parameter = Any
    QuantizedTensor = Tensor = TensorBase = Any
    Arithmetic = Derivation = Ledger = PackedConv = PackedLinear = Packed = Quantizer = Any

__all__ = [
    "AnyModule",
    "Arithmetic",
    "Array",
    "CreationOptions",
    "Derivation",
    "Device",
    "Dtype",
    "FileLike",
    "FilledOptions",
    "Flag",
    "Function",
    "Generator",
    "Graph",
    "GraphModule",
    "Index",
    "Ints",
    "Layout",
    "Ledger",
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
    "Proxy",
    "QConfigLike",
    "QScheme",
    "QuantizedTensor",
    "Quantizer",
    "Self",
    "Shape",
    "Tensor",
    "TensorBase",
    "TensorOrNumber",
    "TracerBase",
    "Unpack",
    "Value",
]

#: What a decorator takes and gives back, with its signature.
Function = TypeVar("Function", bound=Callable[..., Any])
#: Anything; of the same type wherever the name stands in a signature.
Value = TypeVar("Value")
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
#: A path, or a file that is open for bytes.
FileLike: TypeAlias = Union[str, PathLike[str], IO[bytes]]  # noqa: UP007
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
