"""Passes: measure the columns of inputs and weights, and scale them.

``insert_equalizers`` puts an observer of columns behind the observer of a layer's input::

    x -> observer -> linear                          before
    x -> observer -> column observer -> linear       after

``equalize`` turns it into a factor for each column. The weight is divided by it, and the input
multiplied: by the layer before, if that is equalized too and nothing else reads its output, or else
by a node of its own::

    x -> mul(scale) -> observer -> linear
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from pyqref._typing import Tensor
from pyqref.backends import quantized as settings
from pyqref.fx import GraphModule, Node
from pyqref.nn import Parameter
from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.quantization.diagnostics import NotRepairedWarning, warn
from pyqref.quantization.qconfig.checks import is_equalization_qconfig
from pyqref.tensor import mul

from ._equalize import calculate_equalization_scale, is_equalization_observer
from .evaluation import depends_on_input, value_of
from .observed import Preparation, is_observer_node
from .paths import free_name, replace_module
from .reference_pattern import is_relu

__all__ = ["equalize", "insert_equalizers", "require_equalization"]

_LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)
_FUNCTIONS = (F.linear, F.conv1d, F.conv2d, F.conv3d)


def require_equalization(qconfigs: dict[str, Any], *, wanted: bool) -> None:
    """Refuse a QConfig where one of equalization belongs, and the other way round.

    Parameters
    ----------
    qconfigs
        Of the nodes by name.
    wanted
        Whether they come from ``_equalization_config``.

    Raises
    ------
    TypeError
        An entry is of the other kind.
    """
    for qconfig in qconfigs.values():
        if qconfig is None or is_equalization_qconfig(qconfig) == wanted:
            continue
        if wanted:
            raise TypeError(
                "_equalization_config must hold EqualizationQConfigs or None, got "
                f"{type(qconfig).__name__}; write default_equalization_qconfig"
            )
        raise TypeError(
            f"qconfig_mapping must hold QConfigs or None, got {type(qconfig).__name__}; pass it in "
            "a QConfigMapping as _equalization_config"
        )


def insert_equalizers(
    asks: str, model: GraphModule, preparation: Preparation, qconfigs: dict[str, Any]
) -> None:
    """Insert the observers of columns, in place.

    Parameters
    ----------
    asks
        Who asks, for messages.
    model
        The model with its other observers.
    preparation
        Knows what is quantized; is told what is equalized.
    qconfigs
        Those of equalization, of the nodes by name.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    nodes = list(model.graph.nodes)
    calls = [node.target for node in nodes if node.op == "call_module"]
    for node in nodes:
        qconfig = qconfigs.get(node.name)
        if qconfig is None or node.name not in preparation.observed or not _layer(node, modules):
            continue
        places = list(_observers_of(node, modules))
        if not places:
            continue
        reason = _obstacle(node, modules, calls)
        if reason is not None:
            where = node.target if node.op == "call_module" else node.name
            warn(
                f"{asks}: {where}: its input and weight are not equalized, {reason}; nothing is to "
                "be done",
                NotRepairedWarning,
            )
            continue
        preparation.equalized[node.name] = qconfig
        for value, recipe in zip(places, qconfig, strict=False):
            observer = recipe()
            if value is places[0] and _is_linear(node, modules):
                observer._columns().ch_axis = -1
            _insert(model, node, value, observer)
    if not preparation.equalized:
        warn(
            f"{asks}: _equalization_config equalizes nothing; give it default_equalization_qconfig "
            "for linear or convolution layers that are quantized",
            NotRepairedWarning,
        )
    model.graph.lint()
    model.recompile()


def _layer(node: Node, modules: dict[str, Any]) -> bool:
    """Return True for linear and convolution layers, fused ones and functions included."""
    if node.op == "call_module":
        return type(_root(modules[node.target])) in _LAYERS
    return node.op == "call_function" and node.target in _FUNCTIONS


def _root(module: Any) -> Any:
    return module[0] if isinstance(module, _FusedModule) and len(module) else module


def _is_linear(node: Node, modules: dict[str, Any]) -> bool:
    return node.target is F.linear or (
        node.op == "call_module" and type(_root(modules[node.target])) is nn.Linear
    )


def _argument(node: Node, index: int, name: str) -> Any:
    return node.args[index] if index < len(node.args) else node.kwargs.get(name)


def _observers_of(node: Node, modules: dict[str, Any]) -> Iterator[Node]:
    """The observers of a layer's input, which no one else reads, and of a function's weight."""
    values = [_argument(node, 0, "input")]
    if node.op == "call_function":
        values.append(_argument(node, 1, "weight"))
    if all(is_observer_node(each, modules) and len(each.users) == 1 for each in values):
        yield from values


def _obstacle(node: Node, modules: dict[str, Any], calls: list[Any]) -> str | None:
    if node.op == "call_module":
        groups = getattr(_root(modules[node.target]), "groups", 1)
        if calls.count(node.target) > 1:
            return "since it is called more than once"
    else:
        groups = 1 if node.target is F.linear else _argument(node, 6, "groups") or 1
        if depends_on_input(_argument(node, 1, "weight")):
            return "since its weight depends on an input"
    return None if groups == 1 else f"since it has {groups} groups of channels"


def _insert(model: GraphModule, node: Node, value: Node, observer: Any) -> None:
    name = free_name(model, f"{value.name}_equalization_process_")
    setattr(model, name, observer)
    with model.graph.inserting_after(value):
        inserted = model.graph.call_module(name, (value,))
    node.replace_input_with(value, inserted)


def equalize(model: GraphModule, preparation: Preparation) -> None:
    """Scale inputs and weights, and take the observers of columns out, in place.

    Parameters
    ----------
    model
        A working copy of the prepared model, after calibration. Its observers belong to the
        prepared model as well; those that change are replaced.
    preparation
        Knows what is equalized.
    """
    modules = dict(model.named_modules(remove_duplicate=False))
    factors: dict[Node, Tensor] = {}
    ranges: dict[Node, tuple[Tensor, Tensor]] = {}
    for node in list(model.graph.nodes):
        if node.name in preparation.equalized:
            qconfig = preparation.equalized[node.name]
            inputs = modules[_argument(node, 0, "input").target]
            weight = qconfig.weight()
            weight(_weight(model, node).detach())
            found = calculate_equalization_scale(inputs, weight)
            for each in node.all_input_nodes:
                if each.op == "call_module" and is_equalization_observer(modules[each.target]):
                    each.replace_all_uses_with(each.args[0])
                    model.graph.erase_node(each)
            if found.ndim:
                low, high = inputs._ranges()
                factors[node] = found
                ranges[node] = (low * found).min(), (high * found).max()
    rows = dict(_rows(model, factors))
    for node, columns in factors.items():
        _scale_layer(model, node, columns, rows.get(node), preparation)
    for node, columns in factors.items():
        value = _argument(node, 0, "input")
        is_merged = any(columns is each for each in rows.values())
        if not is_merged:
            _multiply(model, value, _along(model, node, columns))
        if not (is_merged and settings.conventions == "torch"):  # there the range stays too wide
            _set_range(model, value, *ranges[node])


def _weight(model: GraphModule, node: Node) -> Tensor:
    """The weight of a layer; of a function that which its observer sees."""
    if node.op == "call_module":
        return _root(model.get_submodule(node.target)).weight
    observed = _argument(node, 1, "weight")
    while observed.op == "call_module":
        observed = observed.args[0]
    return value_of(model, observed)


def _set_range(model: GraphModule, value: Node, low: Tensor, high: Tensor) -> None:
    """Give the observer of a scaled input the scaled range; another one, as it may be shared."""
    observer = copy.deepcopy(model.get_submodule(value.target))
    inner: Any = getattr(observer, "activation_post_process", observer)
    if getattr(inner, "min_val", None) is None or getattr(observer, "is_dynamic", False):
        return
    inner.min_val, inner.max_val = low, high
    replace_module(model, value.target, observer)


def _rows(model: GraphModule, factors: dict[Node, Tensor]) -> Iterator[tuple[Node, Tensor]]:
    """The layers that can multiply the next one's input, with its factors."""
    for node, columns in factors.items():
        before = _argument(node, 0, "input").args[0]
        if is_relu(model, before) and len(before.users) == 1:
            before = before.args[0]
        if before in factors and len(before.users) == 1:
            yield before, columns


def _scale_layer(
    model: GraphModule, node: Node, columns: Tensor, rows: Tensor | None, preparation: Preparation
) -> None:
    """Divide the columns of a weight, and multiply the rows and the bias, which then are new."""
    weight = _weight(model, node).detach()
    weight = weight * columns.reciprocal().reshape(1, -1, *[1] * (weight.ndim - 2))
    if rows is not None:
        weight = weight * rows.reshape(-1, *[1] * (weight.ndim - 1))
    if node.op == "call_module":
        layer = _root(model.get_submodule(node.target))
        layer.weight = Parameter(weight)
        if rows is not None and layer.bias is not None:
            layer.bias = Parameter(layer.bias.detach() * rows)
        return
    observed = _argument(node, 1, "weight")
    replace_module(model, observed.target, preparation.qconfigs[node.name].weight())
    observed.args = (_attribute(model, observed, f"{node.name}_equalized_weight", weight),)
    bias = _argument(node, 2, "bias")
    if rows is not None and isinstance(bias, Node):
        scaled = value_of(model, bias).detach() * rows
        node.replace_input_with(
            bias, _attribute(model, node, f"{node.name}_equalized_bias", scaled)
        )


def _attribute(model: GraphModule, before: Node, prefix: str, value: Tensor) -> Node:
    """A node in front of another that fetches a value, from a new buffer."""
    name = free_name(model, prefix)
    model.register_buffer(name, value)
    with model.graph.inserting_before(before):
        return model.graph.get_attr(name)


def _along(model: GraphModule, node: Node, columns: Tensor) -> Tensor:
    """Factors in a shape that multiplies the columns of an input."""
    dimensions = 0 if _weight(model, node).ndim == 2 else _weight(model, node).ndim - 2
    return columns.reshape(1, -1, *[1] * dimensions)


def _multiply(model: GraphModule, value: Node, columns: Tensor) -> None:
    """Multiply what an observer sees."""
    source = value.args[0]
    scale = _attribute(model, value, f"{source.name}_equalization_scale", columns)
    with model.graph.inserting_before(value):
        product = model.graph.call_function(mul, (source, scale))
    value.args = (product,)
