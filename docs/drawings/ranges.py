"""Figures of the chapters on ranges."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import pyqref
from pyqref import plot
from pyqref.numerics.moving_average import moving_average
from pyqref.numerics.qparams import affine_qparams


def shifted() -> Any:
    """An observed range and the eight numbers that cover it, which are shifted a little."""
    figure, ax = plt.subplots(figsize=(6.4, 1.9))
    low, high = -1.0, 2.1
    scale, zero_point = (each.item() for each in affine_qparams(low, high, 0, 7))
    points = scale * (np.arange(8) - zero_point)
    ax.plot([low, high], [1, 1], "|-", color="C0", markersize=14, linewidth=3)
    ax.plot(points, np.zeros(8), "|-", color="C1", markersize=14, linewidth=3)
    for integer, point in enumerate(points):
        ax.text(point, -0.42, str(integer), ha="center", va="top")
    ax.axvline(0, linestyle=":", color="C2")
    ax.set_yticks([1, 0], ["observed", "covered"])
    ax.set_ylim(-1, 1.4)
    ax.grid(visible=False)
    ax.set_xlabel("real number; below it the integers")
    return figure


def averages() -> Any:
    """The largest numbers of batches, their maximum and two moving averages."""
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    largest = np.abs(np.random.default_rng(1).standard_t(3, (120, 30))).max(axis=1)
    largest = largest.astype(np.float32)
    ax.plot(largest, ".", color="0.6", label="of each batch")
    ax.plot(np.maximum.accumulate(largest), color="C1", label="running maximum")
    for index, constant in ((0, 0.1), (2, 0.01)):
        averaged = [largest[0]]
        for each in largest[1:]:
            averaged.append(moving_average(averaged[-1], each, constant))
        ax.plot(averaged, color=f"C{index}", label=f"moving average, c = {constant}")
    ax.set_yscale("log")
    ax.set_yticks([2, 5, 10, 20], ["2", "5", "10", "20"])
    ax.set_yticks([], minor=True)
    ax.set_xlabel("batch")
    ax.set_ylabel("largest number")
    ax.legend(fontsize="small")
    return figure


def histogram() -> Any:
    """Ranges of two observers for a million numbers, one of them far away."""
    figure, ax = plt.subplots(figsize=(6.4, 3.6))
    values = np.random.default_rng(0).standard_normal(1_000_000).astype(np.float32)
    values[0] = 30
    observers = {
        "extremes": pyqref.quantization.MinMaxObserver(),
        "histogram": pyqref.quantization.HistogramObserver(),
    }
    for observer in observers.values():
        observer(pyqref.from_numpy(values))
    plot.observer_range(values, observers, ax=ax)
    ax.legend(fontsize="small")
    return figure
