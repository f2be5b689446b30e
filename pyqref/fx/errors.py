"""The error of a model that cannot be traced, and where in the user's text it happened.

A trace runs the user's ``forward`` once with stand-ins for the tensors. A stand-in has
no value: whatever asks for one (a branch, a loop, a length, a number) ends the trace.
"""

from __future__ import annotations

import linecache
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from .._insides.stack import caller
from .._typing import Node

__all__ = ["SourceLine", "TraceError", "explain", "user_line"]

PACKAGE = str(Path(__file__).resolve().parent.parent)


class TraceError(ValueError):
    """A model does something that no graph can record.

    The message names the user's file, line and text, the value that was asked for and how
    it was made, and the ways out.

    Examples
    --------
    >>> from pyqref import fx
    >>> def forward(x):
    ...     return x if x.sum() > 0 else -x
    >>> try:
    ...     fx.symbolic_trace(forward)
    ... except fx.TraceError as error:
    ...     reason = str(error).splitlines()[0]
    >>> reason[:42]
    'A branch (if, while, and, or, not, assert)'
    """


@dataclass(frozen=True)
class SourceLine:
    """A place in the user's text.

    Attributes
    ----------
    file, line, function
        Where it is.
    text
        The line itself, without indentation.

    Examples
    --------
    >>> from pyqref.fx import SourceLine
    >>> print(SourceLine("net.py", 7, "forward", "if x.sum() > 0:"))
    File "net.py", line 7, in forward
        if x.sum() > 0:
    """

    file: str
    line: int
    function: str
    text: str

    def __str__(self) -> str:
        place = f'File "{self.file}", line {self.line}, in {self.function}'
        return f"{place}\n    {self.text}" if self.text else place


#: For generated files, the user's line from which each of their lines comes.
GENERATED: dict[str, dict[int, SourceLine]] = {}


def user_line() -> SourceLine | None:
    """The innermost line under way that lies outside this package.

    For a line that was generated from a graph, the line from which the graph was made.
    """
    frame: FrameType | None = caller()
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(PACKAGE) and not file.startswith("<frozen"):
            if file in GENERATED and frame.f_lineno in GENERATED[file]:
                return GENERATED[file][frame.f_lineno]
            text = linecache.getline(file, frame.f_lineno, frame.f_globals).strip()
            return SourceLine(file, frame.f_lineno, frame.f_code.co_name, text)
        frame = frame.f_back
    return None


WHY = "while the model is traced it runs without data, and there is no value"
WAYS_OUT = """\
Ways out:
  - put the lines into a function of their own and record its call as one node:
    pyqref.fx.wrap(function), before tracing;
  - keep the module that holds them whole, as a leaf: a subclass of pyqref.fx.Tracer whose
    is_leaf_module returns True for it; when quantizing, list it with
    PrepareCustomConfig().set_non_traceable_module_names([{name}])
    or .set_non_traceable_module_classes([{kind}]);
  - {rewrite}."""


def explain(what: str, node: Node, rewrite: str, scope: Any = None) -> TraceError:
    """The error for a value that was asked for.

    Parameters
    ----------
    what
        What the model did with it, such as ``"A branch depends on a traced value"``.
    node
        The node whose value was asked for.
    rewrite
        How the line could be rewritten so that it can be recorded.
    scope
        The module whose ``forward`` is under way: ``module_path`` and ``module_type``.
    """
    here = user_line()
    parts = [f"{what}: {WHY}."]
    if here is not None:
        parts.append(f"  {here}")
    inside = scope is not None and bool(scope.module_path)
    if inside:
        parts.append(f"This is in the module {scope.module_path!r} ({scope.module_type.__name__}).")
    parts.append(f"The value is {node.name!r}, {_how(node)}.")
    made_at = node.meta.get("source")
    if made_at is not None and made_at != here:
        parts.append(f"It was made at\n  {made_at}")
    names = (repr(scope.module_path), scope.module_type.__name__) if inside else ("name", "type")
    parts.append(WAYS_OUT.format(name=names[0], kind=names[1], rewrite=rewrite))
    return TraceError("\n".join(parts))


def _how(node: Any) -> str:
    if node.op == "placeholder":
        return f"the input {node.target!r} of the model"
    if node.op == "get_attr":
        return f"the attribute {node.target!r} of the model"
    arguments = ", ".join(
        [*(str(each) for each in node.args), *(f"{k}={v}" for k, v in node.kwargs.items())]
    )
    if node.op == "call_module":
        return f"the result of the module {node.target!r}, called with ({arguments})"
    if node.op == "call_method":
        return f"the result of the method .{node.target}, called with ({arguments})"
    name = getattr(node.target, "__name__", str(node.target))
    return f"the result of {name}({arguments})"
