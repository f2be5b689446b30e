"""Search in the Chinese pages: every piece of two to four characters is a word.

Sphinx splits Chinese with a dictionary that is a package of its own, and finds nothing without
it. Pages as few as these need none: whatever a reader types, up to four characters, was a piece
of the text.
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from sphinx.search import SearchLanguage
from sphinx.search.en import SearchEnglish

LONGEST = 4


def pieces(text: str) -> list[str]:
    """Latin words of a text, and the pieces of its Chinese ones.

    >>> pieces("量化 QConfig")
    ['QConfig', '量化']
    """
    runs = re.findall(r"[\u4e00-\u9fff]{2,}", text)
    return re.findall(r"[A-Za-z0-9_]+", text) + [
        run[start : start + length]
        for run in runs
        for length in range(2, LONGEST + 1)
        for start in range(len(run) - length + 1)
    ]


class SearchPieces(SearchLanguage):
    """Words are taken as they are, but for capitals."""

    lang: ClassVar[str] = "zh"
    language_name: ClassVar[str] = "Chinese"
    stopwords = SearchEnglish.stopwords

    def split(self, input: str) -> list[str]:
        """The pieces of a text."""
        return pieces(input)

    def stem(self, word: str) -> str:
        """Return a word in the form in which the browser looks it up."""
        return word.lower()


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_search_language(SearchPieces)
    return {"parallel_read_safe": True}
