"""The examples of the errata pages, as torch runs them.

The pages are the table: each example is written for pyqref, and behind a line whose answer
is another in torch 2.13 stands ``# torch: ANSWER``, or the name of the error that torch
raises. ``# torch with AVX-512: ANSWER`` holds on such processors only, and what stands behind
``# pyqref alone``, or sets the conventions, is not run. Where a line says nothing, torch
prints what pyqref prints.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import io
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from parity.harness import default_settings

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [DOCS / "errata.rst", *sorted((DOCS / "errata").glob("*.rst"))]

HEADING = re.compile(r"^(?P<title>\S.*)\n(?P<mark>[=\-.~])(?P=mark){2,}$", re.MULTILINE)
COMMENT = re.compile(r"# torch(?P<wide> with AVX-512)?: (?P<answer>.+)$", re.MULTILINE)
ERROR = re.compile(r"[A-Z]\w*Error")


@dataclass(frozen=True)
class Answer:
    """Answer of torch to one example, and the answer that the page prints."""

    line: int
    source: str
    said: str
    given: str


def sections(page: Path) -> dict[str, list[doctest.Example]]:
    """The examples of a page below each of its headings."""
    text = page.read_text(encoding="utf-8")
    starts = [(text.count("\n", 0, each.start()), each["title"]) for each in HEADING.finditer(text)]
    found: dict[str, list[doctest.Example]] = {title: [] for _, title in starts}
    for example in doctest.DocTestParser().get_examples(text, page.name):
        found[[title for line, title in starts if line < example.lineno][-1]].append(example)
    return {title: examples for title, examples in found.items() if examples}


def answers(page: Path, torch: Any) -> dict[str, list[Answer]]:
    """Run a page under torch; what each section's examples give."""
    space: dict[str, Any] = {}
    lost: set[str] = set()
    found: dict[str, list[Answer]] = {}
    with default_settings(torch), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for title, examples in sections(page).items():
            found[title] = []
            for example in examples:
                answer = _answer(example, torch, space, lost)
                if answer is not None:
                    found[title].append(answer)
    return found


def _answer(
    example: doctest.Example, torch: Any, space: dict[str, Any], lost: set[str]
) -> Answer | None:
    """One example; ``lost`` are the names that were not assigned, since torch raised an error."""
    loaded, stored = _names(example.source)
    if "conventions" in example.source or "# pyqref alone" in example.source or loaded & lost:
        lost |= stored
        return None
    lost -= stored
    comment = COMMENT.search(example.source)
    said = comment["answer"] if comment else example.want.strip()
    page = io.StringIO()
    code = compile(re.sub(r"\bpyqref\b", "torch", example.source), "<errata>", "single")
    try:
        with contextlib.redirect_stdout(page):
            exec(code, space)
    except Exception as error:
        lost |= stored
        given = f"{type(error).__name__}: {error}"
        given = given[: len(said)] if ERROR.match(said) else given
    else:
        given = re.sub(r"\btorch\.", "pyqref.", page.getvalue().strip())
    if comment and comment["wide"] and torch.backends.cpu.get_cpu_capability() != "AVX512":
        return None
    return Answer(example.lineno + 1, example.source, said, given)


def _names(source: str) -> tuple[set[str], set[str]]:
    """The names that a statement reads, and those that it assigns or imports."""
    every = list(ast.walk(ast.parse(source)))
    nodes = [each for each in every if isinstance(each, ast.Name)]
    stored = {each.id for each in nodes if isinstance(each.ctx, ast.Store)}
    stored |= {each.asname or each.name for each in every if isinstance(each, ast.alias)}
    return {each.id for each in nodes} - stored, stored - {"_"}
