"""Figures of the chapters on integers that stand for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import pyqref
from pyqref import plot
from pyqref.numerics.noise import gaussian_noise
from pyqref.numerics.rounding import round_half_away, round_half_even
from pyqref.plot.style import ink

PICOJOULES = {
    "add, 8-bit integers": 0.03,
    "multiply, 8-bit integers": 0.2,
    "add, float32": 0.9,
    "multiply, float32": 3.7,
}
"""Energy of one operation in a 45 nm process (Horowitz, ISSCC 2014)."""


def energy() -> Any:
    """Energy of four operations."""
    figure, ax = plt.subplots(figsize=(6.4, 2.4))
    colours = ["C0", "C0", "C1", "C1"]
    ax.barh(list(PICOJOULES), list(PICOJOULES.values()), color=colours)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    for place, joules in enumerate(PICOJOULES.values()):
        ax.text(joules + 0.05, place, str(joules), va="center", color=ink(ax))
    ax.set_xlim(0, 4.2)
    ax.set_xlabel("energy [pJ]")
    return figure


def ties() -> Any:
    """Three ways to round, at ties."""
    figure, ax = plt.subplots(figsize=(6.4, 3.6))
    x = np.arange(-3.5, 4)
    ax.plot([-4, 4], [-4, 4], "--", color=ink(ax), linewidth=1)
    ways = (
        ("ties to even", round_half_even(x), "o", 9),
        ("ties away from zero", round_half_away(x), "s", 6),
        ("ties up", np.floor(x + 0.5), "^", 4),
    )
    for index, (name, rounded, marker, size) in enumerate(ways):
        ax.plot(x, rounded, marker, markersize=size, color=f"C{index}", label=name)
    ax.set_xticks(x)
    ax.set_xlabel("number between two integers")
    ax.set_ylabel("rounded")
    ax.legend(fontsize="small", loc="upper left")
    return figure


def grid() -> Any:
    """The staircase of eight integers, and its error."""
    figure, axes = plt.subplots(2, 1, figsize=(6.4, 5.2), sharex=True)
    for ax, error in zip(axes, (False, True), strict=True):
        plot.quantization_grid(0.25, 3, quant_min=0, quant_max=7, error=error, ax=ax)
    axes[0].set_xlabel("")
    return figure


def clipping() -> Any:
    """Noise of a bell over the place where it is clipped."""
    figure, ax = plt.subplots(figsize=(6.4, 3.6))
    clips = np.arange(1.0, 6.0, 0.05)
    for index, bits in enumerate((2, 4, 8)):
        noise = np.array([gaussian_noise(bits, clip) for clip in clips])
        best = int(noise.argmin())
        ax.plot(clips, noise, color=f"C{index}", label=f"{bits} bits")
        ax.plot(clips[best], noise[best], "o", color=f"C{index}")
    ax.set_yscale("log")
    ax.set_xlabel("clipped at [standard deviations]")
    ax.set_ylabel("mean square error")
    ax.legend(fontsize="small")
    return figure


def channels() -> Any:
    """A weight whose channels differ in size, with one scale and with one for each channel."""
    figure, ax = plt.subplots(figsize=(6.4, 3.6))
    sizes = pyqref.tensor([1.0, 0.1, 0.3, 0.05, 0.6, 0.15, 0.08, 0.4]).reshape(8, 1)
    weight = pyqref.randn(8, 64, generator=pyqref.manual_seed(0)) * sizes
    quantized = {}
    for name, observer in (
        ("per tensor", pyqref.quantization.default_weight_observer()),
        ("per channel", pyqref.quantization.default_per_channel_weight_observer()),
    ):
        observer(weight)
        scale, zero_point = observer.calculate_qparams()
        if name == "per tensor":
            made = pyqref.quantize_per_tensor(weight, scale.item(), 0, pyqref.qint8)
        else:
            made = pyqref.quantize_per_channel(weight, scale, zero_point, 0, pyqref.qint8)
        quantized[name] = made
    plot.weights_and_scales(weight, quantized, ax=ax)
    return figure
