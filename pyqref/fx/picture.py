"""A graph as boxes and arrows: what a picture shows, before anything is drawn."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._typing import GraphModule
from .graph import Graph
from .node import Node
from .notes import Note, notes_of
from .styles import LEGEND

__all__ = ["Arrow", "Box", "EdgeLabel", "Label", "Picture", "picture"]

WIDTH = 44

Label = Callable[[Node], "str | None"]
EdgeLabel = Callable[[Node, Node], "str | None"]


@dataclass(frozen=True)
class Box:
    """A node.

    Attributes
    ----------
    name
        Of the node.
    lines
        Path and kind of a module, or the function.
    small
        Settings, in smaller type.
    style
        A key of :data:`~pyqref.fx.styles.STYLES`.
    """

    name: str
    lines: tuple[str, ...]
    small: tuple[str, ...]
    style: str


@dataclass(frozen=True)
class Arrow:
    """An edge, from a node to its user; ``lines`` say what the value is."""

    source: str
    target: str
    lines: tuple[str, ...]
    integers: bool


@dataclass(frozen=True)
class Picture:
    """Title, boxes in the order of the graph, arrows, and the styles to be explained."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    legend: tuple[str, ...]


def picture(
    graph_module: GraphModule | Graph,
    title: str | None = None,
    node_label: Label | None = None,
    edge_label: EdgeLabel | None = None,
    implied: bool = False,
) -> Picture:
    """Return the contents of a picture of a graph.

    Parameters
    ----------
    graph_module, title, node_label, edge_label, implied
        As for :func:`~pyqref.fx.draw`.
    """
    graph: Graph = graph_module if isinstance(graph_module, Graph) else graph_module.graph
    owner = graph.owning_module
    if title is None:
        title = "" if owner is None else type(owner).__name__
    modules = {} if owner is None else dict(owner.named_modules(remove_duplicate=False))
    known = notes_of(owner)
    notes = {node: known.get(node, Note()) for node in graph.nodes}
    shown = [node for node in graph.nodes if implied or not notes[node].implied]
    boxes = tuple(
        _box(node, notes[node], owner, modules, (node_label or _meta_label)(node)) for node in shown
    )
    arrows = []
    for node in shown:
        for used in node.all_input_nodes:
            if not implied and notes[used].implied:
                continue
            text = edge_label(used, node) if edge_label else _edge(used, node, notes[used])
            lines = tuple((text or "").splitlines())
            arrows.append(Arrow(used.name, node.name, lines, notes[used].integers))
    styles = {"placeholder" if box.style == "output" else box.style for box in boxes}
    return Picture(title, boxes, tuple(arrows), tuple(each for each in LEGEND if each in styles))


def _meta_label(node: Node) -> str | None:
    found: str | None = node.meta.get("label")
    return found


def _edge(node: Node, user: Node, note: Note) -> str | None:
    found = node.meta.get("edge", note.value)
    return found.get(user.name) if isinstance(found, dict) else found


def _box(node: Node, note: Note, owner: Any, modules: dict[str, Any], extra: str | None) -> Box:
    module = modules.get(node.target) if node.op == "call_module" else None
    lines = []
    if module is not None:
        path = [node.target] if node.target != node.name else []
        lines = [*path, *(note.kind or type(module).__name__).splitlines()]
    elif node.op not in ("placeholder", "output"):
        target = note.kind or _target(node)
        # quantize_per_tensor_1 says what it calls.
        lines = (
            [] if re.fullmatch(rf"{re.escape(target)}(_\d+)?", node.name) else target.splitlines()
        )
    small = _settings(node, note, owner, module)
    if note.settings is None:
        small.extend(_wrapped(_constants(node)))
    small.extend(part for each in note.remark.splitlines() for part in textwrap.wrap(each, WIDTH))
    small.extend((extra or "").splitlines())
    return Box(
        node.name,
        tuple(map(_short, lines)),
        tuple(map(_short, small)),
        note.style or node.op,
    )


def _wrapped(text: str | None) -> list[str]:
    """Text in two lines at most."""
    lines = textwrap.wrap(text or "", WIDTH)
    return lines if len(lines) <= 2 else [lines[0], _short(" ".join(lines[1:]))]


def _short(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _target(node: Node) -> str:
    if node.op == "call_method":
        return f".{node.target}()"
    name = node.target_name()
    return name.removeprefix("pyqref.").removeprefix("builtins.")


def _settings(node: Node, note: Note, owner: Any, module: Any) -> list[str]:
    """Return the settings of a module, or the dtype and shape of an attribute."""
    if note.settings is not None:
        return [line for each in note.settings.splitlines() for line in _wrapped(each)]
    if module is not None:
        return _wrapped(str(module.extra_repr()))
    found = owner
    for step in node.target.split(".") if node.op == "get_attr" else ():
        found = getattr(found, step, None)
    if node.op != "get_attr" or not (hasattr(found, "shape") and hasattr(found, "dtype")):
        return []
    return [f"{str(found.dtype).removeprefix('pyqref.')} {tuple(found.shape)}"]


def _constants(node: Node) -> str | None:
    """The arguments that are no nodes and not the defaults of nothing."""
    if node.op in ("placeholder", "output", "get_attr"):
        return None
    plain = [_plain(each) for each in node.args if not _holds_node(each)]
    named = [
        f"{key}={_plain(each)}"
        for key, each in node.kwargs.items()
        if not _holds_node(each) and each is not None and each is not False
    ]
    return ", ".join([*plain, *named]) or None


def _plain(value: Any) -> str:
    return str(value).removeprefix("pyqref.")


def _holds_node(value: Any) -> bool:
    if isinstance(value, tuple | list):
        return any(_holds_node(each) for each in value)
    return isinstance(value, Node)
