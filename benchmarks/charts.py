"""Charts of what ``python -m benchmarks --json`` wrote; needs matplotlib and nothing else."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

#: Of Okabe and Ito: told apart by everybody, and in grey.
OURS, THEIRS, FAST, SLOW = "#0072B2", "#D55E00", "#0072B2", "#D55E00"


def geometric_means(races: list[dict[str, Any]]) -> dict[str, tuple[float, float, float, int]]:
    """Return for each kind the geometric mean, the smallest and largest ratio, and the count."""
    ratios = defaultdict(list)
    for race in races:
        ratios[race["kind"]].append(race["ratio"])
    return {
        kind: (
            float(np.exp(np.log(each).mean()).clip(min(each), max(each))),
            min(each),
            max(each),
            len(each),
        )
        for kind, each in ratios.items()
    }


def bars(measured: dict[str, Any], ax: Any = None) -> Any:
    """A bar for each kind of work: the geometric mean of its ratios, and their range."""
    means = geometric_means(measured["races"])
    if ax is None:
        _, ax = plt.subplots(figsize=(8, 0.28 * len(means) + 1.2), layout="constrained")
    names = [f"{kind} ({count})" for kind, (*_, count) in means.items()]
    middle = np.array([mean for mean, *_ in means.values()])
    low, high = (np.array([each[i] for each in means.values()]) for i in (1, 2))
    ax.barh(
        names,
        middle - 1,
        left=1,
        color=[FAST if mean >= 1 else SLOW for mean in middle],
        xerr=(middle - low, high - middle),
        ecolor=plt.rcParams["text.color"],
        error_kw={"elinewidth": 0.8, "alpha": 0.6},
    )
    ax.axvline(1, color=plt.rcParams["text.color"], linewidth=1)
    ax.set_xscale("log")
    ax.set_xticks([0.25, 0.5, 1, 2, 5, 10, 20], ["¼", "½", "1", "2", "5", "10", "20"])
    ax.minorticks_off()
    ax.set_xlabel("time of the fastest other / ours")
    ax.set_title(_setting(measured), fontsize="medium")
    ax.set_ylim(len(names) - 0.4, -0.6)  # from above, without empty room
    return ax


def roofline(measured: dict[str, Any], ax: Any = None) -> Any:
    """Operations a second over operations a byte: ours, the best other one, and the roof.

    The flat roof is the processor, the slope memory: what lies above the slope ran out of cache.
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 4.5), layout="constrained")
    races = [race for race in measured["races"] if race["kind"] in ("linear", "conv2d")]
    density = np.array([race["operations"] / race["moved"] for race in races])
    work = np.array([race["operations"] for race in races])
    for name, label, colour, marker in (
        ("best", "fastest other library", THEIRS, "x"),
        ("pyqref", "pyqref", OURS, "o"),
    ):
        seconds = np.array([race[name] for race in races])
        ax.plot(density, work / seconds / 1e9, marker, color=colour, ms=4, alpha=0.75, label=label)
    peak, bandwidth = measured["peaks"]["operations"], measured["peaks"]["bytes"]
    x = np.geomspace(density.min() / 1.5, density.max() * 1.5, 200)
    ax.plot(
        x,
        np.minimum(peak, x * bandwidth) / 1e9,
        color=plt.rcParams["text.color"],
        linewidth=1.2,
        label="roof",
    )
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xlabel("operations per byte of input, weight and output")
    ax.set_ylabel("10⁹ operations a second")
    ax.set_title(_setting(measured), fontsize="medium")
    ax.legend()
    return ax


def _setting(measured: dict[str, Any]) -> str:
    """Such as ``avx2, 1 thread``."""
    return f"{measured['kernel']}, {threads_of(measured['threads'])}"


def threads_of(count: int) -> str:
    """Such as ``1 thread``."""
    return f"{count} {'thread' if count == 1 else 'threads'}"
