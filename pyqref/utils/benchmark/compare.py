"""``Compare``: measurements side by side."""

from __future__ import annotations

from collections.abc import Iterable

from .measurement import Measurement, scaled

__all__ = ["Compare"]


class Compare:
    """A table of measurements for each label: a line a sublabel, a column a description.

    Parameters
    ----------
    results
        Measurements of :class:`Timer`.

    Notes
    -----
    Source: documentation of ``torch.utils.benchmark.Compare``.

    Examples
    --------
    >>> from pyqref.utils.benchmark import Compare, Measurement
    >>> made = [
    ...     Measurement(1, [seconds], label="add", sub_label="small", description=name)
    ...     for name, seconds in (("ours", 2e-6), ("theirs", 3e-6))
    ... ]
    >>> print(Compare(made))  # doctest: +NORMALIZE_WHITESPACE
    [------------ add ------------]
                 |  ours  |  theirs
    1 threads: --------------------
          small  |   2.0  |     3.0
    <BLANKLINE>
    Times are in microseconds (us).
    <BLANKLINE>
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results = list(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Times have one decimal anyway."""

    def colorize(self, rowwise: bool = False) -> None:
        """Tables have no colours."""

    def highlight_warnings(self) -> None:
        """Tables have no marks."""

    def print(self) -> None:
        """Print the tables."""
        print(self)  # noqa: T201  (printing is what it is for)

    def __str__(self) -> str:
        labels = dict.fromkeys(each.label for each in self._results)
        return "\n".join(self._table(label) for label in labels)

    def _table(self, label: str | None) -> str:
        found = [each for each in self._results if each.label == label]
        factor, unit = scaled(min(each.median for each in found))
        columns = list(dict.fromkeys(each.description or "" for each in found))
        cells: dict[tuple[int, str, str], list[float]] = {}
        for each in found:
            key = (each.num_threads, each.sub_label or each.stmt, each.description or "")
            cells.setdefault(key, []).extend(each.times)
        texts = {key: f"{sorted(v)[len(v) // 2] * factor:.1f}" for key, v in cells.items()}
        widths = {
            name: max([len(name), *(len(t) for key, t in texts.items() if key[2] == name)])
            for name in columns
        }
        left = max(10, *(len(key[1]) + 6 for key in texts))
        head = " " * left + "".join(f"  |  {name:>{widths[name]}}" for name in columns)
        title = f" {label or ''} ".center(max(len(head) - 2, 10), "-")
        lines = [f"[{title}]", head]
        for threads in sorted({key[0] for key in texts}):
            lines.append(f"{threads} threads: ".ljust(len(head), "-"))
            rows = dict.fromkeys(key[1] for key in texts if key[0] == threads)
            for row in rows:
                values = [texts.get((threads, row, name), "") for name in columns]
                pairs = zip(columns, values, strict=True)
                body = "".join(f"  |  {value:>{widths[name]}}" for name, value in pairs)
                lines.append(f"      {row}".ljust(left) + body)
        names = {"ns": "nanoseconds", "us": "microseconds", "ms": "milliseconds", "s": "seconds"}
        return "\n".join([*lines, "", f"Times are in {names[unit]} ({unit}).", ""])
