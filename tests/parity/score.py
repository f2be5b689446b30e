"""Print how pyqref compares with torch 2.13, topic by topic.

    python tests/parity/score.py [--recorded]

With live torch by default; with the recorded answers where ``--recorded`` is given.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from parity.harness import CASES, differences, load_cases, recorded
from rich.console import Console
from rich.table import Table


def main() -> int:
    """Run every case and print a table; the exit status tells whether all agree."""
    import pyqref

    live = "--recorded" not in sys.argv[1:]
    if live:
        import torch
    load_cases()
    table = Table("topic", "cases", "agree", "elements", "equal bit for bit", "largest difference")
    failures = []
    totals = [0, 0, 0, 0]
    for topic, cases in sorted(CASES.items()):
        agreeing = elements = equal = 0
        largest = 0.0
        for case in cases.values():
            try:
                theirs = case.run(torch) if live else recorded(case)
                found = differences(case, case.run(pyqref), theirs)
            except Exception as error:
                failures.append(f"{topic}.{case.name}: {type(error).__name__}: {error}")
                continue
            bad = [f"{topic}.{case.name}: {p}: {d.problem}" for p, d in found.items() if d.problem]
            failures += bad
            agreeing += not bad
            elements += sum(d.elements for d in found.values())
            equal += sum(d.elements - d.different for d in found.values() if d.elements)
            largest = max([largest, *(d.largest for d in found.values())])
        for index, value in enumerate((len(cases), agreeing, elements, equal)):
            totals[index] += value
        table.add_row(
            topic, str(len(cases)), str(agreeing), f"{elements:,}", f"{equal:,}", f"{largest:.3g}"
        )
    table.add_section()
    table.add_row("all", *(f"{each:,}" for each in totals), "")
    console = Console()
    console.print(table)
    for line in failures:
        console.print(line, markup=False, highlight=False)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
