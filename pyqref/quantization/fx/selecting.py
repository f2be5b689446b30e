"""Pass: choose the patterns that are quantized.

All patterns of the back end are looked for. A match is kept if its qconfig is not None
and the back end can do what the qconfig asks for. For every node that stays float the
reason is kept. The graph is as before; the nodes are divided::

    x -> linear -> sin -> sigmoid -> y          before
         kept: linear                           after, with sigmoid=None in the mapping
         float: sin      (the back end has no pattern for it)
                sigmoid  (its qconfig is None)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from pyqref.fx import GraphModule, Node

from .dtype_support import unsupported_reason
from .matching import Match, find_matches
from .observed import Preparation
from .reasons import keep_reason

__all__ = ["select_matches"]


def select_matches(
    model: GraphModule, preparation: Preparation, owned: Callable[[Node], bool]
) -> tuple[dict[Node, Match], dict[Node, Match]]:
    """The matches that are quantized, by node, and those whose QConfig does not fit.

    Parameters
    ----------
    model
        The fused model.
    preparation
        Knows the qconfigs and the back end.
    owned
        Whether a node is a custom or standalone module, which no pattern concerns.
    """
    configs = preparation.backend_config._pattern_complex_format_to_config.items()
    calls = Counter(each.target for each in model.graph.nodes if each.op == "call_module")

    def accept(match: Match) -> bool:
        # Layers that could not be fused because one is called elsewhere, too, stand alone.
        return match.config.fuser_method is None or calls[match.root.target] == 1

    found = find_matches(model, configs, accept)
    kept: dict[Node, Match] = {}
    refused: dict[Node, Match] = {}
    for node in model.graph.nodes:
        if node.op in ("placeholder", "get_attr", "output") or owned(node):
            continue
        reason = _reason(node, found.get(node), preparation)
        if reason is None:
            kept[node] = found[node]
            continue
        keep_reason(node, reason)
        if node in found and preparation.qconfigs[found[node].root.name] is not None:
            refused[node] = found[node]
    return kept, refused


def _reason(node: Node, match: Match | None, preparation: Preparation) -> str | None:
    if match is None:
        name = preparation.backend_config.name
        return f"the back end {name!r} has no pattern for it"
    qconfig = preparation.qconfigs[match.root.name]
    if qconfig is None:
        return "its qconfig is None"
    return unsupported_reason(match, qconfig)
