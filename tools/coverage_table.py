"""Print a table of what tests ran: for tools/coverage, from the reports of gcov or coverage.py.

A line of a kernel counts once, whichever instruction set it was compiled for: it was run if one of
these ran it. A branch of the C that Cython makes of a line counts once for each way that it can
take and each module that has it, except those that compilers add for exceptions.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, TextIO

Counts = list[int]  # lines that ran, lines, branches that were taken, branches


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
        for name, line in _lines_of(module):
            lines[name, line["line_number"]] += line["count"]
            branches[name] += [each["count"] > 0 for each in line["branches"] if not each["throw"]]
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


def _lines_of(module: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Those of the sources that people write, each with its path in pyqref/_kernels."""
    for file in module["files"]:
        _, found, name = file["file"].rpartition("pyqref/_kernels/")
        if found and name.endswith((".pyx", ".pxi", ".pxd", ".h")):
            for line in file["lines"]:
                yield name, line


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
