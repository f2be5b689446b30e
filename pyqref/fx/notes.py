"""Notes on nodes beyond the graph itself, for pictures and for text.

A graph says which module a node calls; that the module looks at numbers, or that a value is
made of integers, it does not say. Whoever knows leaves a function in the graph module,
``graph_module.meta["notes"]``, which takes the graph module and gives a :class:`Note` for each
node of which it knows something. It is asked whenever a graph is drawn or printed, so what it
says is what holds at that moment.
"""

from __future__ import annotations

from dataclasses import dataclass

from .node import Node

__all__ = ["NOTES", "Note", "notes_of"]

#: The key in ``graph_module.meta``.
NOTES = "notes"


@dataclass(frozen=True)
class Note:
    """Note on a node.

    Attributes
    ----------
    kind
        What the node does, instead of its target; lines.
    settings
        Its settings, instead of the module's own ``extra_repr`` and the constants among the
        arguments; lines. None for those.
    remark
        What settings do not say, such as the type of a quantized weight; lines.
    value
        What its value is; lines. It stands at the edges that leave the node.
    style
        One of :data:`~pyqref.fx.styles.STYLES`, instead of that of the opcode.
    integers
        Whether the value is made of integers.
    implied
        Whether the value is told by the notes of its users, so that a picture can leave the
        node out.
    """

    kind: str = ""
    settings: str | None = None
    remark: str = ""
    value: str = ""
    style: str = ""
    integers: bool = False
    implied: bool = False


def notes_of(graph_module: object) -> dict[Node, Note]:
    """The notes of a graph module; what stands in ``node.meta`` comes first.

    Parameters
    ----------
    graph_module
        A graph module, or None, which has none.
    """
    ask = getattr(graph_module, "meta", {}).get(NOTES)
    found: dict[Node, Note] = {} if ask is None else ask(graph_module)
    return found
