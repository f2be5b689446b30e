"""Directives of the course: ``course-plan`` of some weeks, and ``bug-museum``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


def parsed(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Nodes of a text in reStructuredText."""
    container = nodes.container()
    directive.state.nested_parse(StringList(lines, directive.name), 0, container)
    return container.children


def plan_lines(weeks: int) -> list[str]:
    """Return a plan of six or of twelve weeks, in reStructuredText."""
    from pyqref.course.plan import PLANS

    lines: list[str] = []
    for number, week in enumerate(PLANS[weeks], 1):
        reading = ", ".join(f":doc:`/{each}`" for each in week.reading)
        tutorials = ", ".join(f":doc:`/auto_tutorials/{each}`" for each in week.tutorials)
        lines += [
            (
                f"**Week {number}: {week.title}.** {week.hours[0]} hours in class, "
                f"{week.hours[1]} at home."
            ),
            "",
            f":Goals: Students can {'; '.join(week.goals)}.",
            f":Before: {week.needs}",
            f":Read: {reading}",
            f":Tutorials: {tutorials}",
            f":Exercises: {', '.join(f'``{each}``' for each in week.exercises)}",
            f":Bugs: {', '.join(f'``{each}``' for each in week.bugs)}",
            f":To discuss: {week.question}",
            f":Project: {week.project}",
            "",
        ]
    return lines


class CoursePlan(SphinxDirective):
    """A plan of some weeks, from pyqref.course.plan."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        return parsed(self, plan_lines(int(self.arguments[0])))


class BugMuseum(SphinxDirective):
    """Every bug of the museum, with its picture where the page is HTML."""

    def run(self) -> list[nodes.Node]:
        from pyqref.course.museum import bugs

        lines: list[str] = []
        for bug in bugs().values():
            lines += [
                f".. rubric:: {bug.name}: {bug.title}",
                "",
                f"{bug.story} `Report <{bug.reference}>`__.",
                "",
                ".. code-block:: diff",
                f"   :caption: pyqref.numerics.{bug.function}",
                "",
                *(f"   -{each.strip()}" for each in bug.old.splitlines()),
                *(f"   +{each.strip()}" for each in bug.new.splitlines()),
                "",
                ".. raw:: html",
                "",
                (
                    f'   <img alt="numbers of {bug.name}" loading="lazy" width="500"'
                    f' src="../_static/museum/{bug.name}.svg">'
                ),
                "",
                f"Found by ``{bug.test}``.",
                "",
            ]
        return parsed(self, lines)


def draw(app: Sphinx, error: Exception | None) -> None:
    """Draw the pictures of the museum beside the pages that show them."""
    shown = "course/museum" in app.env.found_docs
    if error is not None or app.builder.format != "html" or not shown:
        return
    from pyqref.course.museum import bugs, picture

    folder = Path(app.outdir, "_static", "museum")
    folder.mkdir(parents=True, exist_ok=True)
    for name, bug in bugs().items():
        picture(bug).savefig(folder / f"{name}.svg")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("course-plan", CoursePlan)
    app.add_directive("bug-museum", BugMuseum)
    app.connect("build-finished", draw)
    return {"parallel_read_safe": True}
