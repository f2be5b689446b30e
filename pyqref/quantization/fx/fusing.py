"""Pass: fuse.

Looks for the patterns for which the back end has a ``fuser_method``, and puts their modules
together::

    x -> conv -> bn -> relu -> y            before
    x -> conv (ConvReLU2d) -> y             after; bn is folded into the weight

With ``is_qat`` the batch norm is kept inside the fused module.
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule, Node
from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.quantization.backend_config import BackendConfig
from pyqref.quantization.backend_config.pattern_format import MatchAllNode
from pyqref.tensor import relu, tanh

from .matching import Match, find_matches
from .paths import replace_module

__all__ = ["fuse"]

#: Modules that do what functions in patterns do, with the arguments to take over; they
#: take part in fused modules.
MODULE_OF_FUNCTION: dict[Any, tuple[Any, tuple[str, ...]]] = {
    F.relu: (nn.ReLU, ()),
    relu: (nn.ReLU, ()),
    tanh: (nn.Tanh, ()),
    F.leaky_relu: (nn.LeakyReLU, ("negative_slope",)),
}


def fuse(model: GraphModule, is_qat: bool, backend_config: BackendConfig) -> GraphModule:
    """Fuse all patterns that can be, in place.

    Parameters
    ----------
    model
        The traced model.
    is_qat
        Whether for training.
    backend_config
        What can be fused, and how.
    """
    configs = backend_config._pattern_complex_format_to_config.items()
    fusible = [(pattern, each) for pattern, each in configs if each.fuser_method is not None]

    def accept(match: Match) -> bool:
        return not is_qat or not getattr(match.config.fuser_method, "evaluation_only", False)

    found = find_matches(model, fusible, accept)
    modules = dict(model.named_modules(remove_duplicate=False))
    fused: dict[Node, Node] = {}
    for node in list(model.graph.nodes):
        match = found.get(node)
        if match is not None and match.last is node and _is_alike_everywhere(model, match, found):
            _fuse(model, match, is_qat, modules, fused)
    model.graph._free_names()  # as in torch, which writes a new graph here
    model.graph.lint()
    model.recompile()
    return model


def _is_alike_everywhere(model: GraphModule, match: Match, found: dict[Node, Match]) -> bool:
    """Return True if all calls of the module with the weight stand in the same pattern.

    Otherwise the ReLU behind one call would be put behind the other, too.
    """
    calls = [each for each in model.graph.nodes if each.target == match.root.target]
    return all(each in found and found[each].pattern == match.pattern for each in calls)


def _fuse(
    model: GraphModule,
    match: Match,
    is_qat: bool,
    modules: dict[str, Any],
    fused: dict[Node, Node],
) -> None:
    """Put the modules of one match together.

    ``fused`` has, for the last node of each match that was fused before, the node that has its
    value now: an extra input may be one.
    """
    root = match.root
    parts = _modules(match.nodes, match.pattern, modules, modules[root.target].training)
    if match.config._pattern_complex_format is None:
        parts = tuple(reversed(_flat(parts)))
    assert match.config.fuser_method is not None
    try:
        module = match.config.fuser_method(is_qat, *parts)
    except (AssertionError, ValueError) as error:
        what = f"{root.target} ({type(modules[root.target]).__name__})"
        raise type(error)(f"cannot fuse {what}: {error}") from None
    replace_module(model, root.target, module)
    if match.config._extra_inputs_getter is not None:
        extra = match.config._extra_inputs_getter(match.nodes)
        root.args = (*root.args, *(fused.get(each, each) for each in extra))
    fused[match.last] = root
    if match.last is not root:
        match.last.prepend(root)
        match.last.replace_all_uses_with(root)
    for node in match.all_nodes():
        if node is not root:
            model.graph.erase_node(node)


def _modules(nodes: Any, pattern: Any, modules: dict[str, Any], training: bool) -> Any:
    """The modules of a match, nested as its pattern; functions as modules that do the same."""
    if pattern is MatchAllNode:
        return MatchAllNode
    if isinstance(nodes, tuple):
        pairs = zip(nodes, pattern, strict=True)
        return tuple(_modules(node, part, modules, training) for node, part in pairs)
    if nodes.op == "call_module":
        return modules[nodes.target]
    if nodes.target in MODULE_OF_FUNCTION:
        kind, names = MODULE_OF_FUNCTION[nodes.target]
        options = {name: nodes.kwargs[name] for name in names if name in nodes.kwargs}
        return kind(**options).train(training)
    return nodes.target


def _flat(parts: Any) -> list[Any]:
    if isinstance(parts, tuple):
        return [each for part in parts for each in _flat(part)]
    return [parts]
