"""The directive ``exercise-table``: every exercise of the course and the mistakes that it knows."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class ExerciseTable(SphinxDirective):
    """A list table, made when the page is read."""

    def run(self) -> list[nodes.Node]:
        from pyqref import course

        lines = [
            ".. list-table:: Exercises, and the mistakes that are told by name",
            "   :header-rows: 1",
            "   :widths: 28 14 58",
            "   :class: exercises",
            "",
            "   * - Exercise",
            "     - Equation",
            "     - Mistakes",
        ]
        for name in course.exercises():
            exercise = course.get(name)
            lines += [
                f"   * - ``{name}``",
                f"     - :eq:`{exercise.label}`",
                f"     - {'; '.join(mistake.name for mistake in exercise.mistakes)}",
            ]
        container = nodes.container()
        self.state.nested_parse(StringList(lines, "exercise-table"), 0, container)
        for row in list(container.findall(nodes.row))[1:]:  # what the checker prints stays English
            for cell in row.findall(nodes.paragraph):
                cell["translatable"] = False
        return container.children


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("exercise-table", ExerciseTable)
    return {"parallel_read_safe": True}
