"""
Why ``reduce_range`` exists
===========================

``get_default_qconfig("fbgemm")`` gives activations 7 bits, although 8 are stored. Why would
anyone throw away half of the integers?

Because of one instruction. x86 processors before VNNI multiply 8-bit integers with
``vpmaddubsw``: it takes *pairs* of products and adds each pair in **16 bits, saturating**. Two
large products do not fit, and the sum is silently wrong. We emulate the instruction, see which
products clip, and weigh the cost of losing one bit against the cost of clipping.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import ListedColormap

import pyqref as torch
from pyqref import nn, plot
from pyqref.demo.data import load_digits
from pyqref.demo.train import train
from pyqref.quantization import MinMaxObserver

plt.style.use(plot.settings())

# %%
# The instruction
# ---------------
#
# It multiplies unsigned inputs by signed weights, adds neighbouring products, and clamps each
# sum to −32768 … 32767. The sums of pairs are then added in 32 bits, which is enough.


def pair_sums(inputs, weights):
    """Exact sums of neighbouring products: ``(M, K)`` and ``(N, K)`` to ``(M, N, K/2)``."""
    products = inputs[:, None, :].astype(np.int64) * weights[None, :, :].astype(np.int64)
    return products.reshape(*products.shape[:2], -1, 2).sum(axis=-1)


def saturating_sums(inputs, weights):
    """Return the sums as ``vpmaddubsw`` gives them."""
    return np.clip(pair_sums(inputs, weights), -(2**15), 2**15 - 1)


largest = np.array([[255, 255]], np.uint8), np.array([[127, 127]], np.int8)
print("exact:     ", pair_sums(*largest).item())
print("vpmaddubsw:", saturating_sums(*largest).item())

# %%
# Which products clip?
# --------------------
#
# Take pairs of two equal products, the worst case. Everything orange is wrong. Below the dashed
# line, with inputs of at most 127, nothing is wrong: the largest sum is
# :math:`2 \cdot 127 \cdot 128 = 32512`, and the 16 bits hold 32767. ``reduce_range`` keeps
# activations below this line, :eq:`eq-reduce-range`.

q = np.arange(256, dtype=np.uint8)
p = np.arange(-128, 128).astype(np.int8)
sums = 2 * q[:, None].astype(np.int64) * p[None, :]
clipped = (sums < -(2**15)) | (sums > 2**15 - 1)
print(f"clipped: {clipped.mean():.1%} of the pairs with 8 bits, {clipped[:128].mean():.0%} with 7")

figure, ax = plt.subplots(figsize=(6.4, 4.2))
ax.pcolormesh(p, q, clipped, cmap=ListedColormap(["#d9dee6", "C1"]), rasterized=True)
ax.axhline(127, color="black", linestyle="--", linewidth=1.4)
ax.text(0, 131, "reduce_range: inputs up to 127", ha="center", va="bottom", fontsize="small")
ax.text(-104, 215, "clips", ha="center", color="#101018")
ax.text(104, 215, "clips", ha="center", color="#101018")
ax.grid(False)
ax.set_xlabel("both weights, as integers [steps]")
ax.set_ylabel("both inputs, as integers [steps]")
plt.show()

# %%
# A layer that meets it
# ---------------------
#
# A network with one hidden layer reads handwritten digits. Pixels are never negative, so
# their zero point is 0 and white is the largest integer: pairs of white pixels are common.

digits = load_digits()
torch.manual_seed(1)
network = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
train(network, digits.train_images, digits.train_labels, epochs=15, lr=1e-2)
weight = network[1].weight.detach()
images = digits.test_images.flatten(1)

observer = MinMaxObserver(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)
observer(weight)
w_scale = float(observer.calculate_qparams()[0])
q_weight = torch.quantize_per_tensor(weight, w_scale, 0, torch.qint8).int_repr().numpy()


def quantized_inputs(reduce_range):
    """Integers of the images, and their scale and zero point."""
    observer = MinMaxObserver(dtype=torch.quint8, reduce_range=reduce_range)
    observer(digits.calibration_images)
    scale, zero_point = (each.item() for each in observer.calculate_qparams())
    q = torch.quantize_per_tensor(images, scale, zero_point, torch.quint8)
    return q.int_repr().numpy(), scale, zero_point


# %%
# The layer should give the product of the float images with the *rounded* weights, so that only
# the inputs cause errors. Rounding the inputs costs at most half an input step for each weight,
#
# .. math:: |e_n| \le \frac{s_x}{2} \sum_k |\hat w_{nk}|.

w_hat = q_weight * w_scale
exact = images.numpy().astype(np.float64) @ w_hat.T
errors, bounds, wrong = {}, {}, {}
for name, reduce_range, summed in (
    ("8 bits, exact", False, pair_sums),
    ("8 bits, vpmaddubsw", False, saturating_sums),
    ("7 bits, vpmaddubsw", True, saturating_sums),
):
    q_images, x_scale, x_zero_point = quantized_inputs(reduce_range)
    accumulators = summed(q_images, q_weight).sum(axis=-1)
    centred = accumulators - x_zero_point * q_weight.sum(axis=1, dtype=np.int64)
    errors[name] = x_scale * w_scale * centred - exact
    bounds[name] = x_scale / 2 * np.abs(w_hat).sum(axis=1)
    wrong[name] = (summed(q_images, q_weight) != pair_sums(q_images, q_weight)).mean()
    print(f"{name:20} {wrong[name]:.2%} of the pairs clipped, rms error {errors[name].std():.4f}")

# %%
# The picture shows the largest error of each of the 32 outputs against its bound. On or below
# the dashed line the bound holds. Seven bits have twice the step, and so twice the bound, but
# they keep it. Eight bits break it where pairs clip, and by how much depends on the image.

figure, ax = plt.subplots(figsize=(6.4, 4.2))
for (name, each), marker in zip(errors.items(), "os^", strict=True):
    ax.plot(bounds[name], np.abs(each).max(axis=0), marker, label=name, alpha=0.85)
ends = np.array([0.8 * min(bounds["8 bits, exact"]), 1.2 * max(bounds["7 bits, vpmaddubsw"])])
ax.plot(ends, ends, "--", color="0.3", label="bound")
ax.set_xscale("log")
ax.set_yscale("log")
ax.set_xlabel("bound on the error of an output (no unit)")
ax.set_ylabel("largest error found (no unit)")
ax.legend(loc="upper left", fontsize="small")
plt.show()

# %%
# So the choice is between an error that is twice as large and one that has no bound. On a
# processor that has only this instruction, seven bits are the right choice. With VNNI, ARM's dot
# product or exact arithmetic they waste one bit. pyqref never saturates, on any processor, and
# its results with eight bits equal "8 bits, exact".

q_images, x_scale, x_zero_point = quantized_inputs(reduce_range=False)
layer = nn.quantized.Linear(64, 32)
layer.set_weight_bias(torch.quantize_per_tensor(weight, w_scale, 0, torch.qint8), None)
layer.scale, layer.zero_point = 0.05, 128
y = layer(torch.quantize_per_tensor(images, x_scale, x_zero_point, torch.quint8))
real = x_scale * w_scale * pair_sums(q_images, q_weight).sum(axis=-1)
expected = np.clip(np.rint(real / 0.05) + 128, 0, 255)
print("outputs of pyqref that differ from the exact sum:", (y.int_repr().numpy() != expected).sum())

# %%
# What we claimed
# ---------------
#
# Pairs clip with 8 bits and never with 7; exact sums keep their bound with either; clipped ones
# break theirs by more than three times; and pyqref gives the results of exact sums, except for
# the float32 rounding of the requantization, which may decide a tie the other way.

assert clipped[128:].any()
assert not clipped[:128].any()
assert wrong["8 bits, vpmaddubsw"] > 0
assert wrong["7 bits, vpmaddubsw"] == 0
for name in ("8 bits, exact", "7 bits, vpmaddubsw"):
    assert np.all(np.abs(errors[name]).max(axis=0) <= bounds[name])
assert np.any(np.abs(errors["8 bits, vpmaddubsw"]).max(axis=0) > 3 * bounds["8 bits, vpmaddubsw"])
assert np.all(np.abs(y.int_repr().numpy().astype(float) - expected) <= 1)
assert (y.int_repr().numpy() != expected).mean() < 1e-3
