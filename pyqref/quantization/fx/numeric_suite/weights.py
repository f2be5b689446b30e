"""Weights of two models side by side."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from pyqref.fx import GraphModule, Node
from pyqref.nn import Module
from pyqref.nn.intrinsic.modules.fused import _FusedModule
from pyqref.ops.quantized import PackedConv, PackedConvTranspose, PackedLinear
from pyqref.tensor import Tensor

from ..lowering_tables import STATIC_FUNCTIONS
from .naming import path_of, type_text
from .related import RelatedOps
from .results import Results, rekeyed
from .subgraphs import NSSubgraph, get_matching_subgraph_pairs, operation_of, traced

__all__ = ["extract_weights"]

#: By kind of node, ``"call_module"`` or ``"call_function"``, what gives the weight of a type.
Extractors: TypeAlias = dict[str, dict[Callable[..., Any], Callable[..., Any]]]
_PACKED = (PackedConv, PackedConvTranspose, PackedLinear)
_FLOAT_FUNCTIONS = frozenset(STATIC_FUNCTIONS)


def extract_weights(
    model_name_a: str,
    model_a: Module,
    model_name_b: str,
    model_b: Module,
    base_name_to_sets_of_related_ops: RelatedOps | None = None,
    unmatchable_types_map: RelatedOps | None = None,
    op_to_type_to_weight_extraction_fn: Extractors | None = None,
) -> Results:
    """The weights of two forms of a model, layer by layer.

    Parameters
    ----------
    model_name_a, model_name_b
        What the models are called in the results.
    model_a, model_b
        Two forms of one model: float, prepared, converted.
    base_name_to_sets_of_related_ops, unmatchable_types_map
        See :func:`get_matching_subgraph_pairs`.
    op_to_type_to_weight_extraction_fn
        For ``"call_module"`` and ``"call_function"``, by class or function what gives the weight:
        of a module, or of a node and the model.

    Returns
    -------
    dict
        Of each layer with a weight, ``{"weight": {model_name_a: [...], model_name_b: [...]}}``.

    Raises
    ------
    GraphMatchingException
        If the models are no two forms of one.

    Examples
    --------
    >>> import copy
    >>> import pyqref
    >>> from pyqref.quantization import default_qconfig, quantize_fx
    >>> batch = (pyqref.ones(1, 2),)
    >>> model = pyqref.nn.Sequential(pyqref.nn.Linear(2, 3)).eval()
    >>> prepared = quantize_fx.prepare_fx(model, {"": default_qconfig}, batch)
    >>> _ = prepared(*batch)
    >>> quantized = quantize_fx.convert_fx(copy.deepcopy(prepared))
    >>> pairs = extract_weights("float", prepared, "int8", quantized)
    >>> [(layer, pairs[layer]["weight"]["int8"][0]["values"][0].dtype) for layer in pairs]
    [('_0', pyqref.qint8)]
    """
    require_two_names(model_name_a, model_name_b)
    a, b = traced(model_a), traced(model_b)
    pairs = get_matching_subgraph_pairs(
        a, b, base_name_to_sets_of_related_ops, unmatchable_types_map
    )
    own = op_to_type_to_weight_extraction_fn or {}
    results: Results = {}
    for name, (sub_a, sub_b) in pairs.items():
        found = {
            model_name_a: _entry(a, sub_a, own),
            model_name_b: _entry(b, sub_b, own),
        }
        if all(each["values"] for each in found.values()):
            results[name] = {"weight": {model: [each] for model, each in found.items()}}
    return rekeyed(results, model_name_b)


def require_two_names(name_a: str, name_b: str) -> None:
    """Results are kept by the names of the models, which must not be one."""
    if name_a == name_b:
        raise ValueError(f"the two models must have different names, got {name_a!r} twice")


def _entry(model: GraphModule, subgraph: NSSubgraph, own: Extractors) -> dict[str, Any]:
    node = subgraph.base_op_node
    kind = type_text(model, node)
    return {
        "type": "weight",
        "values": _weights(model, node, own),
        "prev_node_name": node.name,
        "prev_node_target_type": kind,
        "ref_node_name": node.name,
        "ref_node_target_type": kind,
        "index_within_arg": 0,
        "index_of_arg": 0,
        "fqn": path_of(model, node),
    }


def _weights(model: GraphModule, node: Node, own: Extractors) -> list[Any]:
    """The weight of an operation as a list: empty if it has none."""
    extract = own.get(node.op, {}).get(operation_of(model, node))
    if node.op == "call_module":
        module = model.get_submodule(node.target)
        found = _of_module(module) if extract is None else extract(module)
    elif extract is not None:
        found = extract(node, model)
    else:
        found = _of_function(model, node)
    return [] if found is None else [found]


def _of_module(module: Any) -> Any:
    if isinstance(module, _FusedModule) and not hasattr(module, "weight"):
        module = module[0]
    recurrent = _of_recurrent(module)
    if recurrent:
        return recurrent
    weight = getattr(module, "weight", None)
    if hasattr(module, "get_weight"):  # of a reference module, which keeps the float weight, too
        weight = module.get_weight()
    weight = weight() if callable(weight) and not isinstance(weight, Tensor) else weight
    is_norm = isinstance(weight, Tensor) and weight.ndim < 2  # one number a channel
    return None if is_norm or weight is None else weight.detach()


def _of_recurrent(module: Any) -> list[Any]:
    """The weights of a recurrent layer: from the input, then from the state, layer by layer."""
    weights = module.get_weight() if hasattr(module, "get_weight") else None
    if isinstance(weights, dict):
        return [
            value.detach() for _, value in sorted(weights.items(), key=_layer) if value is not None
        ]
    return [
        value.detach()
        for name, value in sorted(module.named_parameters(recurse=False), key=_layer)
        if name.startswith(("weight_ih_l", "weight_hh_l"))
    ]


def _layer(named: tuple[str, Any]) -> tuple[str, bool]:
    """Order of weights: by layer and direction, the one from the input before the other."""
    name = named[0]
    return name.rpartition("_l")[2], "_hh" in name


def _of_function(model: GraphModule, node: Node) -> Any:
    """The weight that a function is given: packed, or an attribute, perhaps observed."""
    given = [each for each in node.all_input_nodes if isinstance(each, Node)]
    for each in given:
        source = each
        while source.op == "call_module" and source.args:  # an observer
            source = source.args[0]
        if source.op != "get_attr":
            continue
        value = _attribute(model, source.target)
        if isinstance(value, _PACKED):
            return value.unpack()[0]
        if node.target in _FLOAT_FUNCTIONS and isinstance(value, Tensor):
            return value.detach()
    return None


def _attribute(model: Any, path: str) -> Any:
    for step in path.split("."):
        model = getattr(model, step)
    return model
