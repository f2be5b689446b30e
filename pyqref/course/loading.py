"""Find what a student wrote in a file."""

from __future__ import annotations

import re
import runpy
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["SolutionError", "defined", "wanted"]


class SolutionError(Exception):
    """A file cannot be checked; the message is for its author.

    Examples
    --------
    >>> from pyqref import course
    >>> try:
    ...     course.check_file("quantize", "no_such_file.py")
    ... except course.SolutionError as error:
    ...     print(error)
    no_such_file.py is no file
    """


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
