"""Pass: insert observers.

Before the root of a quantized pattern stand the observers of its inputs, unless the value
is observed already; behind its last node stands that of its output::

    x -> linear -> y                                          before
    x -> observer 0 -> linear -> observer 1 -> y              after

Where the output is on the grid of the input (``ObservationType.OUTPUT_SHARE...``), both
observers are one module, see :mod:`.sharing`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pyqref.dtypes import quint8
from pyqref.fx import GraphModule, Node, map_arg
from pyqref.quantization.backend_config import ObservationType
from pyqref.quantization.observer.reuse_input import ReuseInputObserver

from .matching import Match
from .observed import Preparation, is_observer_node
from .paths import free_name
from .reasons import keep_reason
from .sharing import remove_output_observer, share_with_input
from .targets import (
    FLOAT,
    NO_TENSOR,
    Target,
    Want,
    observation_type,
    observed_output,
    target_of_match,
)
from .tensor_values import has_tensor

__all__ = ["insert_observers"]

SHARED = ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT
#: Functions and methods whose value is a tuple of tensors, which no observer can see.
SEVERAL = frozenset({"chunk", "split", "split_with_sizes", "tensor_split", "unbind"})


@dataclass
class _Work:
    """State of the pass for each node."""

    model: GraphModule
    preparation: Preparation
    matches: dict[Node, Match]
    targets: dict[Node, Target] = field(default_factory=dict)
    tensors: dict[Node, bool] = field(default_factory=dict)

    def modules(self) -> dict[str, Any]:
        return dict(self.model.named_modules(remove_duplicate=False))


def insert_observers(
    model: GraphModule,
    preparation: Preparation,
    matches: dict[Node, Match],
    special: Callable[[Node], Target | None],
    after: Callable[[Node], tuple[list[Node], set[Node]]],
) -> None:
    """Insert the observers, in place.

    Parameters
    ----------
    model
        The fused model.
    preparation
        Knows the qconfigs; is told which nodes are observed.
    matches
        The patterns that are quantized.
    special
        What custom and standalone modules want; None for other nodes.
    after
        Called for those once their inputs and output are observed; gives the nodes that it
        added, whose values are quantized, and those that have no use any more.
    """
    work = _Work(model, preparation, matches)
    nodes = list(model.graph.nodes)
    _find_targets(work, nodes, special)
    for node in nodes:
        match = matches.get(node)
        if node.op == "output":
            _observe_outputs(work, node)
        elif match is not None:
            _observe(work, node, match)
        elif special(node) is not None:
            preparation.observed.add(node.name)
            _observe_inputs(work, node, work.targets[node], None)
            _observe_output(work, node)
            _take_over(work, node, *after(node))
    model.graph.lint()
    model.recompile()


def _take_over(work: _Work, node: Node, added: list[Node], unused: set[Node]) -> None:
    """Values that a special module quantizes itself are not observed again."""
    given = Want(None, work.targets[node].input.dtype)
    for each in added:
        work.targets[each] = Target(given, FLOAT.weight, FLOAT.bias, given)
        work.tensors[each] = True
    for each in unused:
        work.matches.pop(each, None)


def _find_targets(work: _Work, nodes: list[Node], special: Callable[[Node], Target | None]) -> None:
    modules, custom = work.modules(), work.preparation.custom
    inputs = 0
    for node in nodes:
        work.tensors[node] = has_tensor(node, work.tensors, modules)
        target = FLOAT if work.tensors[node] else NO_TENSOR
        match = work.matches.get(node)
        if node.op == "placeholder":
            if inputs in custom.input_quantized_indexes:
                target = observed_output(quint8)
            inputs += 1
        elif match is not None and work.tensors[node]:
            qconfig = work.preparation.qconfigs[match.root.name]
            target = target_of_match(match, qconfig)
            if _reuses_input(qconfig):
                # The value stays what it was: on a grid, or float.
                target = Target(FLOAT.input, target.weight, target.bias, _source(work, node).output)
        work.targets[node] = special(node) or target


def _reuses_input(qconfig: Any) -> bool:
    return isinstance(qconfig.activation(), ReuseInputObserver)


def _source(work: _Work, node: Node) -> Target:
    return _target_of(work, node.all_input_nodes[0])


def _target_of(work: _Work, node: Node) -> Target:
    """The target of a node; of an inserted observer that of the node observed."""
    return work.targets[node if node in work.targets else node.args[0]]


def _observe(work: _Work, node: Node, match: Match) -> None:
    """A node of a quantized pattern: inputs at its root, the output behind its end."""
    if work.targets[node] is NO_TENSOR or not work.tensors[node]:
        if match.config.observation_type is not ObservationType.INPUT_OUTPUT_NOT_OBSERVED:
            keep_reason(node, "it computes with sizes, not with tensors")
        return
    reuses = _reuses_input(work.preparation.qconfigs[match.root.name])
    if reuses and not work.targets[node].output.is_observed:
        keep_reason(node, "its input is not quantized, and it keeps the input's type")
        return
    work.preparation.observed.update(each.name for each in match.all_nodes())
    shares = observation_type(match, work.tensors) is SHARED or reuses
    if node is match.root and not reuses:
        _observe_inputs(work, node, work.targets[node], match)
    if node is not match.last or not work.targets[node].output.is_observed:
        return
    if reuses:
        work.targets[node] = _source(work, node)
    observer = _observe_output(work, node)
    if not shares or observer is None:
        return
    if _is_quantized_input(work, match.root):
        return
    if not share_with_input(work.model, match.root, node):
        remove_output_observer(work.model, node)


def _is_quantized_input(work: _Work, node: Node) -> bool:
    """Return True if the first argument is an input of the model that is quantized already."""
    first = node.args[0] if node.args else None
    return isinstance(first, Node) and first.op == "placeholder"


def _observe_inputs(work: _Work, node: Node, target: Target, match: Match | None) -> None:
    only_first = match is not None and observation_type(match, work.tensors) is SHARED
    only_first = only_first and not match.config._num_tensor_args_to_observation_type  # type: ignore[union-attr]
    args = []
    for index, arg in enumerate(node.args):
        if only_first and index > 0:
            args.append(arg)
            continue
        want = _want(match, target, index, None)
        args.append(map_arg(arg, partial(_observed, work, want, index)))
    kwargs = {}
    for name, arg in node.kwargs.items():
        want = _want(match, target, None, name)
        kwargs[name] = map_arg(arg, partial(_observed, work, want, 1))
    node.args, node.kwargs = tuple(args), kwargs


def _want(match: Match | None, target: Target, index: int | None, name: str | None) -> Want:
    """Return what an argument needs as input, weight or bias."""
    if match is not None:
        for kind, place in match.roles.items():
            if index == place or name == kind:
                return {"weight": target.weight, "bias": target.bias}.get(kind, target.input)
    return target.input


def _observed(work: _Work, want: Want, index: int, arg: Node) -> Node:
    """The value of an argument after its observer, a new one if need be."""
    given = _target_of(work, arg).output
    if _name(arg) in SEVERAL:
        return arg
    if want.is_dynamic:
        if index != 0 or not work.tensors.get(arg, True):
            return arg
    elif not want.is_observed or given.dtype is None or given.dtype is want.dtype:
        return arg
    modules = work.modules()
    observer = want.recipe()
    for user in arg.users:
        if is_observer_node(user, modules):
            other = modules[user.target]
            same = type(other) is type(observer) and other.dtype is want.dtype
            if same and getattr(other, "is_dynamic", False) == want.is_dynamic:
                return user
    return _insert(work, arg, observer)


def _name(node: Node) -> str:
    return str(
        node.target if isinstance(node.target, str) else getattr(node.target, "__name__", "")
    )


def _insert(work: _Work, value: Node, observer: Any) -> Node:
    """Put an observer behind a value; its users are not told."""
    name = free_name(work.model, "activation_post_process_")
    setattr(work.model, name, observer)
    with work.model.graph.inserting_after(value):
        node = work.model.graph.call_module(name, (value,))
    work.tensors[node] = True
    return node


def _observe_output(work: _Work, node: Node) -> Node | None:
    want = work.targets[node].output
    if not want.is_observed or want.is_dynamic or want.recipe is None:
        return None
    users = list(node.users)
    observer = _insert(work, node, want.recipe())
    for user in users:
        user.replace_input_with(node, observer)
    return observer


def _observe_outputs(work: _Work, node: Node) -> None:
    """Outputs of the model that stay quantized must be observed."""
    indexes = work.preparation.custom.output_quantized_indexes
    if not indexes:
        return
    results = node.args[0]
    listed = list(results) if isinstance(results, tuple | list) else [results]
    for index, each in enumerate(listed):
        if index in indexes:
            listed[index] = map_arg(each, partial(_observed_output, work, index))
    node.args = (type(results)(listed) if isinstance(results, tuple | list) else listed[0],)


def _observed_output(work: _Work, index: int, value: Node) -> Node:
    """A tensor that the model gives, after its observer; a size as it is."""
    if not work.tensors[value]:
        return value
    return _observed(work, _wanted_output(work, value, index), 0, value)


def _wanted_output(work: _Work, node: Node, index: int) -> Want:
    """The grid that the value is on; else one as the qconfig of the operation, or of all, says."""
    given = _target_of(work, node).output.dtype
    if given is not None and given.is_quantized:
        return Want(None, given)
    everything = work.preparation.qconfig_mapping.global_qconfig
    for qconfig in (work.preparation.qconfigs.get(node.name), everything):
        if qconfig is None:
            continue
        observer = qconfig.activation()
        dtype = getattr(observer, "dtype", None)
        if dtype is not None and dtype.is_quantized and not getattr(observer, "is_dynamic", False):
            return Want(qconfig.activation, dtype)
    raise ValueError(
        f"output {index} cannot stay quantized: neither {node.name!r} nor everything has a "
        "qconfig with static, quantized activations; set one in the qconfig_mapping"
    )
