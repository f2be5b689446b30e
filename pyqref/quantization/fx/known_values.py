"""Known properties of the values in a prepared, reference or lowered graph.

Scales and zero points are read where they are kept at that moment: in observers, in attributes
of the model, in quantized layers. Where nothing tells what a value is, nothing is said.
"""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from typing import Any

from pyqref._typing import Dtype, Module, QScheme, TensorOrNumber
from pyqref.dtypes import float16, float32
from pyqref.fx import GraphModule, Node
from pyqref.fx.interception import plain as with_own_code
from pyqref.nn.quantized.integer_range import clamp_integers
from pyqref.nn.quantized.reference.modules.utils import ReferenceQuantizedModule
from pyqref.quantization.backend_config.patterns.pointwise import FIXED_QPARAMS
from pyqref.tensor import (
    quantize_per_channel,
    quantize_per_tensor,
    quantize_per_tensor_dynamic,
)

from .evaluation import value_of
from .lowering_tables import BINARY, KEEPS_GRID
from .observed import is_observer
from .reference_pattern import is_dequantize
from .uncalibrated import saw_nothing

__all__ = ["KnownValues", "Value", "plain", "quantizes", "span"]

_WITH_NUMBERS = {each for pair in BINARY.values() for each in pair if each is not None}


@dataclass(frozen=True)
class Value:
    """Known properties of a value.

    Attributes
    ----------
    dtype
        Its type; of an observed value the one that it will be quantized to.
    grid
        Scale and zero point, as text.
    observer
        The class of the observer, if it is observed and not yet quantized.
    """

    dtype: Any
    grid: str = ""
    observer: str = ""

    @property
    def integers(self) -> bool:
        """Return True if the value consists of integers."""
        return bool(self.dtype is not None and self.dtype.is_quantized and not self.observer)

    def __str__(self) -> str:
        head = f"{self.observer}: " if self.observer else ""
        return f"{head}{plain(self.dtype)}\n{self.grid}".strip()


_FLOAT = Value(float32)


class KnownValues:
    """The values of a model's nodes, each a :class:`Value` or None.

    Parameters
    ----------
    model
        The model, also between two passes.
    """

    def __init__(self, model: GraphModule) -> None:
        self._model = model
        self._modules: dict[str, Any] = dict(model.named_modules(remove_duplicate=False))
        self._values: dict[Node, Value | None] = {}
        for node in model.graph.nodes:
            self._values[node] = self._value(node) or self._asked_to_be_float(node)

    def __getitem__(self, node: Node) -> Value | None:
        return self._values[node]

    def module(self, node: Node) -> Module | None:
        """The module that a node calls; None for other nodes."""
        return self._modules.get(node.target) if node.op == "call_module" else None

    def _value(self, node: Node) -> Value | None:
        module = self.module(node)
        if is_observer(module):
            return _observed(module)
        if node.target is quantize_per_tensor or node.target is quantize_per_channel:
            grid = _grid(*map(self._constant, node.args[1:3]))
            axis = "" if node.target is quantize_per_tensor else f"axis {node.args[3]}: "
            return Value(node.args[-1], axis + grid)
        if node.target is quantize_per_tensor_dynamic:
            return Value(node.args[1], "grid chosen for each input")
        if node.op == "call_method" and node.target == "to":
            return Value(float16) if float16 in node.args else None
        if is_dequantize(node):
            return _FLOAT
        if node.op == "get_attr":
            return self._attribute(node)
        return self._result(node, module)

    def _attribute(self, node: Node) -> Value | None:
        found = self._constant(node)
        weight = found.unpack()[0] if hasattr(found, "unpack") else found
        if getattr(weight, "is_quantized", False):
            return Value(weight.dtype, f"{plain(weight.qscheme())}, packed")
        return None

    def _result(self, node: Node, module: Any) -> Value | None:
        """The value of an operation whose first input is made of integers."""
        given = next((self._values[each] for each in node.all_input_nodes), None)
        if isinstance(module, ReferenceQuantizedModule):
            return _FLOAT
        if given is None or not given.integers:
            return None
        if _has_grid(module):
            return Value(given.dtype, _grid(module.scale, module.zero_point))
        grid = self.grid_arguments(node)
        if grid is not None:
            return Value(given.dtype, _grid(*map(self._constant, grid)))
        if node.target in _WITH_NUMBERS:
            return Value(given.dtype, "grid that follows from the input's")
        what = node.target if module is None else type(module)
        if what in FIXED_QPARAMS:
            fixed = FIXED_QPARAMS[what]
            return Value(given.dtype, _grid(fixed.scale_exact_match, fixed.zero_point_exact_match))
        return given if what in KEEPS_GRID or what is clamp_integers else None

    def grid_arguments(self, node: Node) -> tuple[Any, Any] | None:
        """The scale and the zero point that a quantized function is given; None if it is not."""
        if node.op != "call_function" or not str(node.target.__module__).startswith("pyqref.ops"):
            return None
        given = (
            inspect.signature(with_own_code(node.target)).bind(*node.args, **node.kwargs).arguments
        )
        for name, zero_point in given.items():
            if "zero_point" in name and zero_point is not None:
                return given[name.replace("zero_point", "scale")], zero_point
        return None

    def _asked_to_be_float(self, node: Node) -> Value | None:
        """Return a float value if an observer sees the node or another node quantizes it."""
        for user in node.users:
            first = user.args[0] if user.args else None
            if first is node and (quantizes(user) or is_observer(self.module(user))):
                return _FLOAT
        return None

    def _constant(self, value: Any) -> Any:
        return value_of(self._model, value) if isinstance(value, Node) else value


def quantizes(node: Node) -> bool:
    """Return True if a node quantizes, in whatever way."""
    return node.target in (quantize_per_tensor, quantize_per_channel, quantize_per_tensor_dynamic)


def plain(value: Dtype | QScheme) -> str:
    """A dtype or scheme without the package."""
    return str(value).removeprefix("pyqref.")


def _grid(scale: Any, zero_point: Any) -> str:
    """``scale 0.0157, zero_point 64``; of many channels the smallest and largest."""
    return f"scale {span(scale, '.3g')}, zero_point {span(zero_point, 'g')}"


def span(value: TensorOrNumber, form: str) -> str:
    """A number, or the smallest and the largest of several."""
    numbers = value.flatten().tolist() if hasattr(value, "flatten") else [value]
    low, high = min(numbers), max(numbers)
    return f"{low:{form}}" if low == high else f"{low:{form}} to {high:{form}}"


def _observed(observer: Any) -> Value:
    """Return the properties that an observer tells about the value that passes through it."""
    name, dtype = type(observer).__name__, getattr(observer, "dtype", None)
    if getattr(observer, "is_dynamic", False):
        return Value(dtype, "grid chosen for each input", name)
    if saw_nothing(observer):
        return Value(dtype, "not calibrated", name)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scale, zero_point = observer.calculate_qparams()
    except (TypeError, ValueError, RuntimeError, NotImplementedError, AttributeError):
        return Value(dtype, "", name)  # one that only records, or passes values on
    return Value(dtype, _grid(scale, zero_point), name)


def _has_grid(module: Any) -> bool:
    return module is not None and hasattr(module, "scale") and hasattr(module, "zero_point")
