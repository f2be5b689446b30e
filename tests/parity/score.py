"""Print how pyqref compares with torch 2.13, topic by topic.

    python tests/parity/score.py [--recorded]

With live torch by default; with the recorded answers where ``--recorded`` is given.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from parity.running import Outcome, outcomes
from rich.console import Console
from rich.table import Table


def main() -> int:
    """Run every case and print a table; the exit status tells whether all agree."""
    topics: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes(live="--recorded" not in sys.argv[1:]):
        topics[outcome.topic].append(outcome)
    table = Table("topic", "cases", "agree", "elements", "equal bit for bit", "largest difference")
    for topic in sorted(topics):
        table.add_row(topic, *summary(topics[topic]))
    table.add_section()
    every = [each for found in topics.values() for each in found]
    table.add_row("all", *summary(every))
    console = Console()
    console.print(table)
    problems = [f"{each.topic}.{each.name}: {p}" for each in every for p in each.problems]
    for line in sorted(problems):
        console.print(line, markup=False, highlight=False)
    return 1 if problems else 0


def summary(found: list[Outcome]) -> list[str]:
    """Cases, agreeing ones, elements, equal ones, the largest difference."""
    elements = sum(each.elements for each in found)
    counts = (
        len(found),
        sum(not each.problems for each in found),
        elements,
        elements - sum(each.different for each in found),
    )
    return [*(f"{each:,}" for each in counts), f"{max(each.largest for each in found):.3g}"]


if __name__ == "__main__":
    sys.exit(main())
