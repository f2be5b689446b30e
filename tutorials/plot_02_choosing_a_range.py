"""
Choosing a range
================

The scale follows from the range of the data. But should the range hold *all* of the data?
What do the three observers choose, and what does each choice cost?

A wide range clips nothing and rounds coarsely; a narrow one rounds finely and clips. The best
width lies between the two. We look for it in photographs and in the activations of a network,
and see which observer comes near.
"""

# sphinx_gallery_thumbnail_number = 4

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_image

import pyqref as torch
from pyqref import measure, plot
from pyqref.demo.data import load_digits
from pyqref.demo.models import DigitCNN
from pyqref.demo.static import fused
from pyqref.demo.train import train
from pyqref.quantization import (
    HistogramObserver,
    MinMaxObserver,
    MovingAverageMinMaxObserver,
)

plt.style.use(plot.settings())

# %%
# Data with tails
# ---------------
#
# The brightness of a photograph is spread evenly over its range, so there is little to choose.
# The *differences* of neighbouring pixels, which the first layer of almost every vision network
# computes, are another matter: most are tiny, but at edges they are large.


def differences(name):
    """Return a photograph in grey, from 0 to 1, and the differences of neighbouring pixels."""
    grey = load_sample_image(name).astype(np.float32).mean(axis=2) / 255
    return grey, np.diff(grey, axis=1)


photograph, edges = differences("china.jpg")

figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.7))
for ax, picture, title in zip(
    axes, (photograph, np.abs(edges) / 0.6), ("brightness", "differences, absolute"), strict=True
):
    ax.imshow(picture, cmap="gray", vmin=0, vmax=1)
    ax.set_title(title)
    ax.set_axis_off()
plt.show()

# %%
# Three observers watch
# ---------------------
#
# An observer sees the data in batches, here strips of seven rows, from the sky down to the
# pavement.
#
# * :class:`~pyqref.quantization.MinMaxObserver` keeps the extremes of everything it ever saw,
#   :eq:`eq-running-range`.
# * :class:`~pyqref.quantization.MovingAverageMinMaxObserver` averages the extremes of the
#   batches, :eq:`eq-average-range`, so that single ones count little and old ones are forgotten.
# * :class:`~pyqref.quantization.HistogramObserver` counts, and then searches the range with
#   the smallest squared error, :eq:`eq-histogram-search`.


def watched(batches):
    """The three observers after they have seen the batches, and the history of the first two."""
    observers = {
        "MinMax": MinMaxObserver(dtype=torch.quint8),
        "MovingAverage": MovingAverageMinMaxObserver(averaging_constant=0.1, dtype=torch.quint8),
        "Histogram": HistogramObserver(dtype=torch.quint8),
    }
    history = {"MinMax": [], "MovingAverage": []}
    for batch in batches:
        for observer in observers.values():
            observer(torch.from_numpy(np.ascontiguousarray(batch)))
        for name, seen in history.items():
            seen.append(float(observers[name].max_val))
    return observers, history


def in_strips(values):
    """Seven rows at a time."""
    return [values[row : row + 7] for row in range(0, len(values), 7)]


strips = in_strips(edges)
observers, history = watched(strips)

figure, ax = plt.subplots(figsize=(6.4, 3.4))
ax.plot([strip.max() for strip in strips], ".", color="0.55", label="largest of the strip")
for name, seen in history.items():
    ax.plot(seen, label=name)
ax.set_xlabel("strip")
ax.set_ylabel("largest difference [brightness]")
ax.legend(loc="lower right", fontsize="small")
plt.show()

# %%
# MinMax only rises. The average follows: for it the sky, seen first, is nearly forgotten at the
# end. These are the final choices:

figure, ax = plt.subplots(figsize=(6.4, 3.8))
plot.observer_range(edges, observers, unit="brightness", ax=ax)
ax.set_xlabel("difference of neighbouring pixels [brightness]")
ax.legend(loc="upper left", fontsize="small")
plt.show()

# %%
# What a width costs
# ------------------
#
# Now the choice itself. Take a part of the full range, from a fifth to all of it, quantize
# with it, and measure the root mean square error. Theory estimates it: a number inside is
# rounded, which costs :math:`s^2/12` in the mean if numbers lie anywhere between two steps; a
# number outside is clipped, which costs the squared distance to the end; zero costs nothing.


def chosen(scale, zero_point, top=255):
    """Smallest and largest number of a grid."""
    return -zero_point * scale, (top - zero_point) * scale


def error_of_range(values, low, high, top=255):
    """Root mean square error with this range: measured, and as theory predicts it."""
    scale, zero_point = torch.numerics.qparams.affine_qparams(low, high, 0, top)
    rounded = torch.fake_quantize_per_tensor_affine(
        torch.from_numpy(values), float(scale), int(zero_point), 0, top
    ).numpy()
    first, last = chosen(float(scale), int(zero_point), top)
    outside = values - np.clip(values, first, last)
    rounding = np.where(values == 0, 0, float(scale) ** 2 / 12)
    predicted = np.where(outside == 0, rounding, outside.astype(np.float64) ** 2)
    measured = np.mean((rounded - values).astype(np.float64) ** 2)
    return np.sqrt(measured), np.sqrt(predicted.mean())


parts = np.linspace(0.2, 1, 33)


def draw_costs(ax, values, observers):
    """Error against width for 8 and for 4 bits, with the choices of the observers."""
    low, high = values.min(), values.max()
    curves = {}
    for bits, colour in ((4, "C3"), (8, "C4")):
        top = 2**bits - 1
        costs = [error_of_range(values, part * low, part * high, top) for part in parts]
        measured, predicted = np.transpose(costs)
        ax.plot(100 * parts, measured, color=colour, linewidth=2, label=f"{bits} bits, measured")
        ax.plot(100 * parts, predicted, "--", color="0.2", linewidth=1.1)
        curves[bits] = measured, predicted
    found = {}
    for index, (name, observer) in enumerate(observers.items()):
        scale, zero_point = (each.item() for each in observer.calculate_qparams())
        first, last = chosen(scale, zero_point)
        found[name] = error_of_range(values, first, last)[0]
        width = 100 * (last - first) / (high - low)
        ax.plot(width, found[name], "os^"[index], color=f"C{index}", markersize=9, label=name)
    ax.plot([], [], "--", color="0.2", linewidth=1.1, label="theory")
    ax.set_yscale("log")
    ax.set_xlabel("width of the range [% of minimum to maximum]")
    return curves, found


figure, ax = plt.subplots(figsize=(6.4, 4.2))
photograph_curves, photograph_costs = draw_costs(ax, edges, observers)
ax.set_ylabel("rms error [brightness]")
ax.set_title("differences of pixels")
ax.legend(loc="lower left", fontsize="small")
plt.show()

# %%
# On the left clipping dominates the error, and on the right rounding does. With 4 bits the best
# range is far narrower than with 8: the coarser the grid, the more clipping pays. MinMax stands
# at the right end, by construction. The histogram's search stops at the first rise of its own
# estimate of the error, and so comes near to the best width but not past it.
#
# With 8 bits theory is accurate. With 4 it overestimates the error: most differences are far
# smaller than a step, and rounding numbers so close to zero costs less than :math:`s^2/12`.
#
# Does this hold for this photograph only? In another one, a flower before a blurred background, the
# largest difference is fifteen times the root mean square. In this one it is eight times.

_, petals = differences("flower.jpg")
seen, _ = watched(in_strips(petals))
flower_costs = {}
for name, observer in seen.items():
    scale, zero_point = (each.item() for each in observer.calculate_qparams())
    flower_costs[name] = error_of_range(petals, *chosen(scale, zero_point))[0]
    print(f"{name:14} china {photograph_costs[name]:.5f}, flower {flower_costs[name]:.5f}")

# %%
# The histogram is best again. The average is far behind: some strips near the end are all
# background, and while it watches them it forgets the edges of the petals.
#
# Activations of a network
# ------------------------
#
# We repeat this with the outputs of the layers of a small convolutional network that reads
# digits. After ReLU all numbers are positive, many are zero, and some are large.

digits = load_digits()
torch.manual_seed(0)
network = train(DigitCNN(), digits.train_images, digits.train_labels, epochs=3, lr=5e-3)
layers = ("stem.conv", "block.conv1", "head")
activations = measure.layer_outputs(fused(network), digits.calibration_images, layers)

figure, axes = plt.subplots(3, 1, figsize=(6.4, 9.0), sharex=True)
activation_costs = {}
for ax, layer in zip(axes, layers, strict=True):
    values = activations[layer].astype(np.float32)
    seen, _ = watched(np.array_split(values, 16))
    activation_costs[layer] = draw_costs(ax, values, seen)[1]
    ax.set_ylabel("rms error (no unit)")
    ax.set_title(layer)
    ax.set_xlabel(ax.get_xlabel() if ax is axes[-1] else "")
axes[0].legend(loc="lower left", fontsize="small")
plt.show()

# %%
# With 8 bits the observers differ little, and MinMax is a sound choice for data without
# outliers. One outlier changes that. We add one to the first batch of the last layer, ten times
# as large as everything else, and see what it does to all other activations.

spoiled = activations["head"].astype(np.float32).copy()
spoiled[0, 0] = 10 * np.abs(spoiled).max()
seen, _ = watched(np.array_split(spoiled, 16))
print("rms error of all other activations:")
outlier_costs = {}
for name, observer in seen.items():
    scale, zero_point = (each.item() for each in observer.calculate_qparams())
    others = activations["head"].astype(np.float32)
    outlier_costs[name] = error_of_range(others, *chosen(scale, zero_point))[0]
    print(f"  {name:14} {outlier_costs[name]:.4f}")

# %%
# The outlier widens MinMax's range for good. The average has nearly forgotten it fifteen batches
# later. The histogram keeps it, because it minimises the *squared* error, and by that measure one
# number clipped to a tenth is worse than all others rounded ten times as coarsely. That is right
# if the outlier means something, and wrong if it was a slip of the camera: no observer can know.
#
# What we claimed
# ---------------
#
# Theory predicts the cost of 8 bits within a tenth, and with 4 bits errs on the safe side; the
# histogram is at most a few percent worse than MinMax; the best width shrinks with the number
# of bits; only the moving average forgets an outlier.

measured, predicted = photograph_curves[8]
assert np.abs(measured / predicted - 1).max() < 0.1
measured, predicted = photograph_curves[4]
assert np.all(measured <= 1.02 * predicted)
for costs in (photograph_costs, flower_costs):
    assert costs["Histogram"] <= costs["MinMax"] <= costs["MovingAverage"]
for costs in activation_costs.values():
    assert costs["Histogram"] <= 1.05 * costs["MinMax"]
best = {bits: parts[np.argmin(curve[0])] for bits, curve in photograph_curves.items()}
assert best[4] < best[8]
assert outlier_costs["MovingAverage"] < 0.7 * outlier_costs["MinMax"]
assert outlier_costs["Histogram"] > 0.7 * outlier_costs["MinMax"]
assert np.all(np.diff(history["MinMax"]) >= 0)
