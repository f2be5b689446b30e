"""Notebooks with holes: for students, and as assignments that nbgrader releases and grades."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path
from typing import Any

from .catalogue import answer, describe, get
from .loading import wanted
from .plan import PLANS

__all__ = ["write_assignments", "write_starters"]

FIRST = """\
# Where pyqref is missing: %pip install pyqref
import numpy as np

from pyqref import course"""


def write_starters(folder: str | Path) -> list[Path]:
    """Write notebooks with holes, one for each week of the plan, without answers.

    Parameters
    ----------
    folder
        Made if it is missing.
    """
    folder = Path(folder)
    files = []
    for number, week in enumerate(PLANS[12], 1):
        cells = [_text(f"# Week {number}: {week.title}\n\nFill the holes; run what is below.")]
        cells.append(_code(FIRST))
        for name in week.exercises:
            cells += [
                _task(name),
                _code(_hole(name)),
                _code(f'course.check("{name}", {wanted(get(name).signature)});'),
            ]
        cells.append(_text(f"## Project\n\n{week.project}"))
        files.append(_write(folder / f"week_{number:02}.ipynb", cells))
    return files


def write_assignments(folder: str | Path, *, seed: int = 0) -> list[Path]:
    """Write the same notebooks for the folder ``source`` of nbgrader, with answers.

    nbgrader takes the answers out when it releases an assignment, and the seed. Each exercise is
    worth one point, of which an answer gets the share of the cases that are right.

    Parameters
    ----------
    folder
        Made if it is missing; each notebook stands in a folder of the name of its assignment.
    seed
        Of the cases that are drawn when nbgrader grades.
    """
    folder = Path(folder)
    files = []
    for number, week in enumerate(PLANS[12], 1):
        cells = [_text(f"# Week {number}: {week.title}\n\nFill the holes; run what is below.")]
        cells.append(_code(FIRST))
        for name in week.exercises:
            cells += [_task(name), _solution(name), _graded(name, seed)]
        cells.append(_text(f"## Project\n\n{week.project}"))
        title = f"week_{number:02}"
        files.append(_write(folder / title / f"{title}.ipynb", cells))
    return files


def _write(file: Path, cells: list[dict[str, Any]]) -> Path:
    for place, cell in enumerate(cells):
        cell["id"] = f"cell-{place}"
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(notebook, indent=1), "utf-8")
    return file


def _text(source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def _task(name: str) -> dict[str, Any]:
    return _text(f"## {name}\n\n```\n{describe(name)}\n```")


def _code(source: str, **nbgrader: Any) -> dict[str, Any]:
    """A cell of code; nbgrader reads what it is for in its metadata, schema 3."""
    about = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return {
        "cell_type": "code",
        "metadata": {"nbgrader": {**about, **nbgrader}} if nbgrader else {},
        "source": source,
        "execution_count": None,
        "outputs": [],
    }


def _hole(name: str) -> str:
    """The first lines of the model answer, and a hole for the rest."""
    heads = re.findall(r"^ *(?:class|def) .*:$", answer(name), flags=re.MULTILINE)
    lines = []
    for head in heads:
        lines.append(head)
        if head.lstrip().startswith("def"):
            indent = " " * (len(head) - len(head.lstrip()) + 4)
            lines.append(f"{indent}raise NotImplementedError  # your answer")
    return "\n".join(lines)


def _solution(name: str) -> dict[str, Any]:
    """The model answer; the body of each function stands between the marks of a solution."""
    text = answer(name)
    lines = text.splitlines()
    top = ast.parse(text).body
    inside = [each for node in top if isinstance(node, ast.ClassDef) for each in node.body]
    functions = [each for each in (*top, *inside) if isinstance(each, ast.FunctionDef)]
    for function in sorted(functions, key=lambda each: -each.lineno):
        start, end = function.body[0].lineno - 1, function.body[-1].end_lineno
        indent = " " * function.body[0].col_offset
        lines[end:end] = [f"{indent}### END SOLUTION"]
        lines[start:start] = [f"{indent}### BEGIN SOLUTION"]
    return _code("\n".join(lines), solution=True, grade_id=f"answer-{name}")


def _graded(name: str, seed: int) -> dict[str, Any]:
    """Return the cell that nbgrader runs: a last line that is a number gives so many points."""
    looked_for = wanted(get(name).signature)
    answers = f'{{"{looked_for}": {looked_for}}}'
    source = f"""\
seed = 0
### BEGIN HIDDEN TESTS
seed = {seed}
### END HIDDEN TESTS
report = course.check_all({answers}, names=["{name}"], seed=seed)
print(report)
report.points(partial_credit=True)"""
    return _code(source, grade=True, locked=True, points=1, grade_id=f"points-{name}")
