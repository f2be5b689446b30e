"""Figures of the pages: drawn in both themes and widths, and every chapter opens with one."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import matplotlib
import pytest

matplotlib.use("agg")
pytest.importorskip("sphinx_gallery")
from docs.extensions import FOLDER, extension

from pyqref.sphinx.words import set_aside

DOCS = FOLDER.parent
RUNGS = sorted(set((DOCS / "start").glob("*.rst")) - {DOCS / "start" / "index.rst"})
"""Chapters that compare methods; they have no plain formula beside an exact one."""

CHAPTERS = [
    path
    for path in sorted((DOCS / "theory").glob("*.rst"))
    if path.stem not in ("index", "equations")
]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def test_each_drawing_of_a_page_has_a_function_and_each_function_a_page() -> None:
    """A figure that no page shows is found, and one that a page asks for and nobody draws."""
    pages = [path for path in DOCS.rglob("*.rst") if "auto_tutorials" not in path.parts]
    shown = {name for path in pages for name in re.findall(DRAWING, read(path), re.M)}
    made = set()
    for path in (DOCS / "drawings").glob("*.py"):
        for node in ast.parse(read(path)).body:
            if isinstance(node, ast.FunctionDef) and not node.args.args and not node.decorator_list:
                made.add(f"{path.stem}.{node.name}")
    assert made - {"start.values_with_outlier"} == shown


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_opens_with_figure_and_numbers(path: Path) -> None:
    """Before *To the last bit* stand a drawing and an example; after it an example; then links."""
    first, exact, rest = read(path).partition("\nTo the last bit\n---------------\n")
    second, references, links = rest.partition("\nReferences\n----------\n")
    assert exact
    assert references
    assert ".. drawing:: " in first
    assert "\n>>> " in first
    assert ">>> " in second
    assert "<https://" in links


@pytest.mark.parametrize("path", RUNGS, ids=lambda path: path.stem)
def test_a_rung_has_all_its_parts(path: Path) -> None:
    """Idea, figure, numbers, one line of code, a question whose answer is folded."""
    text = read(path)
    assert ".. rst-class:: lead\n" in text
    for heading in ("The numbers", "The picture", "One line of code"):
        assert f"\n{heading}\n{'-' * len(heading)}\n" in text
    assert re.search(r"\n(A question|Your turn)\n-+\n", text)
    assert ".. folded:: Answer\n" in text
    assert ".. drawing:: start." in text


def test_the_network_of_the_page_is_that_of_its_figure() -> None:
    """Each statement of the function stands on the page, in the same order."""
    page = re.sub(r"^(>>>|\.\.\.) ?", "", read(DOCS / "start" / "network.rst"), flags=re.M)
    page = re.sub(r"\s+", "", page).replace("_=", "")
    function = next(
        node
        for node in ast.parse(read(DOCS / "drawings" / "network.py")).body
        if isinstance(node, ast.FunctionDef)
    )
    place = 0
    for node in function.body[1:-1]:
        statement = re.sub(r"\s+", "", ast.unparse(node))
        for part in statement.split("backward()"):
            place = page.replace(",)", ")").replace('"', "'").index(part, place)


def test_a_drawing_is_four_files(tmp_path: Path) -> None:
    """Light and dark, wide and narrow; the dark ones have the paper of the dark theme."""
    extension("two_themes")
    drawing = extension("drawing")
    files = drawing.draw("start.eight", tmp_path)
    widths = [float(re.findall(r'<svg[^>]* width="([\d.]+)pt"', read(file))[0]) for file in files]
    assert widths[0] == widths[2] > widths[1] == widths[3]
    papers = [PAPER.findall(read(file))[0] for file in files]
    assert ["#ffffff", "#ffffff", "#161b22", "#161b22"] == papers


def test_drawings_of_translated_pages_speak_their_language(tmp_path: Path) -> None:
    """Each text of a drawing is in the table, and each of the table in a drawing."""
    extension("two_themes")
    drawing, pages = extension("drawing"), extension("languages").TRANSLATED
    shown = {
        name for page in pages for name in re.findall(DRAWING, read(DOCS / f"{page}.rst"), re.M)
    }
    table = drawing.table("zh_CN")
    figures = {name: drawing.function_of(name)() for name in shown}
    said = {text for each in figures.values() for text in set_aside(each, table).values()}
    assert set(table.values()) == said
    wide, narrow, *_ = drawing.draw("start.eight", tmp_path, "zh_CN")
    for file in (wide, narrow):
        assert ["数", "整数"] == re.findall(r'<text xml:lang="zh-CN"[^>]*>([^<]*)<', read(file))
        assert "—" not in read(file)


DRAWING = r"^\.\. drawing:: (\S+)$"
PAPER = re.compile(r'<g id="patch_1">.*?fill: (#[0-9a-f]{6})', re.DOTALL)
