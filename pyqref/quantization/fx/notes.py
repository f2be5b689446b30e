"""Notes on quantization for pictures and text of a graph.

:func:`notes` is left in the graph modules of this package, where ``pyqref.fx.draw`` and
``print_readable`` ask for it.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.fx.notes import NOTES, Note
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.nn.quantized.reference.modules.utils import ReferenceQuantizedModule
from pyqref.quantization.eager.origins import type_name
from pyqref.quantization.fake_quantize.base import FakeQuantizeBase

from .known_values import KnownValues, plain, quantizes, span
from .observed import is_observer
from .reasons import REASON
from .reference_pattern import is_dequantize
from .uncalibrated import saw_nothing

__all__ = ["annotate", "notes"]


def annotate(model: GraphModule) -> None:
    """Let pictures and text of a model ask here.

    Parameters
    ----------
    model
        The model.
    """
    model.meta[NOTES] = notes


def notes(model: GraphModule) -> dict[Node, Note]:
    """Return notes on the nodes of a prepared, reference or lowered model.

    Parameters
    ----------
    model
        The model, also between two passes.
    """
    values = KnownValues(model)
    first_names: dict[int, str] = {}
    return {node: _note(node, values, first_names) for node in model.graph.nodes}


def _note(node: Node, values: KnownValues, first_names: dict[int, str]) -> Note:
    module, value = values.module(node), values[node]
    kind, settings, remark = "", None, ""
    if is_observer(module):
        first = first_names.setdefault(id(module), node.name)
        settings = "" if first == node.name else f"the same as {first}"
        remark = _range(module)
    elif quantizes(node) or is_dequantize(node):
        kind, settings = "dequantize" if is_dequantize(node) else "", ""
    elif module is not None:
        kind, settings, remark = _kind(module), _settings(module), _weight(module)
    if REASON in node.meta:
        remark = "\n".join(filter(None, [remark, f"not quantized: {node.meta[REASON]}"]))
    return Note(
        kind=kind,
        settings=settings,
        remark=remark,
        value="" if value is None else str(value),
        style=_style(node, values),
        integers=value is not None and value.integers,
        implied=_is_part_of_grid(node, values),
    )


def _style(node: Node, values: KnownValues) -> str:
    module, value = values.module(node), values[node]
    if is_observer(module):
        return "observer"
    if quantizes(node):
        return "quantize"
    if is_dequantize(node):
        return "dequantize"
    computes = node.op in ("call_module", "call_function", "call_method")
    integers = computes and value is not None and value.integers
    return "quantized" if integers or _is_quantized(node, module) else ""


def _is_quantized(node: Node, module: Any) -> bool:
    """Return True if a node calls a quantized function or layer, dynamic ones included."""
    if module is None:
        return node.op == "call_function" and _module_of(node).startswith("pyqref.ops.quantized")
    packages = ("nn.quantized.", "nn.intrinsic.quantized.")
    return type_name(type(module)).startswith(packages) and _reference(module) is None


def _module_of(node: Node) -> str:
    return str(getattr(node.target, "__module__", ""))


def _is_part_of_grid(node: Node, values: KnownValues) -> bool:
    """Return True if a node only fetches a scale or zero point that stands on edges."""
    if node.op != "get_attr" or not node.users:
        return False
    for user in node.users:
        grid = user.args[1:3] if quantizes(user) else values.grid_arguments(user) or ()
        if not any(each is node for each in grid):
            return False
    return True


def _range(observer: Any) -> str:
    """The smallest and largest value seen."""
    inner = getattr(observer, "activation_post_process", observer)
    low, high = getattr(inner, "min_val", None), getattr(inner, "max_val", None)
    if low is None or high is None or low.numel() == 0 or saw_nothing(observer):
        return ""
    return f"saw {span(low.min(), '.3g')} to {span(high.max(), '.3g')}"


def _reference(module: Any) -> Any:
    """The reference layer that a module is, or that a fused module holds."""
    first = module[0] if isinstance(module, _FusedModule) and len(module) else module
    return first if isinstance(first, ReferenceQuantizedModule) else None


def _kind(module: Any) -> str:
    """The type of a module, with its package; of a fused reference layer both."""
    name = type_name(type(module))
    if type(module).__module__.startswith("pyqref.nn.modules"):
        name = f"nn.{name}"
    inside = _reference(module)
    return name if inside in (None, module) else f"{name} of\n{type_name(type(inside))}"


def _settings(module: Any) -> str:
    """Its settings, without the grid, which stands on the edge; of a fused one, of its first."""
    if isinstance(module, _FusedModule) and not module.extra_repr() and len(module):
        module = module[0]
    text = re.sub(r",? ?\b(scale|zero_point|qscheme|dtype)=[^,]+", "", str(module.extra_repr()))
    return text.strip(" ,")


def _weight(module: Any) -> str:
    """Type and scheme of the weight, if it is on a grid or being put on one."""
    inside = _reference(module)
    if inside is not None:
        name = inside._weights()[0]
        return _describe(getattr(inside, f"{name}_dtype"), getattr(inside, f"{name}_qscheme"))
    fake = getattr(module, "weight_fake_quant", None)
    if isinstance(fake, FakeQuantizeBase):
        return _describe(getattr(fake, "dtype", None), getattr(fake, "qscheme", None))
    found: Any = module.weight() if inspect.ismethod(getattr(module, "weight", None)) else None
    if found is None and inspect.ismethod(getattr(module, "get_weight", None)):
        found = next(iter(module.get_weight().values()), None)
    if not hasattr(found, "dtype"):
        return ""
    return _describe(found.dtype, found.qscheme() if found.is_quantized else None)


def _describe(dtype: Any, scheme: Any) -> str:
    if dtype is None:
        return ""
    return f"weight {plain(dtype)}" + ("" if scheme is None else f" {plain(scheme)}")
