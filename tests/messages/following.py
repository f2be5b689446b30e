"""Provoke a message, and hold that it gives the recipe which the test then follows."""

from __future__ import annotations

import re
import warnings
from types import TracebackType
from typing import Any

from messages.inventory import plain


class Told:
    """Record of a message; one that is neither raised nor warned is handed in with a call."""

    def __init__(self) -> None:
        self.text = ""

    def __call__(self, text: object) -> None:
        self.text = plain(f"{self.text} {text}")


class says:
    """The code in the block raises or warns, and the message holds these texts.

    ``{}`` stands for anything.
    """

    def __init__(self, *recipes: str) -> None:
        self.recipes = recipes

    def __enter__(self) -> Told:
        self._told = Told()
        self._catching: Any = warnings.catch_warnings(record=True)
        self._caught = self._catching.__enter__()
        warnings.simplefilter("always")
        return self._told

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self._catching.__exit__(kind, error, traceback)
        if error is not None and not isinstance(error, Exception):
            return False
        for each in [*(warned.message for warned in self._caught), *([error] if error else [])]:
            self._told(each)
        for recipe in self.recipes:
            pattern = ".*?".join(map(re.escape, plain(recipe).split("{}")))
            found = re.search(pattern, self._told.text)
            assert found, f"{recipe!r} is not in: {self._told.text or 'nothing'}"
        return True
