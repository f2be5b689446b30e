"""Pictures for interactive figures where scripts are off, drawn with :mod:`pyqref.plot`."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import plot
from ..numerics.affine import quantize_per_channel, quantize_per_tensor
from ..numerics.convolution import conv_accumulator
from ..numerics.fake_quantize import fake_quantize_per_tensor
from ..numerics.qparams import choose_qparams, symmetric_qparams
from ..numerics.requantize import requantization, requantize
from .words import put_words, set_aside, words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["STATIC", "digits", "drawn"]

STATIC = Path(__file__).parent / "static"
"""The folder whose ``pyqref`` holds the scripts and the style sheet of the figures."""

WRITTEN: dict[Any, Any] = {
    "svg.hashsalt": "pyqref",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
}
"""Settings that give equal bytes each time; letters stay letters, short and searchable."""

PATTERNS = [
    [-1, 0.83, -0.55, 0.31, -0.12, 0.05, 0.47, -0.76],
    [0.62, -0.09, 1, -0.71, 0.38, -0.27, 0.16, -0.9],
    [-0.34, 0.58, 0.21, -1, 0.77, -0.66, 0.02, 0.44],
    [0.13, 0.95, -0.48, -0.19, 0.68, 1, -0.82, 0.36],
]
"""The weights of four channels, in parts of the largest one of each."""


def digits() -> list[list[int]]:
    """Return ten handwritten digits of 64 pixels in [0, 16], as the scripts have them.

    Examples
    --------
    >>> len(digits()), len(digits()[3]), max(map(max, digits()))
    (10, 64, 16)
    """
    text = (STATIC / "pyqref" / "digits.js").read_text("utf-8")
    rows = re.findall(r"^  \[([\d,]+)\],$", text, re.MULTILINE)
    return [[int(each) for each in row.split(",")] for row in rows]


def _pair(figure: Figure) -> tuple[Axes, Axes]:
    left, right = figure.subplots(1, 2)
    return left, right


def _range(figure: Figure) -> None:
    """A grid of three bits, and its error."""
    scale, zero_point = choose_qparams(-2.25, 2.25, 0, 7)
    for ax, error in zip(_pair(figure), (False, True), strict=True):
        plot.quantization_grid(
            float(scale), int(zero_point), quant_max=7, span=(-4, 4), error=error, ax=ax
        )


def _ties(figure: Figure) -> None:
    """Ties, with an odd zero point added before and after rounding."""
    ties = np.arange(-2.5, 3, dtype=np.float32)
    for ax, zero_point in zip(_pair(figure), (0, 1), strict=True):
        orders = {
            "z added, then rounded": quantize_per_tensor(ties, 1, zero_point, -8, 7, np.int8),
            "rounded, then z added": np.rint(ties) + zero_point,
        }
        for (name, q), marker in zip(orders.items(), "o^", strict=True):
            ax.plot(ties, q, marker, label=name, fillstyle="none" if marker == "o" else "full")
        ax.set(xlabel="x / s (ties only)", title=f"zero point {zero_point}")
    figure.axes[0].set_ylabel("integer")
    figure.axes[0].legend(loc="upper left", fontsize="small")


def _channels(figure: Figure) -> None:
    """Four channels of falling size, and the reach of one scale and of four."""
    from .. import from_numpy, qint8
    from .. import quantize_per_channel as by_channel
    from .. import quantize_per_tensor as by_tensor

    sizes = np.array([[1], [0.4], [0.15], [0.04]])
    weight: Any = (np.array(PATTERNS) * sizes).astype(np.float32)
    most = np.abs(weight).max(axis=1)
    one = float(symmetric_qparams(-most.max(), most.max(), -128, 127))
    scales = symmetric_qparams(-most, most, -128, 127)
    variants = {
        "one scale for all": by_tensor(from_numpy(weight), one, 0, qint8),
        "one for each channel": by_channel(
            from_numpy(weight), from_numpy(scales), from_numpy(np.zeros(4, np.int64)), 0, qint8
        ),
    }
    left, right = _pair(figure)
    plot.weights_and_scales(weight, variants, ax=left)
    errors = {}
    grids = {"one scale for all": np.full(4, one, np.float32), "one for each channel": scales}
    for name, step in grids.items():
        step = step * np.float32(17)  # of a grid of 4 bits
        q = quantize_per_channel(weight, step, np.zeros(4), 0, -8, 7, np.int8)
        off = q * step[:, None] - weight
        errors[name] = 100 * np.sqrt((off**2).mean(axis=1) / (weight**2).mean(axis=1))
    plot.channel_error(errors, ax=right)
    right.set_title("4 bits")


def _requantize(figure: Figure) -> None:
    """The integers of the output over the accumulator."""
    accumulator = np.arange(-30_000, 30_001, 20)
    ax = figure.subplots()
    for name, relu in (("without ReLU", False), ("with ReLU", True)):
        made = requantization("fbgemm", 0.02, 0.005, 0.015, 100, bias=[0.25], relu=relu)
        q = requantize(accumulator[:, None], made)[:, 0]
        ax.plot(accumulator, q, label=name, linestyle="--" if relu else "-")
    ax.set(xlabel="accumulator", ylabel="integer of the output", yticks=[0, 64, 100, 128, 192, 255])
    ax.legend(loc="upper left", fontsize="small")


def _straight_through(figure: Figure) -> None:
    """The staircase of fake quantization, and the slope that backward uses."""
    x = np.linspace(-4, 4, 1601, dtype=np.float32)
    _, mask = fake_quantize_per_tensor(x, 0.6, 3, 0, 7)
    left, right = _pair(figure)
    plot.quantization_grid(0.6, 3, quant_max=7, span=(-4, 4), ax=left)
    right.plot(x, np.asarray(mask, float), label="straight-through")
    right.plot(x, np.zeros_like(x), linestyle="--", label="true slope, nearly everywhere")
    right.set(xlabel="real number (no unit)", ylabel="slope that backward uses", yticks=[0, 1])
    right.legend(loc="upper left", bbox_to_anchor=(0, 0.85), fontsize="small")


def _window(figure: Figure) -> None:
    """A digit and its vertical edges, as integers."""
    pixels = np.reshape(digits()[3], (8, 8)).astype(np.float32) / 16
    scale, _ = choose_qparams(0, 1, 0, 255)
    q = quantize_per_tensor(pixels, float(scale), 0, 0, 255, np.uint8)
    kernel = np.array([[[[-64, 0, 64], [-127, 0, 127], [-64, 0, 64]]]])
    sums = conv_accumulator(q[None, None].astype(np.int64), kernel, (1, 1), (1, 1), (1, 1), 1)
    sums = sums.reshape(8, 8)
    edges = (sums - sums.min()) / np.ptp(sums)
    for ax, shown, numbers, title in zip(
        _pair(figure),
        (pixels, edges),
        (q, sums),
        ("integers of the input", "accumulators of vertical edges"),
        strict=True,
    ):
        plot.image(shown, title, ax=ax)
        for (row, column), number in np.ndenumerate(numbers):
            words: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 6}
            if shown[row, column] > 0.5:
                words["color"] = ax.get_facecolor()
            ax.text(column, row, str(number), **words)


_DRAW: dict[str, Callable[[Figure], None]] = {
    "range": _range,
    "ties": _ties,
    "channels": _channels,
    "requantize": _requantize,
    "straight-through": _straight_through,
    "window": _window,
}


@cache
def drawn(name: str, theme: str, language: str = "en") -> bytes:
    """Return the picture of a figure as SVG, in the colours of one theme.

    Parameters
    ----------
    name
        As in :func:`pyqref.sphinx.figure_page`.
    theme
        ``"light"`` or ``"dark"``.
    language
        As in :func:`pyqref.sphinx.figure_page`.

    Examples
    --------
    >>> drawn("requantize", "dark").startswith(b"<?xml")
    True
    """
    import matplotlib
    from matplotlib.figure import Figure

    written = io.BytesIO()
    with plot.theme(theme), matplotlib.rc_context(WRITTEN):
        figure = Figure(figsize=(7.2, 3.4), layout="constrained")
        _DRAW[name](figure)
        said = set_aside(figure, words(language)) if words(language) else {}
        figure.savefig(written, format="svg", metadata={"Date": None})
    return put_words(written.getvalue().decode(), said, language).encode()
