"""Every message of the package that says what to do, and every recipe that a test follows.

A *message* is a string of the package that stands in code: no docstring, no help text of the
command line, no prose of the course or the demo. What an f-string fills in reads ``{}``.

A *recipe* is a clause of a message that begins with an imperative: "...; call model.eval() first".

A recipe is *followed* where a test of this folder provokes its message under
``says("call model.eval() first")`` and then does what it reads. The fragment must hold the
first word of the clause; one test may answer for all messages that end in the same advice.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyqref

PACKAGE = Path(pyqref.__file__).parent
HERE = Path(__file__).parent
#: Folders whose strings are prose, but for what they raise.
PROSE = {"course", "demo", "sphinx"}
#: Keywords of ``argparse`` whose strings are shown by --help.
HELP = {"help", "description", "epilog", "usage"}

VERBS = (
    "add|apply|assign|attach|avoid|bring|build|calibrate|call|cast|change|check|choose|"
    "clone|compute|consider|convert|copy|correct|create|cut|declare|define|dequantize|"
    "detach|disable|divide|draw|drop|enable|ensure|enter|exclude|export|feed|fill|fix|"
    "follow|freeze|fuse|give|go|hand|ignore|import|increase|initialize|insert|install|join|"
    "keep|leave|let|limit|load|look|loop|make|map|mark|move|multiply|observe|open|order|"
    "override|pass|pick|place|point|prefer|prepare|provide|put|quantize|raise|read|record|"
    "reduce|register|remove|rename|reorder|repeat|replace|reset|reshape|restore|retain|"
    "reuse|rewrite|round|run|save|see|set|share|shift|skip|specify|split|squeeze|stack|stop|"
    "store|strip|swap|switch|take|tell|trace|train|transpose|try|turn|unfreeze|unpack|"
    "update|upgrade|use|wait|widen|wrap|write"
)
#: What follows the word of a verb where it is a noun or the name of an argument.
_NOUN = (
    "up|and convert (?:do|have)|do so|have one|must|cannot|can|may|will|does|takes?|is|has|out of"
    "|got|expects?|supports|attributes|swaps|operator|args|to scalar|custom config|to {}"
)
_CLAUSE = re.compile(
    r"(?:^|[;:.,(!]\s|\s-\s|\b(?:or|and|so|please|then|else|you can)\s)\s*"
    rf"((?:(?:{VERBS})(?! (?:{_NOUN})(?!\w))|do(?= it)|(?:list|name)(?= (?:it|them)\b))(?=[ (.]|$)"
    r"|run: |a (?:De)?QuantStub is missing)",
    re.IGNORECASE,
)


class Message(NamedTuple):
    """A string of the package, where it stands, and where its recipes begin."""

    place: str
    text: str

    def recipes(self) -> list[int]:
        return [match.start(1) for match in _CLAUSE.finditer(self.text)]

    def without(self, fragments: frozenset[str]) -> list[str]:
        """The recipes whose first word no fragment holds."""
        held = [each for each in fragments if each in self.text]
        return [
            self.text[start:]
            for start in self.recipes()
            if not any(_holds(self.text, each, start) for each in held)
        ]


def _holds(text: str, fragment: str, at: int) -> bool:
    """Return True if the text has the fragment at a position that covers this place."""
    first = text.find(fragment, max(0, at + 1 - len(fragment)))
    return 0 <= first <= at


def plain(text: str) -> str:
    """A text with single spaces between its words."""
    return " ".join(text.split())


@cache
def trees() -> dict[str, ast.Module]:
    """The files of the package, taken apart."""
    return {
        str(path.relative_to(PACKAGE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(PACKAGE.rglob("*.py"))
        # Tables: of names of torch, and of what to do instead (tests/run/test_advice_followed.py).
        if path.name not in ("_advice_packages.py", "_advice_table.py", "_other_paths_table.py")
    }


@cache
def messages() -> tuple[Message, ...]:
    """All messages of the package, in the order of its files."""
    found = []
    for place, tree in trees().items():
        roots: list[ast.AST] = [tree]
        if place.split("/")[0] in PROSE:
            roots = [each for each in ast.walk(tree) if isinstance(each, ast.Raise)]
        for root in roots:
            for line, text in _strings(root):
                shown = plain(text)
                if " " in shown:
                    found.append(Message(f"{place}:{line}", shown))
    return tuple(found)


@cache
def fragments() -> frozenset[str]:
    """Return the fragments that the tests of this folder provoke: the texts of ``says(...)``."""
    return frozenset(
        plain(argument.value)
        for path in sorted(HERE.glob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "says"
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    )


def _strings(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return  # a docstring
    if isinstance(node, ast.keyword) and node.arg in HELP:
        return
    text = _text(node)
    if text is not None:
        assert isinstance(node, ast.expr)
        yield node.lineno, text
        node = ast.Module([], [])
    for child in ast.iter_child_nodes(node):
        yield from _strings(child)


def _text(node: ast.AST) -> str | None:
    """The text of a literal, of an f-string, or of a sum of them."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(each) or "{}" for each in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = _text(node.left), _text(node.right)
        return None if None in parts else "".join(map(str, parts))
    return None
