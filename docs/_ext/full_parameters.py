"""Put full texts where a docstring says that a parameter is as of another class or function.

A docstring in the source stays short: ``stride, padding`` are "As of :class:`pyqref.nn.Conv2d`".
A reader of the page of one class should not have to open a second one, so the page has the texts
of the other docstring in their place.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

SECTIONS = ("Parameters", "Attributes", "Other Parameters", "Raises")
REFERENCE = re.compile(r"As (?:of|for|in) :(?:class|func|meth):`~?([\w.]+)`(?P<rest>.*)", re.DOTALL)

SEE = re.compile(r"(?:\b[Ss]ee|^As) :(?:class|func|meth):`~?([\w.]+)`")


class Item(NamedTuple):
    """One entry of a section: names, with or without a type, and lines that describe them."""

    head: str
    text: list[str]

    @property
    def names(self) -> list[str]:
        """The names that the entry is about."""
        return [each.strip() for each in self.head.partition(" : ")[0].split(",")]


def sections(lines: list[str]) -> Iterator[tuple[str, int, int]]:
    """The title of each section, and where its entries begin and end."""
    starts = [
        i + 2
        for i in range(len(lines) - 1)
        if lines[i].strip() and re.fullmatch(r"-{3,}", lines[i + 1])
    ]
    for start, following in pairwise([*starts, len(lines) + 2]):
        yield lines[start - 2].strip(), start, following - 2


def items(lines: list[str]) -> list[Item]:
    """The entries of a section."""
    found: list[Item] = []
    for line in lines:
        if line.strip() and not line[0].isspace():
            found.append(Item(line, []))
        elif found:
            found[-1].text.append(line)
    return found


def target_of(path: str, home: str) -> Any:
    """The class or function that a docstring of module ``home`` names; None if there is none.

    A name without a path is one of the module, or of a package around it.
    """
    first, _, attribute = path.rpartition(".")
    places = [first] if first else [home.rsplit(".", i)[0] for i in range(home.count(".") + 1)]
    for place in places:
        try:
            found = getattr(importlib.import_module(place), attribute, None)
        except ImportError:  # the path of a method
            holder = target_of(place, home) if "." in place else None
            found = getattr(holder, attribute, None)
        if callable(found):  # and not the file that is called as its function
            return found
    return None


def described(target: Any, title: str) -> list[Item]:
    """The entries of one section of the docstring of ``target``, themselves complete."""
    lines = full_text(target, (inspect.getdoc(target) or "").splitlines())
    return [
        item
        for found, start, end in sections(lines)
        if found == title
        for item in items(lines[start:end])
    ]


def sentence(rest: str) -> str:
    """The end of a sentence that goes on after the reference, as a sentence of its own."""
    rest = rest.strip().lstrip(".;,").strip()
    return rest[:1].upper() + rest[1:]


def complete(item: Item, title: str, home: str) -> list[Item]:
    """The entries that take the place of ``item``."""
    found = REFERENCE.match(" ".join(line.strip() for line in item.text).strip())
    target = target_of(found[1], home) if found else None
    if found is None or target is None:
        return [item]
    theirs = {name: each for each in described(target, title) for name in each.names}
    if not any(name in theirs for name in item.names):
        return [item]
    made: list[Item] = []
    before = None
    for name in item.names:
        their = theirs.get(name) or Item(name, list(item.text))
        if their is before:  # one text for several names
            head = made[-1].head
            names, colon, kind = head.partition(" : ")
            made[-1] = Item(f"{names}, {name}{colon}{kind}", made[-1].text)
        else:
            kind = their.head.partition(" : ")[2]
            kind = item.head.partition(" : ")[2] or kind
            text = list(their.text)
            while text and not text[-1].strip():
                text.pop()
            made.append(Item(f"{name} : {kind}" if kind else name, text))
        before = their
    rest = sentence(found["rest"])
    if rest:
        meant = [each for each in made if any(f"``{name}``" in rest for name in each.names)]
        (meant or made)[-1].text.append(f"    {rest}")
    return made


def completed(lines: list[str], home: str) -> list[str]:
    """The lines of a docstring of module ``home`` with all texts in their places."""
    made = list(lines)
    for title, start, end in reversed(list(sections(lines))):
        if title not in SECTIONS:
            continue
        wanted = [each for item in items(lines[start:end]) for each in complete(item, title, home)]
        made[start:end] = [line for each in wanted for line in (each.head, *each.text)]
        if wanted and wanted[-1].text and wanted[-1].text[-1].strip():
            made.insert(start + sum(1 + len(each.text) for each in wanted), "")
    return made


def borrowed(subject: Any, lines: list[str]) -> list[str]:
    """The section of parameters of the class or function that the first paragraph refers to."""
    if any(title == "Parameters" for title, _, _ in sections(lines)):
        return []
    first = " ".join(lines[: lines.index("") if "" in lines else len(lines)])
    found = SEE.search(first) or (SEE.search(lines[2]) if len(lines) > 2 else None)
    target = target_of(found[1], subject.__module__) if found else None
    if target is None or target is subject or not callable(subject):
        return []
    try:
        own = set(inspect.signature(subject).parameters)
    except (TypeError, ValueError):
        return []
    wanted = []
    for each in described(target, "Parameters"):
        names = [name for name in each.names if name in own]
        if names:
            kind = each.head.partition(" : ")[2]
            head = ", ".join(names) + (f" : {kind}" if kind else "")
            wanted += [head, *each.text]
    return ["Parameters", "----------", *wanted, ""] if wanted else []


def full_text(subject: Any, lines: list[str]) -> list[str]:
    """The docstring of a class or function with all texts in their places."""
    made = completed(lines, subject.__module__)
    added = borrowed(subject, made)
    if added:
        starts = [start - 2 for _, start, _ in sections(made)]
        at = starts[0] if starts else len(made)
        made[at:at] = added if starts else ["", *added]
    return made


def replace(app: Any, what: str, name: str, subject: Any, options: Any, lines: list[str]) -> None:
    """Complete a docstring before numpydoc reads it."""
    if what in ("class", "exception", "function", "method") and hasattr(subject, "__module__"):
        lines[:] = full_text(subject, lines)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx; numpydoc reads docstrings at the priority of 500."""
    app.connect("autodoc-process-docstring", replace, priority=400)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
