"""A progress bar without a bar: counts, and says so when it is done."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["tqdm"]


class tqdm:
    """Progress bar that libraries import from ``torch.hub``.

    Parameters
    ----------
    iterable
        What to iterate over.
    total
        How many steps there are.
    disable
        Whether to stay silent.
    options
        How a bar would look.

    Examples
    --------
    >>> with tqdm(total=3, disable=True) as bar:
    ...     bar.update(2)
    >>> bar.n
    2
    >>> list(tqdm([1, 2], disable=True))
    [1, 2]
    """

    def __init__(
        self,
        iterable: Iterable[Any] | None = None,
        *_: object,
        total: float | None = None,
        disable: bool | None = False,
        **options: object,
    ) -> None:
        self.iterable = iterable
        self.total = total
        self.disable = disable
        self.n: float = 0

    def __iter__(self) -> Iterator[Any]:
        for each in self.iterable or ():
            yield each
            self.update()
        self.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def update(self, n: float = 1) -> None:
        """Count further."""
        self.n += n

    def close(self) -> None:
        """Tell what was counted."""
        if not self.disable:
            whole = "" if self.total is None else f" of {self.total}"
            sys.stderr.write(f"{self.n}{whole} done\n")
            self.disable = True

    def set_description(self, desc: str | None = None, refresh: bool = True) -> None:
        """Accepted; there is no bar to describe."""

    set_postfix = set_postfix_str = set_description
