"""Overflow, division by zero and nan are results like others: NumPy is not to warn of them.

What
    The context variable in which NumPy 2 keeps how it treats such errors, found by looking into a
    context in which nothing else was set, and what NumPy puts there.
Why
    ``np.errstate(all="ignore")`` makes that anew each time, which takes six times as long as to
    set the variable: a fifth of the addition of two small tensors.
Where it is absent
    A NumPy that has no such variable is told as documented, by ``np.seterr``.

>>> with quiet():
...     np.float32([1.0]) / 0
array([inf], dtype=float32)
"""

from __future__ import annotations

from contextvars import Context
from typing import Any

import numpy as np

__all__ = ["ERRORS", "IGNORED", "quiet"]


class AsDocumented:
    """Sets and resets like a context variable."""

    def set(self, how: dict[str, Any]) -> dict[str, Any]:
        """Tell NumPy how to treat errors, and give how it did before."""
        return dict(np.seterr(**how))

    def reset(self, before: dict[str, Any]) -> None:
        """Tell it what it was told before."""
        np.seterr(**before)


def way_to_ignore(context: Any) -> tuple[Any, Any]:
    """Return the variable and the value that silence NumPy's warnings.

    ``context`` is a ``Context`` in which nothing is set.
    """
    context.run(np.seterr, all="ignore")
    for variable, value in context.items():
        if Context().run(_ignores, variable, value):
            return variable, value
    return AsDocumented(), {"all": "ignore"}


def _ignores(variable: Any, value: Any) -> bool:
    variable.set(value)
    return set(np.geterr().values()) == {"ignore"}


ERRORS, IGNORED = way_to_ignore(Context())


class quiet:
    """For a ``with`` block; what runs at each operation sets ``ERRORS`` to ``IGNORED`` itself.

    Examples
    --------
    >>> with quiet():
    ...     np.geterr()["over"]
    'ignore'
    """

    def __enter__(self) -> None:
        self._token = ERRORS.set(IGNORED)

    def __exit__(self, *error: object) -> None:
        ERRORS.reset(self._token)
