"""Print a table of what tests ran: for tools/coverage, from the reports of gcov or coverage.py.

Before the C of each statement Cython writes a comment that names the line of its source; all C up
to the next comment, or to the end of the function, belongs to that line. A line of a kernel counts
once, whichever instruction set it was compiled for: it was run if one of these ran it. A branch of
the C counts once for each module that has it.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

Counts = list[int]  # lines that ran, lines, branches that were taken, branches

SOURCE = re.compile(r'\s*/\* "pyqref/_kernels/(.+)":(\d+)$')


def of_python(report: TextIO) -> tuple[dict[str, Counts], list[str]]:
    """Counts of each folder, and the lines that no test ran."""
    counts: dict[str, Counts] = defaultdict(lambda: [0] * 4)
    missing = []
    for path, file in json.load(report)["files"].items():
        parts = path.split("/")
        parts = parts[parts.index("pyqref") :]
        found = file["summary"]
        each = counts["/".join(parts[:2]) if len(parts) > 2 else "pyqref"]
        each[0] += found["covered_lines"]
        each[1] += found["num_statements"]
        each[2] += found["covered_branches"]
        each[3] += found["num_branches"]
        missing += [f"{'/'.join(parts)}:{line}" for line in file["missing_lines"]]
    return counts, missing


def of_kernels(report: TextIO) -> tuple[dict[str, Counts], list[str]]:
    """Counts of each operation, whose sources lie in one folder, and the lines that no test ran."""
    lines: dict[tuple[str, int], int] = defaultdict(int)
    branches: dict[str, list[bool]] = defaultdict(list)
    for module in map(json.loads, filter(str.strip, report)):
        for place, line in _lines_of(module):
            lines[place] += line["count"]
            branches[place[0]] += [each["count"] > 0 for each in line["branches"]]
    counts: dict[str, Counts] = defaultdict(lambda: [0] * 4)
    for (name, _), count in lines.items():
        each = counts[_folder(name)]
        each[0] += count > 0
        each[1] += 1
    for name, taken in branches.items():
        each = counts[_folder(name)]
        each[2] += sum(taken)
        each[3] += len(taken)
    return counts, [f"{name}:{line}" for (name, line), count in sorted(lines.items()) if not count]


def _lines_of(module: dict[str, Any]) -> Iterator[tuple[tuple[str, int], dict[str, Any]]]:
    """Return the lines that people wrote, with their file in pyqref/_kernels and their number."""
    for file in module["files"]:
        path = Path(module["current_working_directory"], file["file"])
        if path.suffix == ".c":
            places = _places_in(path)
            for line in file["lines"]:
                if line["line_number"] in places:
                    yield places[line["line_number"]], line
        elif path.suffix == ".h" and "pyqref/_kernels/" in file["file"]:
            name = file["file"].rpartition("pyqref/_kernels/")[2]
            for line in file["lines"]:
                yield (name, line["line_number"]), line


def _places_in(path: Path) -> dict[int, tuple[str, int]]:
    """Lines of C that Cython wrote for a line of its source, and which one that is."""
    places: dict[int, tuple[str, int]] = {}
    place = None
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = SOURCE.match(text)
        if found:
            place = found[1], int(found[2])
        elif text.startswith("}"):
            place = None
        elif place:
            places[number] = place
    return places


def _folder(name: str) -> str:
    return name.partition("/")[0] if "/" in name else "beside the folders"


def main() -> None:
    """Print the table; what no test ran goes to a file beside the report."""
    kind, path = sys.argv[1:]
    with open(path, encoding="utf-8") as report:
        counts, missing = of_python(report) if kind == "python" else of_kernels(report)
    total = [sum(each) for each in zip(*counts.values(), strict=True)]
    print(f"{'':28}{'lines':>8}{'run':>9}{'branches':>10}{'taken':>9}")
    for name, each in [*sorted(counts.items()), ("all", total)]:
        ran, lines, taken, branches = each
        share = [100 * a / b if b else 100 for a, b in ((ran, lines), (taken, branches))]
        print(f"{name:28}{lines:8}{share[0]:7.1f} %{branches:10}{share[1]:7.1f} %")
    with open(f"{path.removesuffix('.json')}-missing.txt", "w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in missing)
    print(f"\nLines that no test ran: {file.name}")


if __name__ == "__main__":
    main()
