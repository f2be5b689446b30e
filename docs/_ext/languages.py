"""The pages that exist in Chinese as well: build them, and link each with its twin.

The English site is built first; the Chinese pages, in its folder ``zh_CN``, are found by
``docs/locale/conf.py`` and refer to it for everything that exists in English only.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

TRANSLATED = [
    "index",
    "start/index",
    "start/eight_numbers",
    "start/range_and_outliers",
    "start/product_of_integers",
    "start/layer",
    "start/network",
    "course/index",
    "ten_minutes",
    "glossary",
    "faq",
]


def link_twin(app: Any, name: str, template: str, context: Any, doctree: Any) -> None:
    """Put a link to the same page in the other language above a page."""
    if name not in TRANSLATED or "body" not in context:
        return
    chinese = app.config.language == "zh_CN"
    where, code, word = ("../", "en", "English") if chinese else ("zh_CN/", "zh-CN", "简体中文")
    root = "../" * name.count("/")
    link = f'<a href="{root}{where}{name}.html" hreflang="{code}" lang="{code}">{word}</a>'
    context["body"] = f'<p class="twin">{link}</p>\n{context["body"]}'


def build_chinese(app: Any, exception: Exception | None) -> None:
    """Build the Chinese pages below the English site; their warnings are errors, too."""
    if exception or app.builder.name != "html" or app.config.language == "zh_CN":
        return
    source, out = Path(app.srcdir), Path(app.outdir) / "zh_CN"
    doctrees = Path(app.doctreedir) / "zh_CN"
    command = [sys.executable, "-m", "sphinx", "-nW", "--keep-going", "-q", "-b", "html"]
    folders = ["-c", source / "locale", "-d", doctrees, source, out]
    subprocess.run([*command, *map(str, folders)], check=True)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("html-page-context", link_twin)
    app.connect("build-finished", build_chinese)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
