"""
Affine quantization and rounding ties
=====================================

When a real number is replaced by one of 256 integers, how far can the result be from it, and
which integer does it become when it lies exactly between two of them?

A scale :math:`s` and a zero point :math:`z` make the integer :math:`q` stand for the real
number :math:`s\\,(q - z)`. That is all of affine quantization. This tutorial looks at the
error of one rounding, finds its bound, and then looks where the bound is reached: at ties,
on which PyTorch's own functions disagree with each other.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import plot

plt.style.use(plot.settings())

# %%
# Integers that stand for real numbers
# ------------------------------------
#
# Quantizing divides by the scale, adds the zero point and rounds to an integer
# :eq:`eq-affine-quantize`; dequantizing goes back :eq:`eq-affine-dequantize`. With the
# zero point 10, the integer 10 is real zero, exactly.

x = torch.tensor([-1.0, -0.3, 0.0, 0.3, 0.5, 200.0])
q = torch.quantize_per_tensor(x, scale=0.5, zero_point=10, dtype=torch.quint8)
q

# %%
# -0.3 and 0.3 moved to the nearest multiples of the scale, and 200 was *clamped*: the largest
# integer, 255, stands for (255 - 10) · 0.5 = 122.5.
print("integers:", q.int_repr().tolist())
print("values:  ", q.dequantize().tolist())

# %%
# The staircase
# -------------
#
# Eight integers are enough to see everything that happens with 256. The upper picture shows
# every real number against the result of quantizing and dequantizing it; the lower picture shows
# the difference. Inside the grid no number moves by more than half a step. Outside, beyond the
# dotted lines, the staircase is flat and the error grows without bound. Every range has this
# price, which is the subject of the next tutorial.

scale, zero_point = 0.25, 3
figure, axes = plt.subplots(2, 1, figsize=(6.4, 6.4), sharex=True)
for ax, error in zip(axes, (False, True), strict=True):
    plot.quantization_grid(scale, zero_point, quant_min=0, quant_max=7, error=error, ax=ax)
axes[0].set_title("3 bits, scale 0.25, zero point 3")
axes[0].set_xlabel("")
plt.show()

# %%
# Half a step is the bound, and all of it is used
# -----------------------------------------------
#
# The division and the sum are computed in float32. Does this add to the error? Its unit roundoff
# :math:`u = 2^{-24}` enters three times, each time with a number below 256, so that :math:`|x -
# \hat x| \le s\,(\tfrac12 + 3 \cdot 256\,u)`; :doc:`/theory/affine` derives it. For 8 bits the
# parenthesis is 0.50005. We quantize a million numbers and look.

rng = np.random.default_rng(0)
scale, zero_point = 0.02, 128
values = torch.from_numpy(rng.uniform(-2.5, 2.5, 1_000_000).astype(np.float32))
rounded = torch.quantize_per_tensor(values, scale, zero_point, torch.quint8).dequantize()
errors = (rounded.numpy() - values.numpy()).astype(np.float64)
bound = scale * (0.5 + 3 * 256 * 2.0**-24)
print(f"largest error {np.abs(errors).max():.7f}")
print(f"bound         {bound:.7f}")

# %%
# The errors spread evenly over the interval, so their root mean square is that of a uniform
# distribution, :math:`s/\sqrt{12}`: the number behind every estimate of quantization noise.

ax = plot.error_histogram({"uniform data": errors}, bound=scale / 2)
ax.set_title("a million roundings")
plt.show()

print(f"rms {np.sqrt(np.mean(errors**2)):.6f}, s/√12 = {scale / np.sqrt(12):.6f}")

# %%
# Ties
# ----
#
# A number exactly between two steps could go either way. IEEE 754, and with it
# :eq:`eq-round-half-even`, takes the *even* neighbour: half of the ties go up, half go down.
# School arithmetic takes the larger one. Sums of many rounded numbers then drift upwards,
# because each tie adds half a step. Twenty prices in half units show this.

halves = np.arange(20) + 0.5
to_even = np.rint(halves)
half_up = np.floor(halves + 0.5)
figure, ax = plt.subplots(figsize=(6.4, 3.4))
count = np.arange(1, halves.size + 1)
ax.plot(count, np.cumsum(half_up - halves), "o-", label="half up")
ax.plot(count, np.cumsum(to_even - halves), "s-", label="half to even")
dashes = {"color": "0.4", "linestyle": "--", "linewidth": 1.1}
ax.axhline(0.5, label="bound of half to even: ± half a step", **dashes)
ax.axhline(-0.5, **dashes)
ax.set_xticks(range(0, 21, 5))
ax.set_xlabel("number of ties added up")
ax.set_ylabel("error of the sum [steps]")
ax.legend(loc="upper left", fontsize="small")
plt.show()

# %%
# Before or after: the zero point and the tie
# -------------------------------------------
#
# One question is left open: is the zero point added *before* rounding or *after*? It is an
# integer, so the order should not matter. But it does. An odd zero point added first turns an
# even neighbour into an odd one, and the tie goes the other way.
#
# PyTorch does both. :func:`~pyqref.quantize_per_tensor` adds it first,
# :eq:`eq-affine-quantize`; the kernel of
# :func:`~pyqref.fake_quantize_per_tensor_affine` adds it afterwards, although its
# documentation says the opposite. pyqref follows the documentation unless it is told to
# follow torch.

ties = torch.tensor([0.5, 1.5, 2.5, 3.5, 4.5, 5.5])


def quantized(zero_point):
    return torch.quantize_per_tensor(ties, 1.0, zero_point, torch.quint8).dequantize().numpy()


def fake_quantized(zero_point, convention):
    before = torch.backends.quantized.conventions
    torch.backends.quantized.conventions = convention
    try:
        return torch.fake_quantize_per_tensor_affine(ties, 1.0, zero_point, 0, 255).numpy()
    finally:
        torch.backends.quantized.conventions = before


for zero_point in (0, 1):
    print(f"zero point {zero_point}")
    print("  quantize, dequantize:       ", quantized(zero_point))
    print("  fake_quantize as documented:", fake_quantized(zero_point, "documented"))
    print("  fake_quantize as in torch:  ", fake_quantized(zero_point, "torch"))

# %%
# With an odd zero point *every* tie goes to the other side. A model that is trained with fake
# quantization and then converted can differ at ties from the trained model by a whole step.
# Neither result is wrong: both keep the bound of half a step.

figure, axes = plt.subplots(1, 2, figsize=(6.4, 3.4), sharey=True)
for ax, zero_point in zip(axes, (0, 1), strict=True):
    ax.axhline(0.5, label="± half a step", **dashes)
    ax.axhline(-0.5, **dashes)
    ax.plot(
        ties,
        quantized(zero_point) - ties.numpy(),
        "o",
        markersize=9,
        label="quantize",
    )
    fake = fake_quantized(zero_point, "torch") - ties.numpy()
    ax.plot(ties, fake, "s", markersize=5, label="fake_quantize, torch")
    ax.set_title(f"zero point {zero_point}")
    ax.set_xlabel("tie [steps]")
    ax.set_ylim(-0.75, 1.35)
    ax.set_xticks(ties.tolist())
axes[0].set_ylabel("dequantized minus real [steps]")
axes[1].legend(loc="upper right", fontsize="small")
plt.show()

# %%
# What we claimed
# ---------------
#
# No rounding inside the range exceeds the bound, and the bound is nearly reached; real zero
# is exact; half to even does not drift; and the two orders agree on all ties if the zero
# point is even, on none if it is odd.

assert np.abs(errors).max() <= bound
assert np.abs(errors).max() > 0.4999 * scale
assert np.sqrt(np.mean(errors**2)) < 1.01 * scale / np.sqrt(12)
assert q.dequantize()[2] == 0.0
assert np.abs(np.cumsum(to_even - halves)).max() <= 0.5
assert np.array_equal(quantized(0), fake_quantized(0, "torch"))
assert not np.any(quantized(1) == fake_quantized(1, "torch"))
assert np.array_equal(quantized(1), fake_quantized(1, "documented"))
