"""Errors of a graph are told in the words of the user's model.

A graph is run, calibrated and converted node by node. What fails says which module or operation
of the user's it was, and the line in which it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from pyqref._typing import Tensor
from pyqref.fx import GraphModule, Node

from .observed import is_observer_node
from .places import place, source_line

__all__ = ["TellingGraphModule", "telling"]

_TOLD = "_quantization_node_is_told"


@contextmanager
def telling(model: GraphModule, node: Node) -> Iterator[None]:
    """Let errors inside say at which node of the model they came.

    Parameters
    ----------
    model
        The model.
    node
        The node that is worked on.
    """
    try:
        yield
    except Exception as error:
        _tell(error, model, node)
        raise


class TellingGraphModule(GraphModule):
    """A graph whose errors name the user's module and line."""

    def __call__(self, *args: Tensor, **kwargs: object) -> Tensor:
        try:
            return super().__call__(*args, **kwargs)
        except Exception as error:
            node = _node_at(self, error.__traceback__)
            if node is not None:
                _tell(error, self, node)
            raise

    def __copy__(self) -> GraphModule:
        copied = super().__copy__()
        return type(self).__mro__[1](copied, copied.graph, type(self).__name__)


def _node_at(model: GraphModule, traceback: TracebackType | None) -> Node | None:
    """The node whose line of ``forward`` was under way."""
    code: Any = getattr(type(model).forward, "__code__", None)
    line = None
    while traceback is not None:
        if traceback.tb_frame.f_code is code:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    written = model.graph.python_code("self")
    if line is None or written.src != model.code:
        return None
    # The first statement stands in the line after "def forward".
    index = line - written.src[: written.src.index("\ndef ")].count("\n") - 3
    return written.lines[index][0] if 0 <= index < len(written.lines) else None


def _of_the_observed(text: str, observed: Any, modules: dict[str, Any]) -> str:
    """Whose qconfig "the qconfig of this module" is; an input and an attribute have none."""
    if not isinstance(observed, Node) or observed.op in ("placeholder", "get_attr"):
        return text.replace(", or set the qconfig of this module to None", "")
    return text.replace("this module", place(observed, modules))


def _tell(error: Exception, model: GraphModule, node: Node) -> None:
    """Add the place of a node to the text of an error, once."""
    if getattr(error, _TOLD, False) or not error.args or not isinstance(error.args[0], str):
        return
    if isinstance(error, KeyError):  # it shows a repr
        return
    modules = dict(model.named_modules(remove_duplicate=False))
    text, where = error.args[0], place(node, modules)
    if is_observer_node(node, modules):
        kind = type(modules[node.target]).__name__
        text = text.replace(f"{kind} at {node.target!r}", where)
        text = _of_the_observed(text, node.args[0], modules)
    lines = [text] if where in text else [text, f"  at {where}"]
    source = source_line(node)
    if source is not None:
        lines.append(f"  {source}")
    error.args = ("\n".join(lines), *error.args[1:])
    setattr(error, _TOLD, True)
