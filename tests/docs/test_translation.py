"""The Chinese pages say what the English ones say now, with the same links and code.

That no message lacks a translation altogether is found when the site is built.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from docs.extensions import extension

DOCS = Path(__file__).parents[2] / "docs"
MESSAGES = sorted((DOCS / "locale" / "zh_CN" / "LC_MESSAGES").glob("*.po"))
#: What the theme says around a page.
THEME = DOCS / "locale" / "zh_CN" / "LC_MESSAGES" / "sphinx.po"
PAGES = [path for path in MESSAGES if path != THEME]

STRINGS = r'((?:^".*"\n?)+|".*"\n(?:^".*"\n?)*)'
ENTRY = re.compile(rf"^msgid {STRINGS}^msgstr {STRINGS}", re.MULTILINE)
ROLE = re.compile(r":[a-z]+:`(?:[^`<]*<)?~?([^`<>]+)>?`")
LITERAL = re.compile(r"``(.+?)``")


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
    named = re.search(r"^TRANSLATED = (\[.*?\])$", source, re.MULTILINE)
    assert named is not None
    assert sorted(ast.literal_eval(named[1])) == [path.stem for path in PAGES]


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_every_message_is_translated(path: Path) -> None:
    """No translation is empty, uncertain or left over."""
    text = path.read_text(encoding="utf-8")
    assert len(entries(path)) == len(re.findall(r"^msgid ", text, re.MULTILINE)) - 1
    assert [] == [message for message, translation in entries(path) if not translation]
    assert [] == re.findall(r"^#, .*fuzzy.*|^#~.*", text, re.MULTILINE)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_messages_stand_in_the_english_page(path: Path) -> None:
    """Each message is a sentence of the present page."""
    page = re.sub(r"\s+", "", (DOCS / f"{path.stem}.rst").read_text(encoding="utf-8"))
    assert [] == [each for each, _ in entries(path) if re.sub(r"\s+", "", each) not in page]


def test_words_of_the_theme_stand_in_the_theme() -> None:
    """Each is a message of its templates; those that Sphinx translates itself are left out."""
    furo = pytest.importorskip("furo")
    templates = (Path(furo.__file__).parent / "theme").rglob("*.html")
    text = "\n".join(path.read_text(encoding="utf-8") for path in templates)
    said = re.findall(r'_\("([^"]+)"\)|\{%-? trans -?%\}\s*([^{}]+?)\s*\{%-? endtrans', text)
    assert {each for each, _ in entries(THEME)} <= {a or b for a, b in said}


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_links_and_code_are_kept(path: Path) -> None:
    """A translation has the references, formulas and literals of its message."""
    assert [] == [
        message for message, translation in entries(path) if markup(message) != markup(translation)
    ]


@pytest.mark.parametrize("path", MESSAGES, ids=lambda path: path.stem)
def test_code_ends_before_a_parenthesis(path: Path) -> None:
    """An opening parenthesis behind ``code`` needs a backslash and a space first."""
    assert [] == [each for _, each in entries(path) if "``（" in each]


def test_the_browser_looks_up_what_was_indexed() -> None:
    """Words of Chinese text, in pieces, and Latin ones, as a reader types them."""
    pytest.importorskip("sphinx")
    search = extension("chinese_search")
    indexed = search.pieces("用 QConfig 做动态量化。")
    assert {"QConfig", "量化", "动态量化", "动态量"} <= set(indexed)
    assert max(map(len, indexed[1:])) == search.LONGEST
