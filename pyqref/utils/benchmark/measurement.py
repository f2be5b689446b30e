"""Times of one statement."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

__all__ = ["Measurement", "scaled"]


@dataclass
class Measurement:
    """Times of a statement that :class:`Timer` has run several times.

    Attributes
    ----------
    number_per_run : int
        How often the statement ran for each time.
    raw_times : list of float
        Seconds of each ``number_per_run`` runs.
    stmt, setup, label, sub_label, description, env
        What was measured, in words.
    num_threads : int
        Threads of pyqref's kernels.

    Examples
    --------
    >>> from pyqref.utils.benchmark import Measurement
    >>> m = Measurement(2, [1.0, 3.0, 2.0], "x + 1")
    >>> m.times, m.median
    ([0.5, 1.5, 1.0], 1.0)
    """

    number_per_run: int
    raw_times: list[float]
    stmt: str = ""
    setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1
    metadata: dict[str, object] = field(default_factory=dict)

    @property
    def times(self) -> list[float]:
        """Seconds a run, one for each measurement."""
        return [each / self.number_per_run for each in self.raw_times]

    @property
    def mean(self) -> float:
        """Mean of :attr:`times`."""
        return float(np.mean(self.times))

    @property
    def median(self) -> float:
        """Median of :attr:`times`."""
        return float(np.median(self.times))

    @property
    def iqr(self) -> float:
        """Distance from the first to the third quartile of :attr:`times`."""
        low, high = np.quantile(self.times, [0.25, 0.75])
        return float(high - low)

    @property
    def title(self) -> str:
        """Label and sublabel, else the statement."""
        parts = [each for each in (self.label, self.sub_label) if each]
        return ": ".join(parts) or self.stmt

    def __repr__(self) -> str:
        factor, unit = scaled(self.median)
        lines = [f"<{type(self).__name__}>", self.title]
        lines += [self.description] if self.description else []
        lines += [f"setup: {self.setup}"] if self.setup != "pass" else []
        count = len(self.times)
        many = "" if count == 1 else "s"
        if count == 1:
            lines.append(f"  {self.median * factor:.2f} {unit}")
        else:
            low, high = np.quantile(self.times, [0.25, 0.75]) * factor
            lines.append(f"  Median: {self.median * factor:.2f} {unit}")
            lines.append(f"  IQR:    {self.iqr * factor:.2f} {unit} ({low:.2f} to {high:.2f})")
        threads = f"{self.num_threads} thread{'' if self.num_threads == 1 else 's'}"
        each = "" if count == 1 else " per measurement"
        lines.append(f"  {count} measurement{many}, {self.number_per_run} runs{each}, {threads}")
        return "\n".join(lines)


def scaled(seconds: float) -> tuple[float, str]:
    """The factor and the unit in which a time is written.

    Examples
    --------
    >>> scaled(2e-5), scaled(0.5)
    ((1000000.0, 'us'), (1000.0, 'ms'))
    """
    for factor, unit in ((1e9, "ns"), (1e6, "us"), (1e3, "ms")):
        if seconds * factor < 1000:
            return factor, unit
    return 1.0, "s"
