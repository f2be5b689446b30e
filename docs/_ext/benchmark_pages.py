"""The directive ``benchmark``: what was measured in ``benchmarks/``, as words, table or chart.

``.. benchmark:: WHAT`` where WHAT is ``machine`` (on what it was measured), ``below`` (the races
that another library won), ``bars`` or ``roofline`` (the charts of ``benchmarks/charts.py``), all of
``measured.json``, which one thread has run, or with ``:threads: 2`` of ``measured_2_threads.json``.
``every`` is a table of each race in both, ``models`` one of the networks in
``measured_models.json``, ``models_server`` in ``measured_models_server.json``, ``scaling`` one of
``measured_scaling.json``, which has measurements with several numbers of threads. All is made when
the page is read, so that no page can say anything else than the files.
"""

from __future__ import annotations

import base64
import io
import json
import math
import runpy
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.parsers.rst import directives
from docutils.statemachine import StringList
from matplotlib import pyplot
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from two_themes import darken

from pyqref import plot

FOLDER = Path(__file__).parents[2] / "benchmarks"
CHARTS = runpy.run_path(str(FOLDER / "charts.py"))


def machine(measured: dict[str, Any]) -> list[str]:
    """Return a table of the machine, the other libraries, and the counts of races."""
    races, peaks = measured["races"], measured["peaks"]
    below = sum(race["ratio"] < 1 for race in races)
    same = sum(race["difference"] == 0 for race in races)
    rows = {
        "Processor": measured["processor"],
        "Kernel of pyqref": f"``{measured['kernel']}``",
        "Threads": measured["threads"],
        "Other libraries": measured["versions"],
        "Peak of the processor": f"{peaks['operations'] / 1e9:,.0f}·10⁹ operations a second",
        "Peak of the memory": f"{peaks['bytes'] / 1e9:.1f}·10⁹ bytes a second",
        "Races": len(races),
        "Races below 1": f"{below} of {len(races)}",
        "Races in which all libraries give the same result": f"{same} of {len(races)}",
    }
    return table([], [[key, str(each)] for key, each in rows.items()])


def below(measured: dict[str, Any]) -> list[str]:
    """The races with a ratio below 1, the smallest ratio first."""
    lost = sorted((race for race in measured["races"] if race["ratio"] < 1), key=ratio)
    if not lost:
        return ["In this measurement no race is below 1."]
    rows = [
        [
            race["kind"],
            f"``{race['shape']}``",
            min(race["peers"], key=race["peers"].__getitem__),
            f"{race['ratio']:.2f}",
        ]
        for race in lost
    ]
    verb = "is" if len(lost) == 1 else "are"
    count = f"{len(lost)} of {len(measured['races'])} races {verb} below 1"
    nearly = sum(race["ratio"] >= ROUNDED_TO_1 for race in lost)
    count += f", {nearly} of them by so little that it is rounded away:" if nearly else ":"
    return [count, "", *table(["Kind", "Shape", "Fastest other library", "Ratio"], rows)]


#: The least ratio that two decimals show as 1.
ROUNDED_TO_1 = 0.995

#: Columns of the table of every race.
COLUMNS = ["Shape", "µs", "Fastest other, µs", "Which", "Of the roof", "Ratio", "2 threads"]


def every(one: dict[str, Any], two: dict[str, Any]) -> list[str]:
    """A table for each kind: what one thread took, and the ratios with one and with two."""
    with_two = {(race["kind"], race["shape"]): f"{race['ratio']:.2f}" for race in two["races"]}
    kinds: dict[str, list[list[str]]] = {}
    for race in one["races"]:
        kinds.setdefault(race["kind"], []).append(
            [
                f"``{race['shape']}``",
                f"{race['pyqref'] * 1e6:,.1f}",
                f"{race['best'] * 1e6:,.1f}",
                min(race["peers"], key=race["peers"].__getitem__),
                share_of_roof(race, one["peaks"]),
                f"{race['ratio']:.2f}",
                with_two.get((race["kind"], race["shape"]), ""),
            ]
        )
    lines: list[str] = []
    for kind, rows in kinds.items():
        lines += [f".. rubric:: {kind}", "", *table(COLUMNS, rows, "races"), ""]
    return lines


def scaling(runs: list[dict[str, Any]]) -> list[str]:
    """Return a table of the first run's races: time and ratio for each number of threads."""
    head = ["Kind", "Shape"]
    found = []
    for run in runs:
        head.append(f"µs (ratio), {CHARTS['threads_of'](run['threads'])}")
        found.append({(race["kind"], race["shape"]): race for race in run["races"]})
    rows = []
    for kind, shape in found[0]:
        row = [kind, f"``{shape}``"]
        for races in found:
            race = races.get((kind, shape))
            row.append(f"{race['pyqref'] * 1e6:,.0f} ({race['ratio']:.2f})" if race else "")
        rows.append(row)
    return table(head, rows, "scaling")


#: Of a network: integers and real numbers over torch, integers over real numbers.
_RATIOS = ("int8", "float", "own")


def models(measured: dict[str, Any]) -> list[str]:
    """A line for each network: integers and real numbers over torch, integers over real ones."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for race in measured["races"]:
        name, _, batch = race["shape"].partition(", batch ")
        if race["kind"] in ("int8 model", "float model"):
            row = found.setdefault(batch, {}).setdefault(name, {})
            row[race["kind"].split()[0]] = race["ratio"]
            if "own float" in race:
                row |= {"ms": race["pyqref"] * 1e3, "own": race["own float"]}
    head, rows = ["Network"], {name: [name] for name in next(iter(found.values()))}
    last = ["geometric mean"]
    for batch, networks in found.items():
        of = f", batch {batch}" if len(found) > 1 else ""
        head += [f"int8, ms{of}", "int8 over torch", "float over torch", "int8 over own float"]
        last.append("")
        for name, row in networks.items():
            rows[name] += [f"{row['ms']:,.1f}", *(f"{row[key]:.2f}" for key in _RATIOS)]
        for key in _RATIOS:
            logarithms = [math.log(row[key]) for row in networks.values()]
            last.append(f"{math.exp(sum(logarithms) / len(logarithms)):.2f}")
    return table(head, [*rows.values(), last], "ratios")


def share_of_roof(race: dict[str, Any], peaks: dict[str, float]) -> str:
    """The least time that arithmetic and memory need, in percent of ours, where it is known."""
    if not race["moved"]:
        return ""
    operations = race.get("peak") or peaks["operations"]
    least = max(race["operations"] / operations, race["moved"] / peaks["bytes"])
    return f"{least / race['pyqref']:.0%}"


def ratio(race: dict[str, Any]) -> float:
    return race["ratio"]


def table(head: list[str], rows: list[list[str]], style: str = "") -> list[str]:
    """Source of a list table, in a style of ``_static/pyqref.css``."""
    lines = [".. list-table::", f"   :header-rows: {int(bool(head))}"]
    lines += [f"   :class: {style}", ""] if style else [""]
    for first, *others in [head, *rows] if head else rows:
        lines += [f"   * - {first}", *(f"     - {cell}" for cell in others)]
    return lines


def chart(measured: dict[str, Any], name: str) -> str:
    """A chart on light and on dark paper, as HTML."""
    height = 4.2 if name == "roofline" else 1.2 + 0.28 * len({r["kind"] for r in measured["races"]})
    images = []
    with plot.theme("light"):
        figure, ax = pyplot.subplots(figsize=(6.2, height), layout="constrained")
        CHARTS[name](measured, ax)
        for paper in ("light", "dark"):
            if paper == "dark":
                darken(figure)
            made = io.BytesIO()
            colour = figure.get_facecolor()
            figure.savefig(made, format="svg", facecolor=colour, metadata={"Date": None})
            data = base64.b64encode(made.getvalue()).decode()
            alt = f"{ax.get_title(loc='left') or ax.get_title()}: {ax.get_xlabel()}"
            images.append(
                f'<img class="only-{paper}" alt="{alt}" src="data:image/svg+xml;base64,{data}"/>'
            )
        pyplot.close(figure)
    return "\n".join(images)


#: What is told of one file, as source.
TOLD = {"machine": machine, "below": below}


class Benchmark(SphinxDirective):
    """See the head of this file."""

    required_arguments = 1
    option_spec = {"threads": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        what, threads = self.arguments[0], self.options.get("threads", 1)
        if what in ("bars", "roofline"):
            return [nodes.raw("", chart(self._measured(threads), what), format="html")]
        if what == "every":
            lines = every(self._measured(1), self._measured(2))
        elif what == "scaling":
            lines = scaling(self._read("measured_scaling.json"))
        elif what in ("models", "models_server"):
            lines = models(self._read(f"measured_{what}.json"))
        elif what in TOLD:
            lines = TOLD[what](self._measured(threads))
        else:
            known = (*TOLD, "bars", "roofline", "every", "models", "models_server", "scaling")
            raise self.error(f"must be one of {', '.join(known)}, got {what!r}")
        container = nodes.container()
        self.state.nested_parse(StringList(lines, "benchmark"), 0, container)
        return container.children

    def _measured(self, threads: int) -> dict[str, Any]:
        name = "measured.json" if threads == 1 else f"measured_{threads}_threads.json"
        found: dict[str, Any] = self._read(name)
        return found

    def _read(self, name: str) -> Any:
        for file in (name, "charts.py"):
            self.env.note_dependency(str(FOLDER / file))
        return json.loads((FOLDER / name).read_text())


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("benchmark", Benchmark)
    return {"parallel_read_safe": True}
