"""Provoke a message, and hold that it gives the recipe which the test then follows."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from messages.inventory import plain


class Told:
    """What was said; a message that is neither raised nor warned is handed in with a call."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, text: object) -> None:
        self.text = plain(f"{self.text} {text}")


@contextmanager
def says(*recipes: str) -> Iterator[Told]:
    """What stands in the block raises or warns, and the message holds these texts.

    ``{}`` stands for anything.
    """
    told = Told()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield told
        except Exception as error:
            told(error)
    for each in caught:
        told(each.message)
    for recipe in recipes:
        pattern = ".*?".join(map(re.escape, plain(recipe).split("{}")))
        assert re.search(pattern, told.text), f"{recipe!r} is not in: {told.text or 'nothing'}"
