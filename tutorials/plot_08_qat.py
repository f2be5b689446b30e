"""
Training with rounding: the straight-through estimator
======================================================

Rounding is flat almost everywhere and jumps in between, so its derivative is zero wherever it
has one. How can gradient descent train a network that rounds, and when is that worth the time?

*Quantization-aware training* puts the rounding into the forward pass, so that the loss feels it,
and leaves it out of the backward pass, where it would say nothing. The second half of that
sentence looks like cheating. This tutorial measures how large the error of this gradient is,
what it does to single weights, and what it does to a network of 2 and 3 bits.
"""

import copy

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, plot
from pyqref.demo import bits, data, models
from pyqref.demo.measure import accuracy
from pyqref.demo.train import predict, train

plt.style.use(plot.settings())

# %%
# Forward and backward, by hand
# -----------------------------
#
# Fake quantization rounds to the grid of the integers and returns real numbers
# (:eq:`eq-fake-quantize`, :eq:`eq-fake-quantize-mask`). Two bits make four integers, -2 to 1;
# with the scale 0.5 they stand for -1, -0.5, 0 and 0.5.

scale, quant_min, quant_max = 0.5, -2, 1


def fake_quantize(x):
    """To the nearest of -1, -0.5, 0, 0.5."""
    return torch.fake_quantize_per_tensor_affine(x, scale, 0, quant_min, quant_max)


x = torch.tensor([-1.9, -1.2, -0.7, -0.2, 0.1, 0.6, 0.7, 0.8, 2.0], requires_grad=True)
y = fake_quantize(x)
y.sum().backward()
print("     x   position  integer     y   gradient")
for each, real, slope in zip(x.tolist(), y.tolist(), x.grad.tolist(), strict=True):
    position = round(each / scale)
    print(f"{each:6.1f} {position:7d} {round(real / scale):8d} {real:9.1f} {slope:8.0f}")

# %%
# The gradient is 1 where the rounded position is one of the four integers and 0 where it was
# clamped. That is the *straight-through estimator*, :eq:`eq-straight-through`: the derivative
# of rounding is taken to be one, that of the clamp is kept. The mask looks at the *rounded*
# position: 0.6 and 0.7 lie beyond the largest number of the grid, 0.5, but are rounded and not
# clamped to it, so their gradient passes. The mask ends half a step outside.

inside = [quant_min <= round(each / scale) <= quant_max for each in x.tolist()]
assert [float(each) for each in inside] == x.grad.tolist()

# %%
# How large is the error?
# -----------------------
#
# Inside the range both :math:`Q(x)` and :math:`Q(x + d)` are at most half a step from where
# they should be, so that over a distance :math:`d` the slope of the staircase is
#
# .. math:: \left| \frac{Q(x + d) - Q(x)}{d} - 1 \right| \le \frac{s}{d}.
#
# Over much less than a step the estimate is wrong by any factor. Over ten steps it is wrong by
# a tenth at most. What the optimiser sees is the sum of many weights, many samples and many
# steps: long distances.

rng = np.random.default_rng(0)
step = 0.01
distances = step * np.geomspace(0.13, 87.3, 40)
start = rng.uniform(-0.5, 0.5, (2000, 1))
ends = start + distances
grid = (torch.from_numpy(each) for each in (start, ends))
first, last = (
    torch.fake_quantize_per_tensor_affine(each, step, 0, -300, 300).numpy() for each in grid
)
wrong = np.abs((last - first) / distances - 1).max(axis=0)

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6))
line = np.linspace(-2, 2, 2001)
sweep = torch.from_numpy(line).requires_grad_()
stairs = fake_quantize(sweep)
stairs.sum().backward()
axes[0].plot(line, stairs.tolist(), label="forward: staircase")
axes[0].plot(line, np.clip(line, -1.25, 0.75), "--", label="what backward differentiates")
axes[0].plot(line, sweep.grad.tolist(), ":", linewidth=2, label="gradient that passes")
axes[0].set(xlabel="x (no unit)", ylabel="y, dy/dx (no unit)", title="2 bits, scale 0.5")
axes[0].set_ylim(-1.4, 2.1)
axes[0].legend(loc="upper left", fontsize="small")
axes[1].loglog(distances / step, wrong, "o", markersize=4, label="largest of 2000 starts")
axes[1].loglog(distances / step, step / distances, "--", color="C1", label="bound s / d")
axes[1].set(xlabel="distance d [steps]", ylabel="error of the slope (no unit)")
axes[1].set_title("how wrong the slope 1 is")
axes[1].legend(fontsize="small")
plt.show()

roundings = 3 * 600 * 2.0**-24  # of the float32 numbers on the way, in steps
assert np.all(wrong <= (step / distances) * (1 + roundings))

# %%
# One weight learns
# -----------------
#
# A weight on a grid cannot be moved by a small gradient: the nearest grid point would not
# change. So the optimiser keeps a real *latent* weight, and only the forward pass rounds it. Let
# one weight try to be 0.4 on a grid of quarters. It cannot, and the picture shows what happens
# instead. A second weight starts outside of the range, at 3.


def descend(start, target, n_steps=60, lr=0.1):
    """The latent weight and its integer, step by step; the loss is (Q(w) - target)² / 2."""
    weight = torch.tensor([start], requires_grad=True)
    latent, integers = [], []
    for _ in range(n_steps):
        used = torch.fake_quantize_per_tensor_affine(weight, 0.25, 0, -4, 3)
        loss = ((used - target) ** 2 / 2).sum()
        weight.grad = None
        loss.backward()
        latent.append(weight.item())
        integers.append(round(used.item() / 0.25))
        with torch.no_grad():
            weight -= lr * weight.grad
    return np.array(latent), np.array(integers)


paths = {"starts at -0.6": descend(-0.6, 0.4), "starts at 3": descend(3.0, 0.4)}
figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.2))
for ax, (name, (latent, integers)) in zip(axes, paths.items(), strict=True):
    ax.plot(latent, label="latent weight")
    ax.step(range(len(integers)), integers * 0.25, where="post", label="used in forward")
    ax.axhline(0.4, linestyle=":", color="0.5", label="target")
    ax.set(xlabel="step", ylabel="weight (no unit)", title=name)
    ax.legend(fontsize="small")
plt.show()
print("integers of the first:", *paths["starts at -0.6"][1].tolist()[::2], "(every other step)")

# %%
# The first latent weight settles on the *tie* between 0.25 and 0.5, and the integer jumps
# between 1 and 2, the two neighbours of 0.4 / 0.25 = 1.6, for as long as the learning rate
# lasts. Its mean over many steps is near the target, which is what the estimator promises; the
# value at the last step is a matter of luck. This is why the learning rate of
# quantization-aware training should end near zero. The second weight gets no gradient and never
# moves: a grid that is too narrow does not heal. The range must follow the weights, and that is
# why the observers of a :class:`~pyqref.quantization.FakeQuantize` keep running.

settled = paths["starts at -0.6"][1][30:]
assert set(settled.tolist()) == {1, 2}
assert abs(0.25 * settled.mean() - 0.4) < 0.05
assert set(paths["starts at 3"][0].tolist()) == {3.0}

# %%
# A network learns
# ----------------
#
# The small residual network of ``pyqref.demo`` reads handwritten digits. It is trained in
# float, then quantized in three ways: after training; after training on for three more epochs
# in float (to be fair, since the third way has them too); and while it trains on, with a
# :class:`~pyqref.quantization.FakeQuantize` on every weight and activation. Few bits make the
# result depend on chance, so we do all of this with three seeds and take the mean.

digits = data.load_digits()
EPOCHS, SEEDS, WIDTHS = 3, (0, 1, 2), (2, 3)


def score(network):
    """Percent of the test images that are read correctly."""
    return accuracy(predict(network, digits.test_images), digits.test_labels)


def quantized_in_three_ways(seed):
    """Return the accuracies in percent, float first, and the losses of each epoch."""
    torch.manual_seed(seed)
    model = models.DigitCNN()
    train(model, digits.train_images, digits.train_labels, epochs=4, lr=5e-3)
    losses = {"float": []}
    longer = copy.deepcopy(model)
    torch.manual_seed(seed)
    train(
        longer,
        digits.train_images,
        digits.train_labels,
        epochs=EPOCHS,
        lr=bits.FINE_TUNING_LR,
        after_epoch=losses["float"].append,
    )
    scores = [score(model)]
    for width in WIDTHS:
        seen = losses[f"{width} bits"] = []
        torch.manual_seed(seed)
        aware = bits.fine_tuned(model, digits, bits=width, epochs=EPOCHS, after_epoch=seen.append)
        for each in (model, longer):
            after = bits.fake_quantized(
                each, digits.calibration_images, bits=width, weights="per channel"
            )
            scores.append(score(after))
        scores.append(score(aware))
    return scores, list(losses.values())


ran = [quantized_in_three_ways(seed) for seed in SEEDS]
whole, *scores = np.mean([each for each, _ in ran], axis=0)
losses = np.mean([each for _, each in ran], axis=0)
ways = "after training", "after longer training", "while training"
found = {name: dict(zip(WIDTHS, scores[way::3], strict=True)) for way, name in enumerate(ways)}

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.6))
names = ["float", *(f"{width} bits" for width in WIDTHS)]
for index, (name, each) in enumerate(zip(names, losses, strict=True)):
    axes[0].plot(range(1, EPOCHS + 1), each, marker="os^"[index], label=name)
axes[0].set(xlabel="epoch", ylabel="cross entropy [nat]", title="loss while training on")
axes[0].set_xticks(range(1, EPOCHS + 1))
axes[0].set(yscale="log", ylim=(None, 4))
axes[0].legend(fontsize="small", ncols=2, loc="upper center")
plot.bits_sweep(found, reference=whole, ax=axes[1])
axes[1].set_title("quantized after training and while training")
plt.show()

# %%
# At 3 bits plain quantization loses 10 to 25 images in a hundred, in the mean of three runs. At
# 2 bits, which are four integers, it loses most of them. Training with the rounding wins back more
# than half of the loss at 3 bits, and about a third of it at 2, where one run differs much from
# another. Longer training without the rounding wins back less at 3 bits, and nothing to speak of
# at 2: the gain does not come from the time, but from a loss that includes the grid. The loss
# itself is larger with fewer bits.

for name, each in found.items():
    print(f"{name:>22}: " + ", ".join(f"{width} bits {each[width]:.1f} %" for width in each))
won = {
    name: {width: (each[width] - found[ways[0]][width]) / (whole - found[ways[0]][width])
           for width in WIDTHS}
    for name, each in found.items()
}  # fmt: skip
for width in WIDTHS:
    print(f"won back at {width} bits: {won['while training'][width]:.0%} of the loss")
assert 6 < whole - found["after training"][3] < 30
assert found["after training"][2] < whole / 2
assert won["while training"][3] > max(0.5, won["after longer training"][3])
assert 0.2 < won["while training"][2] < 0.6
assert won["after longer training"][2] < 0.15

# %%
# What was trained is what is used
# --------------------------------
#
# Training with rounding would be of no use if the converted model rounded in another way. It
# does not: fake quantization of a number is bit by bit the number that its integer stands for,
# ties included. (In torch 2.13 that is not so: :doc:`/errata` has the numbers.)

ties = torch.from_numpy(((np.arange(-500, 500) + 0.5) * 0.25).astype(np.float32))
fake = torch.fake_quantize_per_tensor_affine(ties, 0.25, 3, 0, 255)
real = torch.quantize_per_tensor(ties, 0.25, 3, torch.quint8).dequantize()
assert torch.equal(fake, real)
print(f"{len(ties)} ties, signal to noise between the two: {measure.sqnr(fake, real)} dB")

# %%
# **In short**: the straight-through estimator is wrong over less than a step and right, within
# :math:`s/d`, over a distance of many. It needs a range that follows the weights and a learning
# rate that ends small. It pays where plain quantization fails, here at 3 bits and fewer; at 8
# bits a good range is usually all it takes.
