"""``pyqref course``: the exercises, one of them, and a check of what a student wrote."""

from __future__ import annotations

import argparse
import re
import runpy
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["add_parser", "run"]


class SolutionError(Exception):
    """Why a file cannot be checked, in words for who wrote it."""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the subparsers of ``pyqref``."""
    summary = "list the exercises of the course, describe one, check a solution"
    command: argparse.ArgumentParser = commands.add_parser(
        "course",
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. Without an action: list them.",
        allow_abbrev=False,
    )
    command.set_defaults(run=run)
    actions = command.add_subparsers(title="actions", metavar="action", dest="action")
    actions.add_parser("list", help="names of the exercises, in the order of the course")
    describe = actions.add_parser("describe", help="what is to be written, with an example")
    check = actions.add_parser(
        "check",
        help="try a solution; tell which cases fail, and the mistake by its name",
        description="Try a solution; tell which cases fail, and the mistake by its name. The file "
        "is run as Python runs a script, with all that it does: check files that you trust. It "
        "must define the function or class of the exercise under its name.",
    )
    for action in (describe, check):
        action.add_argument("name", metavar="NAME", help="an exercise, as listed")
    check.add_argument("file", type=Path, metavar="FILE", help="Python source with the solution")


def wanted(signature: str) -> str:
    """The name of the function or class that an exercise asks for."""
    found = re.match(r"(?:class )?(\w+)", signature)
    assert found is not None
    return found[1]


def defined(file: Path, name: str) -> Callable[..., Any]:
    """Run a file and return what it defines under a name."""
    if not file.is_file():
        raise SolutionError(f"{file} is no file")
    try:
        names = runpy.run_path(str(file), run_name=file.stem)
    except (Exception, SystemExit) as error:
        places = traceback.extract_tb(error.__traceback__)
        lines = [each.lineno for each in places if each.filename == str(file)]
        lines += [error.lineno] if isinstance(error, SyntaxError) else []
        where = f", line {lines[-1]}" if lines else ""
        raise SolutionError(f"{file}{where}: {type(error).__name__}: {error}") from error
    if not callable(names.get(name)):
        raise SolutionError(f"{file} must define {name}")
    function: Callable[..., Any] = names[name]
    return function


def run(options: argparse.Namespace) -> int:
    """List, describe or check; 1 where something is wrong."""
    from .. import course

    if options.action in (None, "list"):
        width = max(map(len, course.exercises()))
        for name in course.exercises():
            exercise = course.get(name)
            sys.stdout.write(f"{name:{width}}  {exercise.label}\n")
        return 0
    try:
        if options.action == "describe":
            sys.stdout.write(f"{course.describe(options.name)}\n")
            return 0
        name = wanted(course.get(options.name).signature)
        return 0 if course.check(options.name, defined(options.file, name)) else 1
    except (SolutionError, ValueError) as error:
        sys.stderr.write(f"pyqref course: {error}\n")
        return 1
