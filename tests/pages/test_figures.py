"""The interactive figures give pyqref's own numbers, and can be used by keyboard and by touch."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from pages.browser import PROGRAM, Browser
from pages.oracles import FILTERS, ORACLES

from pyqref.sphinx import figure_page
from pyqref.sphinx.interactive import INTERACTIVE, STATIC, figure
from pyqref.sphinx.pictures import drawn
from pyqref.sphinx.words import words

SETTINGS = 1000
#: Sets the controls, tells the page as a hand on one of them does, and reads the table.
DRIVE = """
((name, settings) => {
  const figure = document.querySelector(`figure[data-figure="${name}"]`);
  const controls = [...figure.querySelectorAll("input, select")];
  return settings.map(setting => {
    for (const each of controls) {
      if (each.type === "checkbox") each.checked = setting[each.name];
      else each.value = setting[each.name];
    }
    controls[0].dispatchEvent(new InputEvent("input", { bubbles: true }));
    return [...figure.querySelectorAll(".pq-table data")]
      .map(each => [each.dataset.name, each.value]);
  });
})
"""
CONTROLS = """
[...document.querySelectorAll('figure[data-figure="NAME"] :is(input, select)')].map(each =>
  ({ name: each.name, type: each.type, min: each.min, max: each.max, step: each.step,
     value: each.value, options: [...each.options || []].map(option => option.value),
     label: each.labels[0].textContent }))
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory) -> Iterator[Browser]:
    """All figures in one page of one browser."""
    if PROGRAM is None:
        pytest.skip("no Chromium was found (Debian: apt install chromium)")
    folder = tmp_path_factory.mktemp("browser")
    path = folder / "figures.html"
    path.write_text(figure_page(), encoding="utf-8")
    browser = Browser(str(folder))
    browser.look(800)
    browser.open(path.as_uri())
    yield browser
    browser.close()


def places(control: dict[str, Any]) -> list[Any]:
    """Everything that a control can be set to, as the text of its value."""
    if control["type"] == "checkbox":
        return [False, True]
    if control["options"]:
        return list(control["options"])
    low, step = float(control["min"]), float(control["step"])
    count = round((float(control["max"]) - low) / step)
    return [f"{low + k * step:.10g}" for k in range(count + 1)]


def number(value: Any) -> Any:
    """Return the argument of Python's function for the text of a control."""
    try:
        return value if isinstance(value, bool) else json.loads(value)
    except json.JSONDecodeError:
        return value


@pytest.mark.parametrize("name", INTERACTIVE)
def test_a_figure_computes_the_numbers_of_pyqref(name, page):
    """A thousand settings, each set through the page; every number of the table is the same."""
    controls = page.run(CONTROLS.replace("NAME", name))
    draw = random.Random(f"pyqref {name}")
    possible = {each["name"]: places(each) for each in controls}
    settings = [
        {key: draw.choice(values) for key, values in possible.items()} for _ in range(SETTINGS)
    ]
    tables = page.run(f"({DRIVE})({json.dumps(name)}, {json.dumps(settings)})")
    assert SETTINGS == len(tables)
    for setting, table in zip(settings, tables, strict=True):
        shown: dict[str, list[float]] = {}
        for key, value in table:
            shown.setdefault(key, []).append(float(value))
        expected = ORACLES[name](**{key: number(value) for key, value in setting.items()})
        assert expected == shown, setting


@pytest.mark.parametrize("name", INTERACTIVE)
def test_a_figure_is_described_and_labelled(name, page):
    """For a screen reader: every control, the drawing, and a sentence that it reads out."""
    controls = page.run(CONTROLS.replace("NAME", name))
    assert all(each["label"] for each in controls)
    inside = f'document.querySelector(\'figure[data-figure="{name}"] '
    assert len(page.run(f"{inside}svg').getAttribute('aria-label')")) > 60
    assert "img" == page.run(f"{inside}svg').getAttribute('role')")
    assert len(page.run(f"{inside}[role=status]').textContent")) > 40
    page.run(f"{inside}[type=reset]').click()")
    moved = f"[...{inside}form').querySelectorAll('[type=range]')].filter(each => "
    assert [] == page.run(f"{moved}each.value !== each.getAttribute('value'))")


def test_the_keyboard_moves_a_slider(page):
    """An arrow moves it by a step, and the table follows."""
    figure = "document.querySelector('figure[data-figure=ties]')"
    page.run(f"{figure}.querySelector('[type=reset]').click()")
    page.run(f"{figure}.querySelector('input[name=x]').focus()")
    page.press("ArrowRight", 4)
    assert "1" == page.run(f"{figure}.querySelector('input[name=x]').value")
    assert "2" == page.run(f"{figure}.querySelector('data[data-name=first]').value")
    page.press("Tab")
    assert "zeroPoint" == page.run("document.activeElement.name")


def test_a_touch_moves_the_window(page):
    """A finger on the fifth pixel of the sixth row chooses row 5 and column 4."""
    figure = "document.querySelector('figure[data-figure=window]')"
    page.run(f"{figure}.querySelector('svg').scrollIntoView()")
    cells = f"[...{figure}.querySelectorAll('.pq-cell:not(.pq-pad)')]"
    cells += ".map(each => each.getBoundingClientRect())"
    left, top, size = page.run(f"(b => [b[44].x, b[44].y, b[44].width])({cells})")
    page.touch(left + size / 2, top + size / 2)
    values = "['row', 'column'].map(each => FIGURE.querySelector(`[name=${each}]`).value)"
    assert ["5", "4"] == page.run(values.replace("FIGURE", figure))


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_a_page_fits_the_screen(width, dark, page):
    """Nothing is wider than a phone, and the colours follow what stands behind the figure."""
    page.look(width, dark=dark)
    page.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
    assert page.run("document.documentElement.scrollWidth <= innerWidth")
    papers = page.run("[...document.querySelectorAll('figure')].map(each => each.dataset.paper)")
    assert {"dark" if dark else "light"} == set(papers)
    over = """[...document.querySelectorAll('figure')].flatMap(figure =>
      [...figure.querySelectorAll('svg text')].filter(each =>
        each.getBoundingClientRect().right > figure.getBoundingClientRect().right)
      .map(each => each.textContent))"""
    assert [] == page.run(over)


@pytest.mark.parametrize("name", INTERACTIVE)
def test_a_picture_stands_where_scripts_are_off(name):
    """It is in the page itself, light and dark, with the title for who cannot see it."""
    inside = figure(name).partition("<noscript>")[2].partition("</noscript>")[0]
    assert 2 == inside.count("data:image/svg+xml;base64,")
    assert f'alt="{INTERACTIVE[name].title}"' in inside


SAID = re.compile(r"say`([^`]*)`")
NUMBER = re.compile(r"\$\{(?:[^{}]|\{[^{}]*\})*\}")
#: Names and formulas, which are the same in both languages.
NAMES = "eq|fbgemm|qnnpack|relu|round|quantize|fake_quantize"
TEXTS = """
[...document.querySelectorAll("figure")].flatMap(figure => [
  figure.getAttribute("aria-label"), figure.querySelector("svg").getAttribute("aria-label"),
  figure.querySelector("svg").textContent, figure.textContent,
  ...[...figure.querySelectorAll("option, label, th, button, li, p")].map(each => each.textContent)
])
"""


def test_every_text_of_the_scripts_is_translated():
    """The table has what scripts, captions and pictures say, and nothing else."""
    said = {text for each in INTERACTIVE.values() for text in (each.title, each.caption)}
    said |= {*FILTERS, "Equations: {0}."}
    for path in (STATIC / "pyqref").glob("*.js"):
        for text in SAID.findall(path.read_text(encoding="utf-8")):
            parts = re.sub(r"\s+", " ", NUMBER.sub("\0", text)).split("\0")
            said.add("".join(f"{part}{{{k}}}" for k, part in enumerate(parts[:-1])) + parts[-1])
    table = words("zh_CN")
    assert set() == said - set(table)
    for english, chinese in table.items():
        assert sorted(re.findall(r"\{\d\}", english)) == sorted(re.findall(r"\{\d\}", chinese))
    pictures = "".join(drawn(name, "light", "zh_CN").decode() for name in INTERACTIVE)
    shown = set(re.findall(r'<text xml:lang="zh-CN"[^>]*>([^<]*)<', pictures))
    assert {table[each] for each in set(table) - said} <= shown <= set(table.values())


def test_a_chinese_page_says_no_english_word(page, tmp_path):
    """With settings at both ends of every control, in drawings, sentences and tables."""
    english = page.run("location.href")
    path = tmp_path / "chinese.html"
    path.write_text(figure_page(language="zh_CN"), encoding="utf-8")
    page.open(path.as_uri())
    texts = page.run(TEXTS)
    for end in ("min", "max"):
        page.run(f"""document.querySelectorAll("figure form").forEach(form => {{
          form.querySelectorAll("[type=range]").forEach(each => each.value = each.{end});
          form.querySelectorAll("select").forEach(each => each.selectedIndex =
            "{end}" === "max" ? each.options.length - 1 : 0);
          form.dispatchEvent(new InputEvent("input", {{ bubbles: true }}));
        }})""")
        page.run("new Promise(done => requestAnimationFrame(() => setTimeout(done, 50)))")
        texts += page.run(TEXTS)
    page.open(english)
    known = re.compile(rf"eq(-[a-z]+)+|(?<![a-z])({NAMES})(?![a-z])", re.IGNORECASE)
    assert set() == {
        word for text in texts for word in re.findall("[A-Za-z]{3,}", known.sub("", text))
    }


def test_scripts_load_nothing():
    """A page needs no server and no library: no address, no import, no request."""
    for path in sorted((STATIC / "pyqref").glob("*.js")):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        for word in ("http", "import ", "fetch(", "XMLHttpRequest", "localStorage"):
            assert word not in text, f"{path.name} has {word!r}"
