"""One run of the demo: the study, the table, the report."""

from __future__ import annotations

import time
from typing import TextIO

from .console import Console
from .environment import describe
from .figures import FIGURES, draw
from .findings import Findings
from .folder import check_destination, report_folder
from .plan import Plan
from .report import write_numbers, write_page
from .study import Study
from .table import table

__all__ = ["run"]


def run(plan: Plan, stream: TextIO | None = None) -> Findings:
    """Do what ``plan`` says, print the table and write the report.

    Parameters
    ----------
    plan
        What to do.
    stream
        Where to print; standard output if None.

    Raises
    ------
    DestinationError
        ``plan.out`` holds something else; found out before any work is done.
    """
    start = time.perf_counter()
    check_destination(plan.out)
    console = Console(stream)
    environment = describe(plan)
    console.print(
        f"pyqref {environment['pyqref']}, kernel {environment['kernel']}, "
        f"{plan.threads} threads, seed {plan.seed}"
    )
    findings = Study(plan, console).run()
    with report_folder(plan.out) as folder:
        with console.stage("Draw the figures", len(FIGURES)) as step:
            for figure in FIGURES:
                draw(figure, findings, folder)
                step("")
        write_numbers(findings, folder)
        write_page(findings, folder)
        console.print()
        console.print(table(findings, console.width))
    seconds = time.perf_counter() - start
    console.print(f"Report: {(plan.out / 'index.html').resolve()} ({seconds:.0f} s)")
    return findings
