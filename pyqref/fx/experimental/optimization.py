"""A float model with less to compute: batch norms in the weights, no dropout.

::

    x -> conv -> bn -> dropout -> fc        before
    x -> conv -> fc                         after
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from ...nn import modules as nn
from ...nn.modules.module import Module
from ...nn.utils.fusion import fuse_conv_bn_eval, fuse_linear_bn_eval
from ..graph import Graph
from ..graph_module import GraphModule
from ..node import Node
from ..tracer import Tracer
from ..tracing import symbolic_trace
from ..transformer import Transformer

__all__ = [
    "extract_subgraph",
    "fuse",
    "matches_module_pattern",
    "optimize_for_inference",
    "remove_dropout",
    "replace_node_module",
]

_FUSERS: dict[tuple[type, type], Any] = {
    (nn.Conv1d, nn.BatchNorm1d): fuse_conv_bn_eval,
    (nn.Conv2d, nn.BatchNorm2d): fuse_conv_bn_eval,
    (nn.Conv3d, nn.BatchNorm3d): fuse_conv_bn_eval,
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn_eval,
}
_DROPOUT = (nn.Dropout, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout)


def matches_module_pattern(
    pattern: Iterable[type[Module]], node: Node, modules: dict[str, Module]
) -> bool:
    """Return True if a node, and the one that is its first argument, call modules of two classes.

    Parameters
    ----------
    pattern
        The two classes, in the order in which they run.
    node
        The second node.
    modules
        The modules of the model by path.

    Examples
    --------
    >>> from pyqref import fx, nn
    >>> model = fx.symbolic_trace(nn.Sequential(nn.Linear(1, 1), nn.ReLU()))
    >>> last = model.graph.find_nodes(op="call_module", target="1")[0]
    >>> matches_module_pattern((nn.Linear, nn.ReLU), last, dict(model.named_modules()))
    True
    """
    if not node.args:
        return False
    return all(
        isinstance(each, Node)
        and each.op == "call_module"
        and type(modules.get(each.target)) is expected
        for expected, each in zip(pattern, (node.args[0], node), strict=True)
    )


def replace_node_module(node: Node, modules: dict[str, Any], new_module: Module) -> None:
    """Let a node call another module, at the same path.

    Parameters
    ----------
    node
        A node that calls a module.
    modules
        The modules of the model by path, with the model itself as ``""``.
    new_module
        The module to put there.

    Examples
    --------
    >>> from pyqref import fx, nn
    >>> model = fx.symbolic_trace(nn.Sequential(nn.ReLU()))
    >>> node = model.graph.find_nodes(op="call_module", target="0")[0]
    >>> replace_node_module(node, dict(model.named_modules()), nn.Tanh())
    >>> model.get_submodule("0")
    Tanh()
    """
    parent, _, name = str(node.target).rpartition(".")
    modules[str(node.target)] = new_module
    setattr(modules[parent], name, new_module)


def fuse(model: Module, inplace: bool = False, no_trace: bool = False) -> GraphModule:
    """Put batch norms into the weights of the convolutions and linear layers before them.

    Parameters
    ----------
    model
        A model in eval mode. A convolution whose value is used elsewhere too stays as it is, and
        so does a batch norm that keeps no running statistics.
    inplace
        Change the modules of ``model`` instead of a copy.
    no_trace
        The model is a :class:`~pyqref.fx.GraphModule`, to be taken as it is.

    Raises
    ------
    ValueError
        If ``model`` is in training mode, or ``no_trace`` is set and it is no graph module.

    Examples
    --------
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.ReLU()).eval()
    >>> [name for name, _ in fuse(model).named_children()]
    ['0', '2']
    """
    if model.training:
        raise ValueError(
            "fuse puts running statistics into weights, and model is in training mode; "
            "call model.eval() first"
        )
    if no_trace and not isinstance(model, GraphModule):
        raise ValueError(
            f"with no_trace, model must be a GraphModule, got {type(model).__name__}; "
            "leave no_trace out"
        )
    own = model if inplace else copy.deepcopy(model)
    traced = own if no_trace and isinstance(own, GraphModule) else symbolic_trace(own)
    modules: dict[str, Any] = dict(traced.named_modules(remove_duplicate=False))
    for node in list(traced.graph.nodes):
        for pattern, fuser in _FUSERS.items():
            if matches_module_pattern(pattern, node, modules) and _is_alone(traced, node, modules):
                layer, norm = modules[node.args[0].target], modules[node.target]
                replace_node_module(node.args[0], modules, fuser(layer, norm))
                node.replace_all_uses_with(node.args[0])
                traced.graph.erase_node(node)
                break
    traced.delete_all_unused_submodules()
    return GraphModule(traced, traced.graph, type(traced).__name__)


def _is_alone(model: GraphModule, norm: Node, modules: dict[str, Any]) -> bool:
    """Return True if the layer before a norm is called once and its value is used only there."""
    layer = norm.args[0]
    calls = [each for each in model.graph.nodes if each.target == layer.target]
    return len(layer.users) == len(calls) == 1 and bool(modules[norm.target].track_running_stats)


def remove_dropout(model: Module) -> GraphModule:
    """Take the dropout layers out of a model.

    Examples
    --------
    >>> from pyqref import nn
    >>> print(remove_dropout(nn.Sequential(nn.Dropout(), nn.ReLU())).code.strip())
    def forward(self, input):
        input_1 = input
        _1 = getattr(self, "1")(input_1);  input_1 = None
        return _1
    """
    made = _WithoutDropout(symbolic_trace(model)).transform()
    made.delete_all_unused_submodules()
    return made


class _WithoutDropout(Transformer):
    """Gives the input of a dropout in place of its output."""

    def call_module(self, target: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if isinstance(self.submodules[target], _DROPOUT):
            return args[0]
        return super().call_module(target, args, kwargs)


def extract_subgraph(
    orig_module: Module, nodes: list[Node], inputs: list[Node], outputs: list[Node]
) -> GraphModule:
    """A part of a model as a model.

    Parameters
    ----------
    orig_module
        The model.
    nodes
        The nodes of the part, in the order in which they run.
    inputs
        The values that it is given.
    outputs
        The values that it gives, as a tuple.

    Examples
    --------
    >>> import pyqref
    >>> model = pyqref.fx.symbolic_trace(lambda x: (x + 1) * 2)
    >>> x, add, mul, _ = model.graph.nodes
    >>> extract_subgraph(model, [mul], [add], [mul])(3)
    (6,)
    """
    graph = Graph()
    copied = {each: graph.placeholder(each.name) for each in inputs}
    for node in nodes:
        copied[node] = graph.node_copy(node, copied.__getitem__)
    graph.output(tuple(copied[each] for each in outputs))
    graph.lint()
    return GraphModule(orig_module, graph)


def optimize_for_inference(
    model: Module, pass_config: dict[str, Any] | None = None, tracer: type[Tracer] = Tracer
) -> GraphModule:
    """A copy of a model without batch norms and dropout, as far as they can be left out.

    Parameters
    ----------
    model
        A model in eval mode.
    pass_config
        ``{"conv_bn_fuse": False}`` or ``{"remove_dropout": False}`` leave a step out. The layout
        of one library, ``"mkldnn_layout_optimize"``, has no meaning here, and may only be False.
    tracer
        Records the model.

    Raises
    ------
    ValueError
        If ``pass_config`` has another key, or asks for that layout.

    Examples
    --------
    >>> from pyqref import nn
    >>> model = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout()).eval()
    >>> [name for name, _ in optimize_for_inference(model).named_children()]
    ['0']
    """
    steps = {"conv_bn_fuse": True, "remove_dropout": True, "mkldnn_layout_optimize": False}
    for key, value in (pass_config or {}).items():
        if key not in steps:
            raise ValueError(f"pass_config must have keys among {sorted(steps)}, got {key!r}")
        steps[key] = value is not False
    if steps["mkldnn_layout_optimize"]:
        raise ValueError(
            "pass_config asks for mkldnn_layout_optimize, a layout of another library; leave it out"
        )
    own = copy.deepcopy(model)
    made = GraphModule(own, tracer().trace(own))
    if steps["conv_bn_fuse"]:
        made = fuse(made, inplace=True, no_trace=True)
    return remove_dropout(made) if steps["remove_dropout"] else made
