"""The Chinese pages say what the English ones say now, with the same links and code.

That no message lacks a translation altogether is found when the site is built.
"""

from __future__ import annotations

import ast
import importlib.util
import re
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from docs.extensions import extension

from pyqref.sphinx.interactive import INTERACTIVE

DOCS = Path(__file__).parents[2] / "docs"
FOLDER = DOCS / "locale" / "zh_CN" / "LC_MESSAGES"
MESSAGES = sorted(FOLDER.rglob("*.po"))
#: What the theme says around a page.
THEME = FOLDER / "sphinx.po"
PAGES = [path for path in MESSAGES if path != THEME]

STRINGS = r'((?:^".*"\n?)+|".*"\n(?:^".*"\n?)*)'
ENTRY = re.compile(rf"^msgid {STRINGS}^msgstr {STRINGS}", re.MULTILINE)
ROLE = re.compile(r":[a-z]+:`(?:[^`<]*<)?~?([^`<>]+)>?`")
LITERAL = re.compile(r"``(.+?)``")
PLAN = re.compile(r"^\.\. course-plan:: (\d+)$", re.MULTILINE)
FIGURE = re.compile(r"^ *\.\. pyqref-figure:: (\S+)$", re.MULTILINE)


def page_of(path: Path) -> str:
    """Name of the page that a file of messages belongs to."""
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def configuration() -> Any:
    """Return docs/locale/conf.py as a module."""
    pytest.importorskip("sphinx")
    spec = importlib.util.spec_from_file_location("locale_conf", DOCS / "locale" / "conf.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def entries(path: Path) -> list[tuple[str, str]]:
    """Pairs of message and translation, without the header."""
    found = ENTRY.findall(path.read_text(encoding="utf-8"))
    joined = [
        tuple("".join(ast.literal_eval(line) for line in text.splitlines()) for text in pair)
        for pair in found
    ]
    return [(message, translation) for message, translation in joined if message]


def markup(text: str) -> Counter[str]:
    """Count the references of a text, and its words in code."""
    return Counter(ROLE.findall(text)) + Counter(LITERAL.findall(text))


def test_the_translated_pages_are_those_that_are_built() -> None:
    """Each page that docs/_ext/languages.py names has messages, and no other."""
    source = (DOCS / "_ext" / "languages.py").read_text(encoding="utf-8")
    named = re.search(r"^TRANSLATED = (\[.*?\])$", source, re.MULTILINE | re.DOTALL)
    assert named is not None
    assert sorted(ast.literal_eval(named[1])) == sorted(map(page_of, PAGES))


@pytest.mark.parametrize("path", MESSAGES, ids=page_of)
def test_every_message_is_translated(path: Path) -> None:
    """No translation is empty, uncertain or left over."""
    text = path.read_text(encoding="utf-8")
    assert len(entries(path)) == len(re.findall(r"^msgid ", text, re.MULTILINE)) - 1
    assert [] == [message for message, translation in entries(path) if not translation]
    assert [] == re.findall(r"^#, .*fuzzy.*|^#~.*", text, re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=page_of)
def test_messages_stand_in_the_english_page(path: Path) -> None:
    """Each message is a sentence of the present page, or of a directive that it uses."""
    page = (DOCS / f"{page_of(path)}.rst").read_text(encoding="utf-8")
    page += "".join(INTERACTIVE[name].source() for name in FIGURE.findall(page))
    if ".. exercise-table::" in page:
        page += (DOCS / "_ext" / "exercise_table.py").read_text(encoding="utf-8")
    for weeks in PLAN.findall(page):
        pytest.importorskip("sphinx")
        page += "\n".join(extension("course_pages").plan_lines(int(weeks)))
    page = re.sub(r"\s+", "", page)
    assert [] == [each for each, _ in entries(path) if re.sub(r"\s+", "", each) not in page]


def test_words_of_the_theme_stand_in_the_theme() -> None:
    """Each is a message of its templates; those that Sphinx translates itself are left out."""
    furo = pytest.importorskip("furo")
    templates = (Path(furo.__file__).parent / "theme").rglob("*.html")
    text = "\n".join(path.read_text(encoding="utf-8") for path in templates)
    said = re.findall(r'_\("([^"]+)"\)|\{%-? trans -?%\}\s*([^{}]+?)\s*\{%-? endtrans', text)
    assert {each for each, _ in entries(THEME)} <= {a or b for a, b in said}


@pytest.mark.parametrize("path", MESSAGES, ids=page_of)
def test_links_and_code_are_kept(path: Path) -> None:
    """A translation has the references, formulas and literals of its message."""
    assert [] == [
        message for message, translation in entries(path) if markup(message) != markup(translation)
    ]


@pytest.mark.parametrize("path", MESSAGES, ids=page_of)
def test_code_ends_before_a_parenthesis(path: Path) -> None:
    """An opening parenthesis behind ``code`` needs a backslash and a space first."""
    assert [] == [each for _, each in entries(path) if "``（" in each]


@pytest.mark.parametrize("path", MESSAGES, ids=page_of)
def test_emphasis_is_recognized_between_chinese_characters(path: Path) -> None:
    """A backslash and a space stand between it and a character before or after it."""
    beside = re.compile(r"[\u4e00-\u9fff](?<!\*)\*{1,2}\S[^*]*\*|\*[^*]*\S\*{1,2}[\u4e00-\u9fff]")
    assert [] == [each for _, each in entries(path) if beside.search(each)]


def test_the_browser_looks_up_what_was_indexed() -> None:
    """Words of Chinese text, in pieces, and Latin ones, as a reader types them."""
    pytest.importorskip("sphinx")
    search = extension("chinese_search")
    indexed = search.pieces("用 QConfig 做动态量化。")
    assert {"QConfig", "量化", "动态量化", "动态量"} <= set(indexed)
    assert max(map(len, indexed[1:])) == search.LONGEST


@pytest.mark.parametrize(
    ("language", "name", "link"),
    [
        ("en", "faq", "zh_CN/faq.html"),
        ("en", "start/layer", "../zh_CN/start/layer.html"),
        ("zh_CN", "faq", "../faq.html"),
        ("zh_CN", "start/layer", "../../start/layer.html"),
    ],
)
def test_twins_are_linked_from_any_folder(language: str, name: str, link: str) -> None:
    """A page leads to its twin, up as many folders as it lies below the root."""
    pytest.importorskip("sphinx")
    context = {"body": ""}
    app = SimpleNamespace(config=SimpleNamespace(language=language))
    extension("languages").link_twin(app, name, "", context, None)
    assert f'href="{link}"' in context["body"]


def test_contents_keep_what_is_translated() -> None:
    """Other pages are not named in a table of contents, and an empty one goes; text stays."""
    tree = ".. toctree::\n   :hidden:\n\n   {}\n   theory/index\n\nText\n"
    content = [tree.format("start/index") + "\n" + tree.format("errata")]
    configuration().keep_translated_contents(None, "index", content)
    kept = ".. toctree::\n   :hidden:\n\n   start/index\n\nText\n\nText\n"
    assert content[0].rstrip() == kept.rstrip()


def test_the_glossary_is_in_the_order_of_pinyin() -> None:
    """Latin words first, then a, b, c; 重 is read chóng, and 校 jiào."""
    words = [
        "fbgemm",
        "饱和",
        "步长",
        "乘数",
        "重新量化",
        "打包参数",
        "即时模式",
        "校准",
        "直通估计器",
        "中点",
    ]
    assert sorted(words, key=configuration().by_pinyin) == words
