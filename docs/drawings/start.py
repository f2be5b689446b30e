"""The figures of the ladder."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import pyqref
from pyqref import plot
from pyqref.plot.style import ink

from .network import networks
from .table import boxes

EIGHT = [-1.0, -0.4, 0.0, 0.1, 0.6, 0.875, 1.3, 3.1]
"""The numbers of the first rung, with scale 0.25 and zero point 4 on the integers 0 to 15."""


def staircase() -> Any:
    """Eight numbers on the staircase of sixteen integers."""
    figure, ax = plt.subplots(figsize=(6.4, 3.8))
    plot.quantization_grid(0.25, 4, quant_min=0, quant_max=15, span=(-1.4, 3.4), ax=ax)
    x = pyqref.tensor(EIGHT)
    q = pyqref.quantize_per_tensor(x, 0.25, 4, pyqref.quint8).int_repr().clamp(0, 15)
    back = 0.25 * (q.numpy().astype(float) - 4)
    ax.plot(EIGHT, back, "o", color="C1", markersize=7, label="the eight numbers")
    last_of_each = {integer: at for at, integer in enumerate(q.tolist())}
    for integer, at in last_of_each.items():
        ax.annotate(
            str(integer),
            (EIGHT[at], back[at]),
            (7, -13),
            textcoords="offset points",
            color="C1",
            fontweight="bold",
        )
    ax.legend(loc="upper left", fontsize="small")
    ax.set_ylabel("after quantizing and back")
    ax.set_xlabel("number before")
    return figure


def values_with_outlier() -> np.ndarray[Any, np.dtype[np.float32]]:
    """999 numbers of a bell and one far away, as on the second rung."""
    values = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    values[0] = 40
    return values


def outlier() -> Any:
    """The histogram with the range of the extremes and a narrow one."""
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    values = values_with_outlier()
    ranges = {
        "all numbers: coarse steps": (float(values.min()), float(values.max())),
        "without the outlier: fine steps": (-4.0, 4.0),
    }
    plot.observer_range(values, ranges, ax=ax)
    ax.set_xlabel("number")
    ax.legend(loc="upper right", fontsize="small")
    return figure


def product() -> Any:
    """A sum of products of integers, in boxes."""
    figure, ax = plt.subplots(figsize=(6.4, 3.0))
    x, w = np.array([7, 2, 8, 4]), np.array([3, -1, 2, 5])
    centred = x - 4
    rows: list[tuple[str, list[object]]] = [
        ("input q", list(x)),
        ("less zero point 4", list(centred)),
        ("weight", list(w)),
        ("product", [*(centred * w), "→", (centred * w).sum()]),
    ]
    boxes(ax, rows, colours=("C0", "C0", "C1", "C2"))
    return figure


def layer() -> Any:
    """The difference of the integer layer from the float layer, between half steps."""
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    wanted, got, step = layer_results()
    for place in (-0.5, 0.5):
        ax.axhline(place, color=ink(ax), linewidth=1, linestyle="--")
    ax.plot(wanted, (got - wanted) / step, ".", color="C0", markersize=5)
    ax.set_xlabel("result of the float layer")
    ax.set_ylabel("integer minus float\n[steps of the output]")
    return figure


@cache
def layer_results() -> tuple[Any, Any, float]:
    """Return the results of both layers for the same inputs, and the step of the output."""
    generator = pyqref.manual_seed(0)
    model = pyqref.nn.Sequential(
        pyqref.quantization.QuantStub(),
        pyqref.nn.Linear(64, 4),
        pyqref.quantization.DeQuantStub(),
    ).eval()
    inputs = pyqref.randn(100, 64, generator=generator)
    model.qconfig = pyqref.quantization.default_qconfig
    prepared = pyqref.quantization.prepare(model)
    prepared(inputs)
    integers = pyqref.quantization.convert(prepared)
    results = [each(inputs).detach().numpy().ravel() for each in (model, integers)]
    return results[0], results[1], float(integers[1].scale)


def network() -> Any:
    """A digit, and the ten scores of the float network and of the integer network."""
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    trained = networks()
    image = trained.digits.test_images[:1]
    places = np.arange(10)
    for index, (name, each) in enumerate((("float", trained.model), ("integer", trained.integer))):
        scores = each(image)[0].detach().numpy()
        ax.bar(places + 0.4 * index - 0.2, scores, 0.4, color=f"C{index}", label=name)
    ax.set_xticks(places)
    ax.set_xlabel("digit")
    ax.set_ylabel("score")
    ax.legend(fontsize="small", loc="lower right")
    inset = ax.inset_axes((0.78, 0.62, 0.2, 0.38))
    plot.image(image[0, 0].numpy(), ax=inset)
    return figure


def eight() -> Any:
    """The eight numbers of the first rung and the integers that stand for them."""
    figure, ax = plt.subplots(figsize=(6.4, 1.5))
    integers = [min(max(round(x / 0.25) + 4, 0), 15) for x in EIGHT]
    boxes(ax, [("number", EIGHT), ("integer", integers)], colours=("C0", "C2"))
    return figure
