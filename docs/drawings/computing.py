"""Figures of the chapters on computing with integers."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import pyplot as plt

import pyqref
from pyqref import arithmetic, plot
from pyqref.numerics import activation, elementwise
from pyqref.numerics.accumulator import accumulator_bits
from pyqref.numerics.normalization import layer_norm
from pyqref.numerics.requantize import requantization, requantize
from pyqref.plot.style import ink

from .table import boxes


def widths() -> Any:
    """How many bits a sum of products needs, over their number."""
    figure, ax = plt.subplots(figsize=(6.4, 3.2))
    depths = np.unique(np.logspace(0, 5, 60).astype(int))
    bits = [accumulator_bits(int(depth), 255, 128) for depth in depths]
    ax.plot(depths, bits, color="C0", drawstyle="steps-post")
    for width in (16, 32):
        ax.axhline(width, linestyle="--", color=ink(ax), linewidth=1)
    ax.set_xscale("log")
    ax.set_yticks([16, 20, 24, 28, 32])
    ax.set_xlabel("products of bytes in a sum")
    ax.set_ylabel("bits of the accumulator")
    return figure


def requantized() -> Any:
    """Accumulators and the integers of the output."""
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    accumulators = np.arange(-6, 30)
    requant = requantization("fbgemm", 0.25, 0.5, 0.2, 3, quant_min=0, quant_max=15)
    integers = requantize(accumulators[:, None], requant)[:, 0]
    ax.plot(accumulators, 0.625 * accumulators + 3, "--", color=ink(ax), linewidth=1)
    ax.plot(accumulators, integers, "o", color="C0", markersize=5)
    ax.set_xlabel("accumulator")
    ax.set_ylabel("integer of the output")
    ax.set_ylim(-2, 18)
    return figure


def systems() -> Any:
    """Ties in three arithmetics, with an odd zero point."""
    figure, ax = plt.subplots(figsize=(6.4, 3.6))
    names = ("fbgemm", "onednn", "tflite")
    halves = np.arange(-7, 8, 2)
    layer = pyqref.nn.quantized.Linear(1, 1)
    weight = pyqref.quantize_per_tensor(pyqref.tensor([[0.5]]), 0.5, 0, pyqref.qint8)
    layer.set_weight_bias(weight, None)
    layer.scale, layer.zero_point = 1.0, 11
    inputs = pyqref.quantize_per_tensor(pyqref.tensor(halves[:, None] * 1.0), 1.0, 7, pyqref.quint8)
    for index, (name, marker, size) in enumerate(zip(names, "os^", (10, 6, 4), strict=True)):
        with arithmetic.use(name):
            got = layer(inputs).int_repr().numpy()[:, 0].astype(int) - 11
        ax.plot(halves / 2, got, marker, markersize=size, color=f"C{index}", label=name)
    ax.plot([-3.5, 3.5], [-3.5, 3.5], "--", color=ink(ax), linewidth=1)
    ax.set_xticks(halves / 2)
    ax.set_xlabel("exact result, a tie")
    ax.set_ylabel("integer less zero point 11")
    ax.legend(fontsize="small", loc="upper left")
    return figure


def added() -> Any:
    """The error of a sum of two grids, in steps of the result."""
    figure, ax = plt.subplots(figsize=(6.4, 3.2))
    generator = np.random.default_rng(0)
    a, b = generator.integers(0, 256, (2, 20_000)).astype(np.uint8)
    first, second = elementwise.Grid(0.0213, 128), elementwise.Grid(0.0137, 100)
    out = elementwise.Grid(0.0407, 120)
    exact = (first.scale * (a - 128.0) + second.scale * (b - 100.0)) / out.scale
    got = elementwise.add(a, first, b, second, out).astype(float) - out.zero_point
    plot.error_histogram({"sum": got - exact}, bound=0.5, unit="steps", ax=ax)
    return figure


def sigmoid() -> Any:
    """The sigmoid of sixteen integers, beside the curve."""
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    q = np.arange(16, dtype=np.uint8)
    given, out = elementwise.Grid(0.8, 8, 0, 15), elementwise.Grid(1 / 16, 0, 0, 15)
    got = activation.pointwise(activation.sigmoid, q, given, out)
    x = np.linspace(-6.5, 6, 200, dtype=np.float32)
    ax.plot(x, activation.sigmoid(x), "--", color=ink(ax), linewidth=1, label="sigmoid")
    ax.plot(0.8 * (q - 8.0), got / 16, "o", color="C0", label="16 integers")
    for level in range(16):
        ax.axhline(level / 16, color="0.6", linewidth=0.4)
    ax.grid(visible=False)
    ax.set_xlabel("input")
    ax.set_ylabel("result")
    ax.legend(fontsize="small", loc="upper left")
    return figure


def pooled() -> Any:
    """A window of four integers, its maximum and its mean."""
    figure, ax = plt.subplots(figsize=(6.4, 2.4))
    q = pyqref.tensor([[[[12.0, 15.0], [11.0, 20.0]]]])
    window = pyqref.quantize_per_tensor(q - 10, 1.0, 10, pyqref.quint8)
    functions = pyqref.nn.functional
    largest = functions.max_pool2d(window, 2).int_repr().item()
    mean = functions.avg_pool2d(window, 2).int_repr().item()
    rows = [
        ("window", [12, 15, 11, 20]),
        ("maximum", [largest]),
        ("mean", [14.5, "→", mean]),
    ]
    boxes(ax, rows, colours=("C0", "C1", "C2"))
    return figure


def normalized() -> Any:
    """A row of integers before and after layer norm."""
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.8))
    q = np.random.default_rng(0).normal(140, 12, (1, 400)).round().clip(0, 255).astype(np.uint8)
    out = elementwise.Grid(1 / 32, 128)
    got = layer_norm(q, elementwise.Grid(0.05, 100), None, None, 1e-5, out)
    pairs = (("before", q, "C0"), ("after", got, "C1"))
    for ax, (title, integers, colour) in zip(axes, pairs, strict=True):
        ax.hist(integers[0], bins=range(0, 257, 8), color=colour)
        ax.set_title(title)
        ax.set_xlabel("integer")
    axes[0].set_ylabel("count")
    return figure


def rows() -> Any:
    """Rows of an embedding, each with the reach of its own integers."""
    figure, ax = plt.subplots(figsize=(6.4, 3.4))
    generator = pyqref.manual_seed(0)
    table = pyqref.randn(8, 32, generator=generator) * 0.2
    table = table + pyqref.linspace(-0.5, 1.0, 8).reshape(8, 1)
    low, high = (each.numpy() for each in (table.amin(1), table.amax(1)))
    for row, values in enumerate(table.numpy()):
        ax.plot(values, np.full(32, row), ".", color="0.6")
        ax.plot([low[row], high[row]], [row, row], "|-", color="C0", markersize=12, linewidth=1.5)
    ax.axvline(0, linestyle=":", color="C1")
    ax.set_yticks(range(8))
    ax.set_xlabel("number")
    ax.set_ylabel("row of the table")
    return figure
