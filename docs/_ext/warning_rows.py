"""Rows of the page on warnings, read off the classes themselves.

Nothing is listed by hand. Every subclass of ``QuantizationWarning`` in the package has a row: its
docstring says when it appears, and the message of its example, which is run, says what to do.
"""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CLASS = re.compile(r"^class \w+\(\w*Warning\):", re.MULTILINE)
SECTION = re.compile(r"^\w[\w ]*\n-{3,}$", re.MULTILINE)
#: What reStructuredText would read as markup, or turn into curly quotes.
MARKUP = re.compile(r"([\\*`_|<>'\"])")


def homes() -> list[Path]:
    """The files of the package that define warnings."""
    import pyqref

    root = Path(pyqref.__file__).parent
    return [path for path in sorted(root.rglob("*.py")) if CLASS.search(path.read_text("utf-8"))]


def categories() -> list[type[Warning]]:
    """Every kind of warning of the package, by name."""
    import pyqref
    from pyqref.quantization import QuantizationWarning

    root = Path(pyqref.__file__).parent.parent
    for path in homes():
        importlib.import_module(".".join(path.relative_to(root).with_suffix("").parts))
    found: set[type[Warning]] = set()
    waiting: list[type[Warning]] = [QuantizationWarning]
    while waiting:
        below = waiting.pop().__subclasses__()
        waiting += below
        found |= {each for each in below if each.__module__.startswith("pyqref.")}
    return sorted(found, key=lambda each: each.__name__)


def when(category: type[Warning]) -> str:
    """Return the docstring up to its sections, as one line."""
    return " ".join(SECTION.split(inspect.cleandoc(category.__doc__ or ""))[0].split())


def example(category: type[Warning]) -> str:
    """The example of the docstring, or nothing."""
    examples = doctest.DocTestParser().get_examples(inspect.cleandoc(category.__doc__ or ""))
    return "\n".join(
        "\n".join(
            f"{'>>>' if number == 0 else '...'} {line}".rstrip()
            for number, line in enumerate(each.source.splitlines())
        )
        + f"\n{each.want}".rstrip()
        for each in examples
    )


def raised(example: doctest.Example, space: dict[str, Any]) -> Exception | None:
    """Run a line of an example; the error that it shows, if it does."""
    try:
        exec(compile(example.source, "<example>", "single"), space)
    except Exception as error:
        if example.exc_msg is None and not hasattr(error, "category"):
            raise
        return error
    return None


def message(category: type[Warning]) -> str:
    """Return the message of the warning in the example that was run, or an empty text.

    The example keeps it in a list of caught warnings, or shows the error that it is when strict.
    """
    space: dict[str, Any] = {**vars(sys.modules[category.__module__])}
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        for each in doctest.DocTestParser().get_examples(inspect.cleandoc(category.__doc__ or "")):
            error = raised(each, space)
            if getattr(error, "category", None) is category:
                return str(error)
    lists = [value for value in space.values() if isinstance(value, list)]
    caught = [one for each in lists for one in each if isinstance(one, warnings.WarningMessage)]
    return next((str(one.message) for one in caught if one.category is category), "")


def link(category: type[Warning]) -> str:
    """A reference to the page of the class, where it has one."""
    from pyqref import quantization

    name = category.__name__
    is_public = getattr(quantization, name, None) is category
    return f":class:`~pyqref.quantization.{name}`" if is_public else f"``{name}``"


def table() -> list[str]:
    """The table as lines of reStructuredText, and the examples below it."""
    lines = [
        ".. list-table:: Warnings, when they appear, and what they say",
        "   :header-rows: 1",
        "   :widths: 26 34 40",
        "   :class: exercises",
        "",
        "   * - Warning",
        "     - When it appears",
        "     - What it says in the example below, and what to do",
    ]
    kinds = categories()
    for each in kinds:
        said = MARKUP.sub(r"\\\1", " ".join(message(each).split()))
        lines += [f"   * - {link(each)}", f"     - {when(each)}", f"     - {said or '–'}"]
    for each in kinds:
        if text := example(each):
            lines += ["", f".. rubric:: {each.__name__}", "", *text.splitlines()]
    return lines


def strict_functions() -> Iterator[str]:
    """References to the functions of the workflows that take ``strict``."""
    from pyqref import quantization

    for module in (quantization, quantization.quantize_fx):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isfunction(value) and "strict" in inspect.signature(value).parameters:
                yield f":func:`~{module.__name__}.{name}`"
