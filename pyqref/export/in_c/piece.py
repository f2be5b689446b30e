"""A C function that the file holds if something calls it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

__all__ = ["Piece", "needed", "pieces"]


class Piece(NamedTuple):
    """A definition in C, and the names of those that it uses."""

    text: str
    needs: tuple[str, ...] = ()


def pieces(**texts: tuple[str, str]) -> dict[str, Piece]:
    """Make pieces of texts, each beside the names that it uses.

    Examples
    --------
    >>> pieces(one=("two", "int one;"))["one"].needs
    ('two',)
    """
    return {
        name: Piece(text.strip("\n"), tuple(needs.split())) for name, (needs, text) in texts.items()
    }


def needed(found: Mapping[str, Piece], names: Iterable[str]) -> list[str]:
    """The texts of pieces and of all that they use, each after what it uses.

    Examples
    --------
    >>> needed({"a": Piece("A", ("b",)), "b": Piece("B")}, ["a"])
    ['B', 'A']
    """
    texts: dict[str, str] = {}

    def add(name: str) -> None:
        if name not in texts:
            for each in found[name].needs:
                add(each)
            texts[name] = found[name].text

    for name in sorted(set(names), key=list(found).index):
        add(name)
    return list(texts.values())
