"""A ``torch.fx.GraphModule`` as a graph here: traced, exported, prepared or converted."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from pyqref.fx import Graph, GraphModule
from pyqref.nn import Module
from pyqref.ops import quantized as ops
from pyqref.quantization.backend_config import get_native_backend_config
from pyqref.quantization.fx.converted import QUANTIZED_INPUTS, ConvertedGraphModule
from pyqref.quantization.fx.custom_config import PrepareCustomConfig
from pyqref.quantization.fx.observed import Preparation, forget, remember
from pyqref.quantization.fx.places import remember_scopes
from pyqref.quantization.fx.prepared import PreparedGraphModule
from pyqref.quantization.qconfig_mapping import QConfigMapping

from .._typing import AnyModule
from .arrays import is_torch, to_value
from .graph_calls import call_of
from .quantized_layers import to_qconfig
from .torch_names import is_absent
from .trace import line_of
from .translation import Translation

__all__ = ["graph_module"]

_MADE = "_observed_graph_module_attrs"


def graph_module(
    source: AnyModule, root: Module, objects: Translation, problem: Callable[[str], None]
) -> Module:
    """The graph, node by node under the same names.

    Parameters
    ----------
    source
        The module of ``torch``.
    root
        Holds what became of its submodules, parameters and buffers.
    objects
        Translates functions, classes and constants.
    problem
        Called with each thing that has no counterpart here.
    """
    graph = Graph()
    made: dict[Any, Any] = {}
    nodes = [each for each in source.graph.nodes if not _is_guard(each)]
    nodes.sort(key=lambda node: node.op != "placeholder")
    for node in nodes:
        reason = _add(graph, node, made, source, root, objects)
        if reason:
            problem(reason)
    if len(made) < len(nodes):
        return root
    kind = _kind(source)
    twin = kind(root, graph)
    for name, module in root._modules.items():  # what the graph does not call
        if name not in twin._modules:
            twin._modules[name] = module
    if kind is PreparedGraphModule:
        preparation = _preparation(source.meta[_MADE], objects)
        remember(twin, preparation)
        remember_scopes(twin, preparation.scopes)
    elif kind is ConvertedGraphModule:
        forget(twin)
        twin.meta[QUANTIZED_INPUTS] = ()
    return twin


def _is_guard(node: Any) -> bool:
    """Return True if a node of an exported graph only checks its inputs."""
    return node.op == "call_module" and node.target == "_guards_fn"


def _kind(source: Any) -> Any:
    """The class of the result."""
    if _MADE in source.meta:
        return PreparedGraphModule
    for node in source.graph.nodes:
        name = getattr(node.target, "__name__", "")
        if node.op == "call_function" and (
            str(node.target).startswith("quantized.") or name.startswith("quantize_per_")
        ):
            return ConvertedGraphModule
    return GraphModule


def _add(
    graph: Graph, node: Any, made: dict[Any, Any], source: Any, root: Any, objects: Translation
) -> str:
    """Add one node; the reason why that cannot be, or nothing."""
    if any(used not in made for used in node.all_input_nodes):
        return ""  # follows on one that could not be added
    try:
        made[node] = _node(graph, node, made, source, root, objects)
    except (TypeError, AttributeError) as error:
        return f"{error}{line_of(node)}"
    return ""


def _node(
    graph: Graph, node: Any, made: dict[Any, Any], source: Any, root: Any, objects: Translation
) -> Any:
    """One node of the new graph."""

    def argument(value: Any) -> Any:
        if is_torch(value, "Node"):
            return made[value]
        if type(value) in (tuple, list) or is_torch(value, "immutable_list"):
            return (tuple if isinstance(value, tuple) else list)(map(argument, value))
        if isinstance(value, dict):
            return {key: argument(each) for key, each in value.items()}
        if isinstance(value, slice):
            return slice(*map(argument, (value.start, value.stop, value.step)))
        if value is Ellipsis:
            return value
        return objects.value(value)

    args, kwargs = argument(tuple(node.args)), argument(dict(node.kwargs))
    if node.op == "placeholder":
        default = args[0] if args else inspect.Signature.empty
        return graph.placeholder(str(node.target), default_value=default)
    if node.op == "output":
        return graph.output(_structured(source.graph, args[0]))
    if node.op == "get_attr":
        _keep_constant(node.target, source, root)
        return graph.create_node("get_attr", node.target, name=node.name)
    op, target = node.op, node.target
    if op in ("call_function", "call_method"):
        op, target, args, kwargs = call_of(op, target, args, kwargs, objects)
    return graph.create_node(op, target, args, kwargs, node.name)


def _structured(graph: Any, outputs: Any) -> Any:
    """The outputs of an exported graph, which are flat, in the structure of the original."""
    info = getattr(getattr(graph, "_codegen", None), "pytree_info", None)
    if info is None or info.out_spec is None:
        return outputs
    from torch.utils import _pytree

    places = _pytree.tree_unflatten(list(range(len(outputs))), info.out_spec)
    return _filled(places, outputs)


def _filled(places: Any, values: Any) -> Any:
    if isinstance(places, bool) or places is None:
        return places
    if isinstance(places, int):
        return values[places]
    if isinstance(places, dict):
        return {key: _filled(each, values) for key, each in places.items()}
    filled = [_filled(each, values) for each in places]
    return filled if isinstance(places, list) else tuple(filled)


def _keep_constant(path: str, source: Any, root: Any) -> None:
    """Put what is neither parameter nor buffer, such as a packed weight, where the node looks."""
    *steps, name = path.split(".")
    owner, home = source, root
    for step in steps:
        owner, home = getattr(owner, step), getattr(home, step)
    if not hasattr(home, name):
        setattr(home, name, _constant(getattr(owner, name)))


def _constant(value: Any) -> Any:
    """A tensor, or a packed weight."""
    if not is_torch(value, "ScriptObject"):
        return to_value(value)
    kind = str(value._type()).rpartition(".")[2]
    weight, bias = (to_value(each) for each in value.unpack())
    if kind == "LinearPackedParamsBase":
        half = not weight.is_quantized
        return (ops.linear_prepack_fp16 if half else ops.linear_prepack)(weight, bias)
    dimensions = weight.dim() - 2
    geometry = [list(getattr(value, name)()) for name in ("stride", "padding", "dilation")]
    prefix = "conv_transpose" if value.transpose() else "conv"
    pack = getattr(ops, f"{prefix}{dimensions}d_prepack")
    if value.transpose():
        geometry.insert(2, list(value.output_padding()))
        return pack(weight, bias, *geometry[:3], value.groups(), geometry[3])
    return pack(weight, bias, *geometry, value.groups())


def _preparation(made: Any, objects: Translation) -> Preparation:
    """Return the record that ``convert_fx`` needs."""

    def qconfig(value: Any) -> Any:
        return to_qconfig(value, objects.value)

    def cls(value: Any) -> Any:
        return None if value is None else objects.value(value)

    given = made.prepare_custom_config
    custom = PrepareCustomConfig()
    custom.input_quantized_indexes = list(given.input_quantized_indexes)
    custom.output_quantized_indexes = list(given.output_quantized_indexes)
    custom.preserved_attributes = list(given.preserved_attributes)
    return Preparation(
        _mapping(made.qconfig_mapping, qconfig, objects),
        get_native_backend_config(),
        custom,
        bool(made.is_qat),
        {name: qconfig(each) for name, each in made.node_name_to_qconfig.items()},
        {name: (path, cls(each)) for name, (path, each) in made.node_name_to_scope.items()},
        set(made.observed_node_names),
        bool(made.is_observed_standalone_module),
    )


def _mapping(given: Any, qconfig: Callable[[Any], Any], objects: Translation) -> QConfigMapping:
    """The mapping with qconfigs, classes and functions of this package."""
    mapping = QConfigMapping().set_global(qconfig(given.global_qconfig))
    for key, each in given.object_type_qconfigs.items():
        kind = objects.value(key)
        if not is_absent(kind):
            mapping.set_object_type(kind, qconfig(each))
    for regex, each in given.module_name_regex_qconfigs.items():
        mapping.set_module_name_regex(regex, qconfig(each))
    for name, each in given.module_name_qconfigs.items():
        mapping.set_module_name(name, qconfig(each))
    for order, each in given.module_name_object_type_order_qconfigs.items():
        name, key, index = order
        kind = objects.value(key)
        if not is_absent(kind):
            mapping.set_module_name_object_type_order(name, kind, index, qconfig(each))
    return mapping
