"""Write the page of all equations, and lead from each equation to code and proof.

``theory/equations.rst`` is written anew at every build. Below every equation of the theory
stands where it is implemented and how often it is proved. Labels such as ``eq-affine-quantize``
that stand in prose or in a docstring become links by :mod:`pyqref.sphinx`.
"""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from functools import cache
from pathlib import Path
from typing import Any

from api_pages import packages, public_names
from cases import cases
from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.util.nodes import make_refnode

from pyqref.sphinx.equations import Equation, Function, Survey, survey

PAGE = "theory/equations"
HEAD = """\
.. _equations:

All equations
=============

.. This page is written by docs/_ext/equation_table.py.

Each row is one label: what it says, the function that computes it in NumPy, the operations of
which compiled kernels have twins that must give the same bits, the tests that prove it,
and the number of cases that pytest collects from them. One case may look at thousands of
numbers.

"""


def _date() -> str:
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    now = datetime.fromtimestamp(int(seconds), timezone.utc) if seconds else None
    return (now or datetime.now(timezone.utc)).strftime("%Y-%m-%d %H:%M UTC")


@cache
def _public_names() -> frozenset[str]:
    """Dotted names under which the reference documents a function or a class."""
    import importlib

    names: set[str] = set()
    seen: set[int] = set()
    for package in packages():
        classes, functions = public_names(importlib.import_module(package), seen)
        names |= {f"{package}.{each}" for each in classes + functions}
    return frozenset(names)


def _documented(function: Function) -> str | None:
    """The name under which the reference has a function, or None."""
    parts = function.module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join([*parts[:length], function.name])
        if name in _public_names():
            return name
    return None


def _link(function: Function) -> str:
    name = _documented(function)
    role = "class" if function.is_class else "func"
    return f":{role}:`~{name}`" if name else f"``{function.path}``"


def _kernels(equation: Equation) -> list[str]:
    return [f"{name}: {', '.join(sets)}" for name, sets in sorted(equation.kernels.items())]


def _row(equation: Equation, counted: dict[str, int]) -> str:
    kernels = _kernels(equation)
    compiled = (
        "\n".join(f"       | {each}" for each in kernels) if kernels else "       | NumPy only"
    )
    tests = "\n".join(f"       | ``{each}`` ({counted[each]})" for each in equation.tests)
    total = sum(counted[each] for each in equation.tests)
    return (
        f"   * - .. _proof-{equation.label}:\n\n"
        f"       ``{equation.label}`` :eq:`{equation.label}`\n\n"
        f"       {equation.function.statement}\n"
        f"     - {_link(equation.function)}\n\n{compiled}\n"
        f"     - {total:,} case{'s' if total != 1 else ''}:\n\n{tests}\n"
    )


def _titles(equations: dict[str, Equation]) -> dict[str, str]:
    folder = Path(__file__).parents[1] / "theory"
    return {
        page: (folder / f"{page}.rst").read_text(encoding="utf-8").splitlines()[0]
        for page in dict.fromkeys(each.page for each in equations.values())
    }


def page_text(found: Survey, counted: dict[str, int]) -> str:
    """The page, as reStructuredText."""
    import pyqref
    from pyqref import kernels

    equations = found.equations
    tests = {test for each in equations.values() for test in each.tests}
    compiled = [each for each in equations.values() if each.kernels]
    sets = max((s for each in compiled for s in each.kernels.values()), key=len, default=[])
    totals = {
        "Equations": f"{len(equations)}",
        "with compiled twins": f"{len(compiled)}, for {', '.join(sets)}",
        "Tests that name them": f"{len(tests):,}",
        "Cases": f"{sum(counted[each] for each in tests):,}",
        "Built": f"{_date()}, pyqref {pyqref.__version__}",
        "Counted on": f"{platform.machine()}, Python {platform.python_version()}, whose tests of "
        f"kernels run for {', '.join(kernels.usable())}",
    }
    text = HEAD + "".join(f":{name}: {value}\n" for name, value in totals.items()) + "\n"
    for page, title in _titles(equations).items():
        text += f"{title}\n{'-' * len(title)}\n\n:doc:`The chapter <{page}>`\n\n"
        text += ".. list-table::\n   :class: equations\n   :header-rows: 1\n"
        text += "   :widths: 31 27 42\n\n"
        text += "   * - Equation\n     - Function, compiled twins\n     - Tests\n"
        text += "".join(_row(each, counted) for each in equations.values() if each.page == page)
        text += "\n"
    return text


def _look(app: Any) -> tuple[Survey, dict[str, int]]:
    found = survey()
    tests = sorted({test for each in found.equations.values() for test in each.tests})
    files = sorted({test.partition("::")[0] for test in tests})
    return found, cases(files, Path(app.doctreedir) / "equation_cases.json")


def write_page(app: Any, config: Any) -> None:
    """Write the page and keep what was found for the links."""
    found, counted = app._pyqref_equations = _look(app)
    target = Path(app.srcdir) / f"{PAGE}.rst"
    text = page_text(found, counted)
    if not target.exists() or target.read_text(encoding="utf-8") != text:
        target.write_text(text, encoding="utf-8")


def add_proofs(app: Any, doctree: nodes.document) -> None:
    """Below each equation of the theory: its label, its function, its proof."""
    found, counted = app._pyqref_equations
    for block in list(doctree.findall(nodes.math_block)):
        equation = found.equations.get(block.get("label"))
        if equation is None or equation.page != app.env.docname.rpartition("/")[2]:
            continue
        line = nodes.paragraph(classes=["proof"])
        line += nodes.literal(text=equation.label, classes=["equation-label"])
        line += nodes.Text(" \N{MIDDLE DOT} ")
        line += _function_node(app, equation.function)
        line += nodes.Text(" \N{MIDDLE DOT} ")
        line += _proof_node(app, equation, sum(counted[each] for each in equation.tests))
        block.parent.insert(block.parent.index(block) + 1, line)


def _proof_node(app: Any, equation: Equation, total: int) -> nodes.Node:
    """The first of its tests, and how many cases all have; leads to the row of the table."""
    proof = nodes.inline(text="proved by ")
    proof += nodes.literal(text=equation.tests[0].removeprefix("tests/"))
    more = len(equation.tests) - 1
    proof += nodes.Text(f"{f' and {more} more' if more else ''}: {total:,} case")
    proof += nodes.Text("s" if total != 1 else "")
    link = pending_xref("", proof, refdomain="std", reftype="proof", refexplicit=True)
    link["reftarget"], link["refdoc"] = equation.label, app.env.docname
    return link


def _function_node(app: Any, function: Function) -> nodes.Node:
    name = _documented(function)
    text = nodes.literal(text=function.name)
    if name is None:
        return text
    link = pending_xref("", text, refdomain="py", reftype="obj", refexplicit=True)
    link["reftarget"], link["refdoc"] = name, app.env.docname
    return link


def resolve_proof(app: Any, env: Any, node: pending_xref, content: Any) -> Any:
    """A link to the row of an equation."""
    if node["reftype"] != "proof":
        return None
    target = f"proof-{node['reftarget']}"
    return make_refnode(app.builder, node["refdoc"], PAGE, target, content)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx; the page is there before it looks for its sources."""
    app.connect("config-inited", write_page)
    app.connect("doctree-read", add_proofs)
    app.connect("missing-reference", resolve_proof)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
