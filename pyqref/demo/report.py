"""The report: ``index.html`` with its figures and ``results.json``."""

from __future__ import annotations

import json
import math
from html import escape
from pathlib import Path

from . import conclusions
from .explanations import COLUMNS, VARIANTS
from .figures import DPI, FIGURES, WIDTH, Figure, dark
from .findings import Findings, Row
from .page import page
from .table import METHODS, number

__all__ = ["html", "tied", "write_numbers", "write_page"]

LEAD = (
    '<p class="lead">A small residual CNN and an LSTM learn to read 1,797 handwritten digits of '
    "8 × 8 pixels. Then their weights and activations become 8-bit integers, in every way that "
    "eager quantization knows. What does it cost, and what does it save?</p>"
)


def write_page(findings: Findings, folder: Path) -> None:
    """Write ``index.html``; the figures must be in ``folder`` already."""
    (folder / "index.html").write_text(html(findings), encoding="utf-8")


def write_numbers(findings: Findings, folder: Path) -> None:
    """Write ``results.json``; what has no finite value there is null."""
    text = json.dumps(finite(findings.numbers()), indent=1, allow_nan=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")


def finite(value: object) -> object:
    """Return the nested value with None for infinities and not-a-number."""
    if isinstance(value, dict):
        return {key: finite(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def html(findings: Findings) -> str:
    """The whole page."""
    body = [
        "<header>",
        '<p class="kicker">pyqref demo</p>',
        "<h1>A network of digits, quantized</h1>",
        LEAD,
        tiles(findings),
        "</header>",
        "<main>",
        section("results", "Results", results_table(findings.rows)),
        f'<p class="conclusion">{conclusions.about_table(findings)}</p>',
        section("columns", "How to read the table", definitions(COLUMNS)),
        section("figures", "A look inside", "".join(map_figures(findings))),
        section("variants", "The variants", definitions(VARIANTS)),
        section("environment", "Environment", environment(findings.environment)),
        "</main>",
    ]
    return page("A network of digits, quantized", tied("\n".join(body)))


def tied(text: str) -> str:
    """Return the text with each number and its unit kept on one line."""
    for unit in ("%", "dB", "µs", "bits"):
        text = text.replace(f" {unit}", f"\u00a0{unit}")
    return text


def section(name: str, title: str, content: str) -> str:
    """A part of the page with a heading."""
    return f'<section id="{name}"><h2>{title}</h2>\n{content}\n</section>'


def tiles(findings: Findings) -> str:
    """The four numbers that matter, large."""
    reference = findings.row("CNN", "float")
    best = max((r for r in findings.rows if r.method == "static"), key=lambda row: row.sqnr or 0)
    qat = findings.row("CNN", "qat")
    shown = [
        (f"{reference.float_accuracy:.1f} %", "float32 accuracy"),
        (f"{best.quantized_accuracy:.1f} %", f"static int8, {conclusions.way(best)}"),
        (f"{qat.quantized_accuracy:.1f} %", "int8 after quantization-aware training"),
        (conclusions.share(best, reference), "of the bytes of float32"),
    ]
    items = "".join(f"<li><b>{value}</b><span>{label}</span></li>" for value, label in shown)
    return f'<ul class="tiles">{items}</ul>'


def results_table(rows: list[Row]) -> str:
    """The table of all variants, the networks set apart."""
    lines = [
        (
            '<div class="scroll" tabindex="0"><table><thead><tr>'
            '<th scope="col">Variant</th>'
            '<th scope="col">float <small>%</small></th>'
            '<th scope="col">fake <small>%</small></th>'
            '<th scope="col">int8 <small>%</small></th>'
            '<th scope="col">weights <small>bytes</small></th>'
            '<th scope="col">batch 1 <small>µs/image</small></th>'
            '<th scope="col">batch 64 <small>µs/image</small></th>'
            '<th scope="col">SQNR <small>dB</small></th>'
            "</tr></thead>"
        )
    ]
    widest = max((row.sqnr for row in rows if row.sqnr and math.isfinite(row.sqnr)), default=1.0)
    for network in dict.fromkeys(row.network for row in rows):
        lines.append("<tbody>")
        lines += [line(row, widest) for row in rows if row.network == network]
        lines.append("</tbody>")
    lines.append("</table></div>")
    return "\n".join(lines)


def line(row: Row, widest: float) -> str:
    """One row of the table, its ratio drawn as a bar too."""
    details = " · ".join(each for each in (row.engine, row.weights, row.observer) if each)
    ratio = row.sqnr if row.sqnr is not None and math.isfinite(row.sqnr) else 0.0
    bar = f'<i style="width:{max(0.0, 100 * ratio / widest):.0f}%"></i>' if ratio else ""
    return (
        f'<tr><th scope="row">{row.network} {METHODS[row.method]}'
        f"<small>{escape(details)}</small></th>"
        f"<td>{number(row.float_accuracy, '.2f')}</td>"
        f"<td>{number(row.fake_accuracy, '.2f')}</td>"
        f"<td>{number(row.quantized_accuracy, '.2f')}</td>"
        f"<td>{row.weight_bytes:,}</td>"
        f"<td>{number(row.latency.get(1), ',.0f')}</td>"
        f"<td>{number(row.latency.get(64), ',.1f')}</td>"
        f'<td class="ratio">{number(row.sqnr, ".1f")}{bar}</td></tr>'
    )


def map_figures(findings: Findings) -> list[str]:
    """All figures with their captions, numbered."""
    return [picture(each, index, findings) for index, each in enumerate(FIGURES, start=1)]


def picture(figure: Figure, index: int, findings: Findings) -> str:
    """One figure: the heading, the image for light and dark pages, the caption."""
    name = figure.file.removesuffix(".png")
    shows = figure.shows.format(layer=findings.channel_layer)
    return (
        f'<figure id="{name}"><h3>{figure.title}</h3><picture>'
        f'<source media="(prefers-color-scheme: dark)" srcset="{dark(figure.file)}">'
        f'<img src="{figure.file}" alt="{figure.title}" width="{round(WIDTH * DPI)}"></picture>'
        f"<figcaption><p><b>Figure {index}.</b> {shows}</p>"
        f'<p class="conclusion">{figure.concludes(findings)}</p></figcaption></figure>\n'
    )


def definitions(entries: list[tuple[str, str]]) -> str:
    """Terms and their explanations."""
    items = "".join(f"<dt>{term}</dt><dd>{text}</dd>" for term, text in entries)
    return f"<dl>{items}</dl>"


def environment(entries: dict[str, str]) -> str:
    """Return the environment on which the numbers depend."""
    rows = "".join(
        f'<tr><th scope="row">{escape(label)}</th><td>{escape(value)}</td></tr>'
        for label, value in entries.items()
    )
    return (
        f'<table class="plain"><tbody>{rows}</tbody></table>'
        "<p>The same seed gives the same accuracies, bytes and ratios with any number of "
        "threads; only the latencies vary. All numbers are in "
        '<a href="results.json">results.json</a>.</p>'
    )
