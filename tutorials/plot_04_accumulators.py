"""
Accumulators and requantization, step by step
=============================================

A quantized linear layer takes 8-bit integers and gives 8-bit integers. What happens in
between, and where exactly is something lost?

The answer is a sum that loses nothing, and one rounding. We compute a layer with two outputs
by hand, every integer on the page, compare it with the layer of the library, and then measure
how far forty thousand random outputs lie from the exact ones.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import numerics, plot

plt.style.use(plot.settings())

# %%
# A layer of three inputs and two outputs
# ---------------------------------------
#
# The input has scale 0.02 and zero point 128, the weight scale 0.01 and zero point 0, the
# output scale 0.05 and zero point 64. The bias stays a real number.

s_x, z_x = 0.02, 128
s_w, z_w = 0.01, 0
s_y, z_y = 0.05, 64

x = torch.tensor([[1.00, -0.50, 2.02]])
weight = torch.tensor([[0.70, -0.35, 1.10], [-0.20, 0.93, 0.41]])
bias = torch.tensor([0.12341, -0.45617])
q_x = torch.quantize_per_tensor(x, s_x, z_x, torch.quint8)
q_w = torch.quantize_per_tensor(weight, s_w, z_w, torch.qint8)
print("input integers  ", q_x.int_repr().tolist())
print("weight integers ", q_w.int_repr().tolist())

# %%
# Step 1: the accumulator
# -----------------------
#
# Write each real number as scale times centred integer and pull the scales out of the sum:
#
# .. math:: \sum_k x_k w_{nk} = s_x s_w \sum_k (q_k - z_x)(p_{nk} - z_w)
#
# What remains is a sum of products of integers, :eq:`eq-linear-accumulator`. It is computed
# with 32 bits and is *exact*, whatever the order of the terms.

centred_x = q_x.int_repr().numpy().astype(np.int64) - z_x
centred_w = q_w.int_repr().numpy().astype(np.int64) - z_w
print("centred input:", centred_x[0])
for n, row in enumerate(centred_w):
    terms = " + ".join(f"{a}·({b})" for a, b in zip(centred_x[0], row, strict=True))
    print(f"output {n}: {terms} = {centred_x[0] @ row}")

accumulator = numerics.linear.linear_accumulator(
    q_x.int_repr().numpy(), z_x, q_w.int_repr().numpy(), z_w
)
assert np.array_equal(centred_x @ centred_w.T, accumulator)

# %%
# Real processors do not subtract the zero point from every input. They multiply the integers
# as they are and subtract :math:`z_x \sum_k p_{nk}` afterwards, a constant of the layer that
# is computed once. The sum is the same, because it is exact.

raw = q_x.int_repr().numpy().astype(np.int64) @ centred_w.T
correction = z_x * centred_w.sum(axis=1)
print(f"{raw[0]} - {correction} = {(raw - correction)[0]}")

# %%
# Step 2: the bias
# ----------------
#
# One unit of the accumulator is worth :math:`A = s_x s_w`, :eq:`eq-accumulator-scale`. The
# engine ``qnnpack`` rounds the bias to such units, :eq:`eq-bias-integer`, and adds integers.
# ``fbgemm`` leaves it a real number, and adds :math:`b / A` to the accumulator.

unit = numerics.requantize.accumulator_scale(s_x, s_w)
integer_bias = numerics.requantize.bias_as_integer(bias.numpy(), s_x, s_w)
print(f"one unit of the accumulator: {float(unit):.6f}")
print("bias in units, real:   ", np.round(bias.numpy() / unit, 3))
print("bias in units, integer:", integer_bias)

# %%
# Step 3: requantization
# ----------------------
#
# One unit of the output is worth :math:`s_y`. The multiplier :math:`M = A / s_y` leads from
# one to the other: multiply, round *once*, add the zero point, clamp, :eq:`eq-requantize`.

print(f"M = {s_x} · {s_w} / {s_y} = {unit / np.float32(s_y):.6f}")
results = {}
for engine in ("fbgemm", "qnnpack"):
    plan = numerics.requantize.requantization(engine, s_x, s_w, s_y, z_y, bias.numpy())
    steps = numerics.requantize.scaled_accumulator(accumulator, plan)
    results[engine] = numerics.requantize.requantize(accumulator, plan)
    print(f"{engine:8} before rounding {steps[0]}, integers {results[engine][0]}")

# %%
# The layer itself gives these integers, and with them the real numbers that they stand for.

layer = torch.nn.quantized.Linear(3, 2)
layer.set_weight_bias(q_w, bias)
layer.scale, layer.zero_point = s_y, z_y
y = layer(q_x)
y

# %%
# How wrong can the result be?
# ----------------------------
#
# Given the integers that go in, the exact result is
# :math:`(s_x s_w a + b) / s_y + z_y`, a fraction. The one rounding of requantization costs at
# most half an output step. The few float32 operations before it add at most
# :math:`13 u\,(s_x s_w |a| + |b|)/s_y` steps, which is never more than 0.0004
# (:doc:`/theory/requantization`), and ``qnnpack`` rounds the bias as well, to half a unit of
# the accumulator or :math:`M/2` steps. We take forty thousand random outputs and measure.

rng = np.random.default_rng(4)
inputs, outputs = 8, 100
q_x = rng.integers(0, 256, (400, inputs), dtype=np.uint8)
q_w = rng.integers(-127, 128, (outputs, inputs), dtype=np.int8)
bias = rng.normal(0, 1, outputs).astype(np.float32)
s_y = 0.06
accumulator = numerics.linear.linear_accumulator(q_x, z_x, q_w, z_w)
exact = (np.float64(np.float32(s_x)) * np.float64(np.float32(s_w)) * accumulator + bias) / s_y
multiplier = s_x * s_w / s_y

errors, bounds = {}, {}
for engine in ("fbgemm", "qnnpack"):
    plan = numerics.requantize.requantization(engine, s_x, s_w, s_y, z_y, bias)
    q_y = numerics.requantize.requantize(accumulator, plan)
    inside = (q_y > 0) & (q_y < 255)
    errors[engine] = (q_y.astype(np.int64) - z_y - exact)[inside]
    bounds[engine] = 0.5 + 4e-4 + (multiplier / 2 if engine == "qnnpack" else 0)
    largest = np.abs(errors[engine]).max()
    print(f"{engine:8} largest error {largest:.6f} of {bounds[engine]:.6f} output steps")

figure, ax = plt.subplots(figsize=(6.4, 3.8))
plot.error_histogram(errors, bound=bounds["fbgemm"], unit="output step", ax=ax)
ax.set_title("one rounding for each output")
plt.show()

# %%
# The errors outside of the box on both sides come from the rounded bias of ``qnnpack``.
#
# The two engines differ only where the exact value lies close to a tie. This is rare, and the
# difference is one.

plans = [
    numerics.requantize.requantization(engine, s_x, s_w, s_y, z_y, bias)
    for engine in ("fbgemm", "qnnpack")
]
fbgemm, qnnpack = (numerics.requantize.requantize(accumulator, plan).astype(int) for plan in plans)
different = fbgemm != qnnpack
print(f"{different.sum()} of {different.size} outputs differ")

# %%
# Where the bits go
# -----------------
#
# Why not keep the accumulator? Because its numbers need up to :math:`\log_2(255 \cdot 127 \cdot
# K)` bits for :math:`K` inputs, and the next layer wants 8. The picture shows the size of the
# accumulators against the number of inputs. It lies between the size for random integers, which
# grows like :math:`\sqrt K`, and the bound that no input can exceed.

widths = 2 ** np.arange(0, 17)
largest = []
for width in widths:
    a = rng.integers(0, 256, (8, width), dtype=np.uint8)
    b = rng.integers(-127, 128, (8, width), dtype=np.int8)
    largest.append(np.abs(numerics.linear.linear_accumulator(a, z_x, b, z_w)).max())
worst = 128.0 * 127.0 * widths

figure, ax = plt.subplots(figsize=(6.4, 3.8))
ax.plot(widths, np.log2(largest) + 1, "o-", label="largest of 64 random sums")
ax.plot(widths, np.log2(worst) + 1, "--", color="0.3", label="bound: all products ±128·127")
ax.axhline(32, color="C1", linewidth=1.6, label="accumulator: 32 bits")
ax.axhline(16, color="C3", linewidth=1.6, label="16 bits")
ax.set_xscale("log", base=2)
ax.set_xlabel("number of inputs K")
ax.set_ylabel("size of the sum, with sign [bits]")
ax.set_ylim(0, 45)
ax.legend(loc="upper left", fontsize="small")
plt.show()

# %%
# 32 bits hold every sum of a real layer; 16 bits do not hold every sum of three products. Some
# processors use 16 bits all the same, and :doc:`the next tutorial
# </auto_tutorials/plot_05_reduce_range>` shows what that leads to.
#
# What we claimed
# ---------------
#
# The accumulator is exact, the layer is accumulator and one rounding, and its error keeps the
# bound of half an output step.

assert np.array_equal(results["fbgemm"], y.int_repr().numpy())
assert all(np.abs(errors[engine]).max() <= bounds[engine] for engine in errors)
assert 0.49 < np.abs(errors["fbgemm"]).max()
assert np.abs(fbgemm - qnnpack).max() == 1
assert different.mean() < multiplier
assert np.all(np.array(largest) <= worst)
assert worst[-1] < 2**31
