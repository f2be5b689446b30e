"""Draw the picture of the front page: ``python docs/front_picture.py``.

Activations as floating-point numbers and the range that an observer chose for them; some
steps of the grid of 8-bit integers in that range; the error, which is half a step at most.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import pyqref
from pyqref.plot import theme

FOLDER = Path(__file__).parent / "_static"


def draw_range(ax: Axes, values: np.ndarray, low: float, high: float) -> None:
    """The histogram, in another colour where it is clipped."""
    edges = np.linspace(low, high, 101)
    width = edges[1] - edges[0]
    below = np.arange(low, values.min() - width, -width)[::-1]
    above = np.arange(high, values.max() + width, width)
    for bins, colour, name in (
        (edges, "C0", f"on the grid of quint8: {low:.2f} to {high:.2f}"),
        (below, "C1", "beyond it: clipped"),
        (above, "C1", None),
    ):
        counts = np.histogram(values, bins)[0]
        ax.stairs(counts, bins, fill=True, color=colour, alpha=0.8, label=name)
    ax.set_yscale("log")
    ax.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1000"])
    ax.set_ylim(0.5, None)
    ax.set_ylabel("count")
    ax.set_xlabel("float activation (no unit)")
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 2}
    ax.legend(**place, fontsize="small", borderaxespad=0)


def draw_steps(ax: Axes, x: np.ndarray, integers: np.ndarray) -> None:
    """The staircase from real numbers to integers."""
    ax.plot(x, x + integers[0] - x[0], color="0.5", linewidth=1, linestyle="--")
    ax.plot(x, integers, color="C0", linewidth=2)
    ax.set_yticks(range(integers.min(), integers.max() + 1, 2))
    ax.set_ylabel("integer")
    ax.set_xlabel("activation [steps of the grid]")


def draw_error(ax: Axes, x: np.ndarray, errors: np.ndarray) -> None:
    """The sawtooth of the error between its bounds."""
    ax.fill_between(x, errors, color="C2", alpha=0.3, linewidth=0)
    ax.plot(x, errors, color="C2", linewidth=1.4)
    for bound in (-0.5, 0.5):
        ax.axhline(bound, color="0.5", linewidth=1, linestyle="--")
    ax.set_ylim(-0.75, 0.75)
    ax.set_yticks([-0.5, 0, 0.5], ["−½", "0", "½"])
    ax.set_ylabel("error [steps]")
    ax.set_xlabel("activation [steps of the grid]")


def draw(name: str) -> None:
    """The picture in the colours of one theme."""
    values = np.random.default_rng(3).standard_t(4, 20_000).astype(np.float32)
    observer = pyqref.quantization.MovingAverageMinMaxObserver(averaging_constant=0.2)
    for batch in values.reshape(20, 1000):
        observer(pyqref.from_numpy(batch))
    scale, zero_point = (each.item() for each in observer.calculate_qparams())

    x = np.linspace(-4, 4, 641).astype(np.float32)
    floats = pyqref.from_numpy(x * np.float32(scale))
    quantized = pyqref.quantize_per_tensor(floats, scale, zero_point, pyqref.quint8)
    errors = (quantized.dequantize() - floats).numpy() / scale

    settings = {"svg.hashsalt": "pyqref", "font.size": 12, "axes.grid": False}
    with theme(name), matplotlib.rc_context(settings):
        figure = Figure(figsize=(6.6, 4.7), layout="constrained")
        parts = figure.subplot_mosaic([["range", "range"], ["steps", "error"]])
        draw_range(parts["range"], values, -zero_point * scale, (255 - zero_point) * scale)
        draw_steps(parts["steps"], x, quantized.int_repr().numpy())
        draw_error(parts["error"], x, errors)
        figure.savefig(FOLDER / f"front-{name}.svg", transparent=True, metadata={"Date": None})


if __name__ == "__main__":
    for each in ("light", "dark"):
        draw(each)
