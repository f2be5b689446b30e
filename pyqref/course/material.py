"""Material for lectures: slides with figures, model answers."""

from __future__ import annotations

import html
from pathlib import Path

from .catalogue import answer, describe, exercises
from .museum import bugs, picture
from .plan import PLANS, Week

__all__ = ["write_answers", "write_slides"]

STYLE = """
@page { size: 297mm 167mm; margin: 0 }
* { box-sizing: border-box }
html { scroll-snap-type: y mandatory; font: 24px/1.4 system-ui, sans-serif; color: #1f2430 }
body { margin: 0; background: #e9ebf0 }
section { min-height: 100vh; padding: 7vh 8vw; background: #fff; scroll-snap-align: start;
  display: flex; flex-direction: column; justify-content: center; break-after: page;
  border-bottom: 1px solid #d5d8e0 }
section.week { background: #12324a; color: #fff }
h1 { font-size: 2em; margin: 0 0 .3em } h2 { font-size: 1.5em; margin: 0 0 .5em; color: #0b6e99 }
pre { font-size: .65em; line-height: 1.35; background: #f4f5f8; padding: 1em; overflow: auto;
  white-space: pre-wrap } img { max-width: 100%; max-height: 44vh } small { color: #667 }
.week small { color: #bcd }
@media print { html { scroll-snap-type: none } section { min-height: 0; height: 167mm } }
@media (max-width: 700px) { html { font-size: 17px } section { padding: 5vh 5vw } }
"""


def write_slides(folder: str | Path, weeks: int = 12) -> list[Path]:
    """Write slides as HTML, a file for each week, with their figures beside them.

    A browser shows them and prints them, a slide on each sheet. Needs matplotlib.

    Parameters
    ----------
    folder
        Made if it is missing.
    weeks
        Of the plan: 6 or 12.

    Returns
    -------
    The files, those of the figures last.
    """
    folder = Path(folder)
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    pages, drawn = [], []
    for number, week in enumerate(PLANS[weeks], 1):
        formula = figures / f"week_{number:02}_formula.svg"
        _write_formula(week.formula, formula)
        for name in week.bugs:
            picture(bugs()[name]).savefig(figures / f"{name}.svg")
        drawn += [formula, *(figures / f"{name}.svg" for name in week.bugs)]
        page = folder / f"week_{number:02}.html"
        page.write_text(_page(number, week, formula.name), "utf-8")
        pages.append(page)
    return [*pages, *drawn]


def _write_formula(formula: str, file: Path) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.2))
    figure.text(0.02, 0.45, formula, fontsize=26, va="center", math_fontfamily="cm")
    figure.savefig(file, transparent=True)


def _page(number: int, week: Week, formula: str) -> str:
    def items(texts: tuple[str, ...]) -> str:
        return "<ul>" + "".join(f"<li>{html.escape(each)}</li>" for each in texts) + "</ul>"

    title = f"Week {number}: {week.title}"
    slides = [
        (
            f'<section class="week"><h1>{html.escape(title)}</h1><p>Afterwards you can</p>'
            f"{items(week.goals)}<small>Before: {html.escape(week.needs)}. {week.hours[0]} hours "
            f"here, {week.hours[1]} at home.</small></section>"
        ),
        (
            f'<section><h2>The formula</h2><img alt="{html.escape(week.formula)}" '
            f'src="figures/{formula}"><p>Read before the lecture:</p>'
            f"{items(tuple(f'docs/{each}.rst' for each in week.reading))}"
            f"<p>Run together: {html.escape(', '.join(week.tutorials))}</p></section>"
        ),
    ]
    slides += [_bug_slide(name) for name in week.bugs]
    slides += [
        f"<section><h2>Exercise: {name}</h2><pre>{html.escape(describe(name))}</pre></section>"
        for name in week.exercises
    ]
    slides.append(
        f"<section><h2>To discuss</h2><p>{html.escape(week.question)}</p>"
        f"<h2>Project</h2><p>{html.escape(week.project)}</p></section>"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>\n"
        + "\n".join(slides)
        + "\n</body></html>\n"
    )


def _bug_slide(name: str) -> str:
    bug = bugs()[name]
    return (
        f"<section><h2>A bug: {html.escape(bug.title)}</h2><p>{html.escape(bug.story)}</p>"
        f'<img alt="right and wrong numbers" src="figures/{name}.svg">'
        f'<small><a href="{bug.reference}">{bug.reference}</a></small></section>'
    )


def write_answers(folder: str | Path) -> list[Path]:
    """Write the model answers, one file for each exercise; keep them apart from the notebooks.

    Parameters
    ----------
    folder
        Made if it is missing.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name in exercises():
        files.append(folder / f"{name}.py")
        files[-1].write_text(f"import numpy as np\n\n\n{answer(name)}", "utf-8")
    return files
