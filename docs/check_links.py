"""Follow every link inside a built site: ``python docs/check_links.py FOLDER``.

Each ``href`` and ``src`` must lead to a file of the folder, and behind a ``#`` to an element
of that page. Links to other sites are left alone.
"""

from __future__ import annotations

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The links of a page, and the places in it to which links can lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called by the parser for every element."""
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.add(value)
            elif name == "id" or (name == "name" and tag == "a"):
                self.places.add(value or "")


@cache
def page(path: Path) -> Page:
    """A page, read once."""
    return Page(path.read_text(encoding="utf-8"))


def problem(source: Path, link: str) -> str | None:
    """Why a link leads nowhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    target = (source.parent / unquote(parts.path)).resolve() if parts.path else source
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "there is no such file"
    if parts.fragment and target.suffix == ".html":
        place = unquote(parts.fragment)
        places = page(target).places
        if "_modules" in source.parts:
            # Sphinx takes all objects of a source file for those of one package, the first that
            # documents any of them.
            last = f".{place.rpartition('.')[2]}"
            places = places | {place} if any(each.endswith(last) for each in places) else places
        if place not in places:
            return f"{target.name} has no place of that name"
    return None


def check(folder: Path) -> list[str]:
    """One line for each link that leads nowhere."""
    broken = []
    for source in sorted(folder.resolve().rglob("*.html")):
        for link in sorted(page(source).links):
            reason = problem(source, link)
            if reason:
                broken.append(f"{source.relative_to(folder.resolve())}: {link}: {reason}")
    return broken


if __name__ == "__main__":
    found = check(Path(sys.argv[1]))
    print("\n".join(found))
    sys.exit(1 if found else 0)
