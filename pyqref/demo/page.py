"""The frame of the report: one HTML page that needs nothing but the files beside it."""

from __future__ import annotations

from html import escape

__all__ = ["page"]

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1d2430; --soft: #5a6473; --rule: #d9dee6;
  --wash: #f4f6f9; --accent: #0072b2;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #161b22; --ink: #e6e9ee; --soft: #9aa5b4; --rule: #343c48;
    --wash: #1e252e; --accent: #56b4e9;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; padding: 0 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 "Source Serif 4", Charter, "Bitstream Charter", Cambria, Georgia, serif;
}
header, main { max-width: 46rem; margin: 0 auto; }
header { padding-top: clamp(2rem, 7vw, 4.5rem); }
h1, h2, h3, table, .kicker, .tiles, dt { font-family: system-ui, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: clamp(1.9rem, 6vw, 2.9rem); line-height: 1.12; margin: 0.2rem 0 1rem;
  letter-spacing: -0.02em; text-wrap: balance; }
h2 { font-size: 1.45rem; line-height: 1.25; margin: 3.5rem 0 1rem; letter-spacing: -0.01em; }
h3 { font-size: 1.08rem; margin: 0 0 0.6rem; }
p { margin: 0 0 1rem; }
a { color: var(--accent); }
code { font: 0.88em ui-monospace, "SF Mono", Menlo, Consolas, monospace;
  background: var(--wash); padding: 0.1em 0.3em; border-radius: 0.25em; }
.kicker { color: var(--accent); font-weight: 600; font-size: 0.85rem; margin: 0; }
.lead { font-size: 1.2rem; line-height: 1.5; color: var(--soft); }
.tiles { list-style: none; display: grid; gap: 0.75rem; padding: 0; margin: 1.75rem 0 0;
  grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr)); }
.tiles li { background: var(--wash); border-radius: 0.6rem; padding: 0.9rem 1rem; }
.tiles b { display: block; font-size: 1.7rem; line-height: 1.2; letter-spacing: -0.02em;
  font-variant-numeric: tabular-nums; }
.tiles span { display: block; color: var(--soft); font-size: 0.82rem; line-height: 1.35;
  margin-top: 0.2rem; }
.scroll { overflow-x: auto; margin: 0 0 1.25rem; }
@media (min-width: 49rem) {
  .scroll { margin-inline: calc(-1 * clamp(0rem, (100vw - 49rem) / 2, 5rem)); }
}
table { border-collapse: collapse; width: 100%; font-size: 0.86rem; line-height: 1.35;
  font-variant-numeric: tabular-nums; }
th, td { padding: 0.45rem 0.6rem; text-align: right; white-space: nowrap; }
thead th { color: var(--soft); font-weight: 600; vertical-align: bottom; }
thead small { display: block; font-weight: 400; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper);
  padding-left: 0; }
tbody th { font-weight: 600; }
tbody th small { display: block; color: var(--soft); font-weight: 400; }
tbody tr { border-top: 1px solid var(--rule); }
tbody + tbody tr:first-child { border-top: 2px solid var(--soft); }
.ratio { min-width: 5rem; }
.ratio i { display: block; height: 3px; margin: 0.25rem 0 0 auto; border-radius: 2px;
  background: var(--accent); }
.plain { width: auto; max-width: 100%; margin-bottom: 1.25rem; }
.plain td { text-align: left; white-space: normal; }
.plain th { color: var(--soft); }
.conclusion { border-left: 3px solid var(--accent); padding-left: 1rem; }
figure { margin: 0 0 3rem; }
figure img { display: block; width: 100%; height: auto; }
figcaption { margin-top: 0.9rem; font-size: 0.98rem; }
figcaption p { margin-bottom: 0.7rem; }
dl { margin: 0; }
dt { font-weight: 600; font-size: 0.95rem; margin-top: 1.1rem; }
dd { margin: 0.15rem 0 0; }
@media (max-width: 34rem) { body { padding-inline: 1rem; } th, td { padding-inline: 0.5rem; } }
"""


def page(title: str, body: str, generator: str = "pyqref demo") -> str:
    """An HTML document.

    Parameters
    ----------
    title
        Plain text.
    body
        HTML.
    generator
        The command that makes it.
    """
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="generator" content="{escape(generator)}">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )
