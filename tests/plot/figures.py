"""The figures that are compared with their recorded pictures: one for each function.

``python tests/plot/figures.py`` records them anew; look at every one before you commit it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import PathPatch

import pyqref
from pyqref import plot
from pyqref.explaining import Entry

RECORDED = Path(__file__).parent / "recorded"
DPI = 50
"""Coarse, so that the pictures are small and hair lines count little."""


def numbers(count: int) -> np.ndarray:
    """Numbers with tails on both sides, the same everywhere."""
    even = (np.arange(count) + 0.5) / count
    return np.log(even / (1 - even))


def ledger() -> Any:
    """Return the part of a ledger that a waterfall needs, with known numbers."""
    entries = [
        Entry("a", "weight rounding", Fraction(4), 0.5),
        Entry("a", "activation rounding", Fraction(3), 0.375),
        Entry("b", "bias", Fraction(-1), -0.125),
        Entry("c", "rest", Fraction(2), 0.25),
    ]
    return SimpleNamespace(entries=entries, before=Fraction(0), after=Fraction(8), metric="sqnr")


def bits_sweep(ax: Any) -> None:
    """Two variants, a reference and a theory."""
    values = {"a": {2: 15.0, 4: 80.0, 8: 99.0}, "b": {2: 30.0, 4: 90.0, 8: 99.0}}
    plot.bits_sweep(values, reference=99.0, bound={2: 40.0, 8: 100.0}, ax=ax)


def channel_error(ax: Any) -> None:
    """Two variants, one with its bound."""
    errors = {"a": [3.0, 1.0, 2.0, 2.5], "b": [0.3, 0.2, 0.1, 0.4]}
    plot.channel_error(errors, bounds={"a": [3.5, 1.5, 2.5, 2.6]}, ax=ax)


def error_histogram(ax: Any) -> None:
    """The errors of rounding, between their bounds."""
    x = numbers(20_000)
    errors = {"fine": np.rint(x * 10) / 10 - x, "coarse": np.rint(x * 8) / 8 - x}
    plot.error_histogram(errors, bound=0.05, ax=ax)


def frontier(ax: Any) -> None:
    """Five models, of which one is beaten and one chosen."""
    best = [(3.0, 15.0), (4.0, 20.0), (5.5, 29.0), (8.0, 33.0)]
    lines = {"budget": 6.0, "reference": 35.0}
    plot.frontier([*best, (5.0, 18.0)], frontier=best, chosen=best[2], **lines, ax=ax)


def graph(ax: Any) -> None:
    """A residual layer, laid out without Graphviz, which other machines may not have."""

    def residual(x: Any) -> Any:
        y = pyqref.relu(x) + 1
        return pyqref.tanh(y) + x

    with mock.patch("shutil.which", return_value=None):
        plot.graph(pyqref.fx.symbolic_trace(residual), ax)
    for letters in [each for each in ax.patches if isinstance(each, PathPatch)]:
        letters.remove()


def image(ax: Any) -> None:
    """A slope without hard edges, which versions of matplotlib cut differently."""
    steps = np.arange(8) / 14
    plot.image(steps[:, None] + steps, ax=ax)


def layer_sqnr(ax: Any) -> None:
    """Two variants."""
    ratios = {"a": {"x": 50.0, "y": 30.0, "z": 35.0}, "b": {"x": 52.0, "y": 33.0, "z": 34.0}}
    plot.layer_sqnr(ratios, ax=ax)


def observer_range(ax: Any) -> None:
    """An observer that has seen the data, and a narrower range."""
    values = numbers(5_000)
    observer = pyqref.quantization.MinMaxObserver()
    observer(pyqref.from_numpy(values))
    plot.observer_range(values, {"MinMax": observer, "narrow": (-4.0, 4.0)}, ax=ax)


def quantization_grid(ax: Any) -> None:
    """Eight steps, and a zero point that is not in the middle."""
    plot.quantization_grid(0.25, 2, quant_min=0, quant_max=7, ax=ax)


def quantization_grid_error(ax: Any) -> None:
    """The error of the same grid."""
    plot.quantization_grid(0.25, 2, quant_min=0, quant_max=7, error=True, ax=ax)


def sensitivity(ax: Any) -> None:
    """Three layers, the whole, and what theory makes of the three."""
    ratios = {"a": 41.0, "b": 35.0, "c": 47.0}
    plot.sensitivity(ratios, together=33.0, predicted=33.8, ax=ax)


def waterfall(ax: Any) -> None:
    """Three layers, of which two are added up; one cause gives back what others cost."""
    plot.waterfall(ledger(), layers=1, ax=ax)


def weights_and_scales(ax: Any) -> None:
    """Four channels of different size with one scale, and with one each."""
    factors = np.array([1.0, 0.5, 2.0, 1.5])
    weight = pyqref.from_numpy((factors[:, None] * numbers(50)).astype(np.float32))
    scales = pyqref.from_numpy(factors * 4.6 / 127)
    zeros = pyqref.zeros(4, dtype=pyqref.int64)
    quantized = {
        "per tensor": pyqref.quantize_per_tensor(weight, 9.2 / 127, 0, pyqref.qint8),
        "per channel": pyqref.quantize_per_channel(weight, scales, zeros, 0, pyqref.qint8),
    }
    plot.weights_and_scales(weight, quantized, ax=ax)


FIGURES: dict[str, Callable[[Any], None]] = {
    each.__name__: each
    for each in (
        bits_sweep,
        channel_error,
        error_histogram,
        frontier,
        graph,
        image,
        layer_sqnr,
        observer_range,
        quantization_grid,
        quantization_grid_error,
        sensitivity,
        waterfall,
        weights_and_scales,
    )
}


def draw(name: str, path: Path) -> None:
    """Draw a figure without any text: fonts differ between machines, lines do not."""
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        with plot.theme("light"):
            figure = Figure(figsize=(4, 3), dpi=DPI, layout="constrained")
            ax = figure.subplots()
            FIGURES[name](ax)
            if ax.get_legend() is not None:
                ax.get_legend().remove()
            ax.set(title="", xlabel="", ylabel="")
            ax.tick_params(which="both", labelbottom=False, labelleft=False)
            figure.savefig(path, metadata={"Software": None})


if __name__ == "__main__":
    RECORDED.mkdir(exist_ok=True)
    for each in FIGURES:
        draw(each, RECORDED / f"{each}.png")
