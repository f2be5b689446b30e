"""The ledger itself: what each layer and each cause add to the error of the output."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from ..tensor.html import block, element, faint, table
from .metrics import Metric
from .stages import CAUSES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FOLDING", "Entry", "Ledger"]

FOLDING = "(float model)"
"""Label of the difference between the float model and the layers that the other one has."""
ROWS = 16
"""Layers of a table; the others are added up."""
NAME = 22
"""Characters of the name of a layer in a table."""
HEADS = ("w clip", "w round", "bias", "a clip", "a round", "rest", "all")


class Entry(NamedTuple):
    """Contribution of one cause in one layer to the metric.

    Attributes
    ----------
    layer : str
        Path of the module, or name of the node in the graph.
    cause : str
        ``"weight clipping"``, ``"weight rounding"``, ``"bias"``, ``"activation clipping"``,
        ``"activation rounding"`` or ``"rest"``.
    change : fractions.Fraction
        Of the metric, exactly.
    share : float
        Of the whole change; they add up to 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> Entry("conv1", "bias", Fraction(1, 8), 0.5).cause
    'bias'
    """

    layer: str
    cause: str
    change: Fraction
    share: float


class Ledger:
    r"""Error of a quantized model, layer by layer and cause by cause, as :func:`ledger` returns it.

    The changes add up to the whole one exactly (``eq-ledger``):

    .. math:: \sum_{k=1}^{n} (m_k - m_{k-1}) = m_n - m_0

    Attributes
    ----------
    metric : str
        Name of what was measured.
    before, after : fractions.Fraction
        The metric of the float model and of the quantized one; for ``"sqnr"`` the energy of the
        noise over that of the signal.
    entries : tuple of Entry
        In the order in which the model runs. Causes that a layer cannot have are left out.
    advice : str
        One change of one layer, and what it was measured to give.
    notes : tuple of str
        What the ledger cannot tell, such as layers whose float weight was not found.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> _ = pyqref.manual_seed(0)
    >>> model = nn.Sequential(nn.Linear(4, 2)).eval()
    >>> found = pyqref.ledger(model, quantization.quantize_dynamic(model), pyqref.randn(8, 4))
    >>> [each.cause for each in found.entries if each.layer == "0"]
    ['weight clipping', 'weight rounding', 'bias', 'activation rounding']
    """

    def __init__(
        self,
        metric: Metric,
        before: Fraction,
        after: Fraction,
        changes: Mapping[tuple[str, str], Fraction],
        *,
        batches: int,
        channels: Callable[[str, str], dict[int, Fraction]],
        notes: tuple[str, ...] = (),
    ) -> None:
        self.metric = metric.name
        self.before = before
        self.after = after
        total = after - before
        self.entries = tuple(
            Entry(layer, cause, change, float(change / total) if total else 0.0)
            for (layer, cause), change in changes.items()
        )
        self.batches = batches
        self.notes = notes
        self.advice = ""
        self._metric = metric
        self._channels = channels

    @property
    def total(self) -> Fraction:
        """The whole change of the metric, ``after - before``."""
        return self.after - self.before

    def by_layer(self) -> dict[str, Fraction]:
        """The change of each layer, largest harm first."""
        found: dict[str, Fraction] = {}
        for each in self.entries:
            found[each.layer] = found.get(each.layer, Fraction(0)) + each.change
        return dict(sorted(found.items(), key=lambda pair: -self.harm(pair[1])))

    def by_cause(self) -> dict[str, Fraction]:
        """The change of each cause, in the order in which they are taken."""
        found = dict.fromkeys(CAUSES, Fraction(0))
        for each in self.entries:
            found[each.cause] += each.change
        return found

    def worst(self) -> list[Entry]:
        """The entries, largest harm first."""
        return sorted(self.entries, key=lambda each: -self.harm(each.change))

    def channels(self, layer: str, cause: str) -> dict[int, Fraction]:
        """Measure now how much each channel of a layer's output adds to one entry.

        The channels are taken one after the other, so that they add up to the entry exactly. It
        takes as many runs of the model as there are channels.

        Raises
        ------
        ValueError
            The ledger has no such entry.
        """
        if not any((layer, cause) == (each.layer, each.cause) for each in self.entries):
            known = sorted({each.cause for each in self.entries if each.layer == layer})
            what = f"one of {known}" if known else f"in {list(self.by_layer())}"
            given = cause if known else layer
            name = "cause" if known else "layer"
            raise ValueError(f"{name} must be {what}, got {given!r}")
        return self._channels(layer, cause)

    def plot(self, *, ax: Axes | None = None, layers: int = 12) -> Axes:
        """Draw the way from the float model to the quantized one: :func:`pyqref.plot.waterfall`."""
        from ..plot import waterfall

        return waterfall(self, ax=ax, layers=layers)

    def harm(self, change: Fraction) -> Fraction:
        """A change, positive where the model gets worse."""
        direction = self._metric.direction
        return change * direction if direction else change * (1 if self.total >= 0 else -1)

    def head(self) -> list[str]:
        """The metric before and after, and what the numbers of the table are."""
        written = self._metric.written
        first = f"{self.metric}: {written(self.before)} in float, {written(self.after)} quantized"
        unit = f"batches: {self.batches}"
        return [first, unit]

    def rows(self, most: int = ROWS) -> list[list[str]]:
        """Return for each layer its name and the percentage of each cause and of all together."""
        totals = self.by_layer()
        shown = list(totals)[:most]
        grouped: dict[str, dict[str, float]] = {}
        for each in self.entries:
            name = each.layer if each.layer in shown else f"{len(totals) - len(shown)} others"
            row = grouped.setdefault(name, {})
            row[each.cause] = row.get(each.cause, 0.0) + each.share
        order = [*shown, *(name for name in grouped if name not in shown)]
        lines = [[name, *self._cells(grouped[name])] for name in order]
        whole = dict.fromkeys(CAUSES, 0.0)
        for each in self.entries:
            whole[each.cause] += each.share
        return [*lines, ["all", *self._cells(whole)]]

    @staticmethod
    def _cells(shares: Mapping[str, float]) -> list[str]:
        cells = [_percent(shares[cause]) if cause in shares else "" for cause in CAUSES]
        return [*cells, _percent(sum(shares.values()))]

    def __str__(self) -> str:
        lines = [f"Ledger of {self.head()[0]} ({self.head()[1]})", "percent of the change", ""]
        widths = (NAME, 8, 8, 8, 8, 8, 8, 8)
        for row in [["layer", *HEADS], *self.rows()]:
            name = row[0] if len(row[0]) <= NAME else f"...{row[0][3 - NAME :]}"
            cells = [name.ljust(NAME), *map(str.rjust, row[1:], widths[1:])]
            lines.append("".join(cells).rstrip())
        lines += [""] + [_wrapped(each) for each in (*self.notes, self.advice) if each]
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        # The sum comes first, so that a narrow page shows it.
        rows = [[row[0], row[-1], *row[1:-1]] for row in (["layer", *HEADS], *self.rows())]
        below = [table(rows[1:], rows[0], left=1)]
        below += [element("div", faint(each)) for each in self.notes]
        below += [element("div", element("b", self.advice))] if self.advice else []
        return block("Ledger", [*self.head(), "percent of the change"], *below)


def _percent(share: float) -> str:
    text = f"{100 * share:.1f}"
    return "0" if text in ("0.0", "-0.0") and not share else text


def _wrapped(text: str) -> str:
    import textwrap

    return textwrap.fill(text, 79)
