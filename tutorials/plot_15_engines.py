"""
fbgemm against qnnpack, bit by bit
==================================

Two engines run the same integers with the same scales. Why do some of their results differ by
one, and can we predict which?

fbgemm was made for servers, qnnpack for phones. Both sum products exactly; they differ where
real numbers are involved. There are four such places: the multiplier, the bias, the addition,
and the bit that fbgemm leaves free. Each is one function here, so each can be looked at alone.
"""

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, plot
from pyqref.demo.static import use_engine
from pyqref.nn.quantized import functional as quantized
from pyqref.numerics.dynamic import quantize_input
from pyqref.numerics.requantize import (
    bias_as_integer,
    multiplier_fbgemm,
    multiplier_qnnpack,
    requantization,
    requantize,
)

plt.style.use(plot.settings())
rng = np.random.default_rng(0)

# %%
# The multiplier: dividing or multiplying by the reciprocal
# ---------------------------------------------------------
#
# One float32 number converts units of the accumulator into units of the output. fbgemm divides
# :eq:`eq-multiplier-fbgemm`, qnnpack multiplies by the reciprocal :eq:`eq-multiplier-qnnpack`,
# which is rounded once more.

accumulator_scales = rng.uniform(1e-4, 1e-3, 100_000).astype(np.float32)
output_scales = rng.uniform(0.01, 0.1, 100_000).astype(np.float32)
divided = multiplier_fbgemm(accumulator_scales, output_scales)
multiplied = multiplier_qnnpack(accumulator_scales, output_scales)
ulps = divided.view(np.int32).astype(int) - multiplied.view(np.int32)
print({step: f"{100 * np.mean(ulps == step):.1f} %" for step in sorted(set(ulps.tolist()))})
assert np.abs(ulps).max() <= 2
assert 0.1 < np.mean(ulps != 0) < 0.5

# %%
# A quarter or so of all multipliers differ in the last of their 24 bits. The difference shows in
# the result only if the accumulator times the multiplier lies within that last bit of a tie.
# Such a case takes some searching. With the multiplier 1/200, say, accumulators 100, 300, 500,
# ... lie on ties:

ties = np.arange(100, 25_600, 200)
found = 0
for numerator in np.arange(1, 400):
    scale = np.float32(numerator) * np.float32(0.001)
    by_engine = [
        requantize(ties[:, None], requantization(engine, scale, 1.0, scale * np.float32(200), 0))
        for engine in ("fbgemm", "qnnpack")
    ]
    differ = np.flatnonzero(by_engine[0] != by_engine[1])
    if differ.size and not found:
        place = differ[0]
        print(f"scales {scale:.3f} and {200 * scale:.1f}, accumulator {ties[place]} = ", end="")
        print(f"{ties[place] / 200} steps: fbgemm {by_engine[0][place, 0]}, ", end="")
        print(f"qnnpack {by_engine[1][place, 0]}")
    found += differ.size
print(f"{found} of {399 * ties.size} ties are rounded differently")
assert 0 < found < 0.5 * 399 * ties.size

# %%
# So without a bias the engines differ at ties only, and by one (:doc:`/theory/requantization`
# bounds how near a tie: 4 in 10,000 of a step). Real sums hardly ever lie so near. The next
# difference is much larger.
#
# The bias: a real number or an integer
# -------------------------------------
#
# fbgemm adds the real bias :eq:`eq-requantize-bias`. qnnpack adds integers, so it rounds the
# bias to a whole number of accumulator units :eq:`eq-bias-integer`, with an error of up to half
# a unit. A unit is worth :math:`M` output steps, so the number that is rounded is
# off by up to :math:`M/2`.

input_scale, weight_scale, output_scale = 0.05, 0.02, 0.01
unit = input_scale * weight_scale
bias = np.float32([0.0104])
print(f"one unit of the accumulator is {unit:.4f}, the bias {bias[0] / unit:.1f} units")
print("as an integer:", bias_as_integer(bias, input_scale, weight_scale).tolist())
for accumulator in (54, 55, 56):
    real = (accumulator * unit + float(bias[0])) / output_scale
    results = [
        requantize(
            np.array([[accumulator]]),
            requantization(engine, input_scale, weight_scale, output_scale, 0, bias),
        )[0, 0]
        for engine in ("fbgemm", "qnnpack")
    ]
    print(f"accumulator {accumulator}: {real:.2f} steps, fbgemm {results[0]}, qnnpack {results[1]}")

# %%
# How often is this visible? The rounding error :math:`e` of the bias is somewhere between minus
# and plus half a unit and a quarter in size on average. The result changes if a tie lies between
# the two numbers, which are :math:`|e| M` apart, while ties are 1 apart. So a part :math:`M/4`
# of all results should differ. We run a linear layer on both engines, for several multipliers.

x = torch.quantize_per_tensor(
    torch.from_numpy(rng.uniform(0, 12, (400, 64)).astype(np.float32)), 0.05, 0, torch.quint8
)
w = torch.quantize_per_tensor(
    torch.from_numpy(rng.normal(0, 0.6, (500, 64)).astype(np.float32)), 0.02, 0, torch.qint8
)
b = torch.from_numpy(rng.uniform(-3, 3, 500).astype(np.float32))
multipliers = np.geomspace(0.003, 0.073, 7)
measured, farthest = [], []
for multiplier in multipliers:
    output_scale = float(unit / multiplier)
    results = []
    for engine in ("fbgemm", "qnnpack"):
        with use_engine(engine):
            y = quantized.linear(x, w, b, output_scale, 128)
        results.append(y.int_repr().numpy().astype(int))
    inside = (results[0] > 0) & (results[0] < 255)
    differ = results[0] != results[1]
    assert np.abs(results[0] - results[1]).max() <= 1
    measured.append(differ.sum() / inside.sum())
    sums = (x.int_repr().numpy().astype(float)) @ w.int_repr().numpy().astype(float).T
    real = (sums * unit + b.numpy().astype(float)) / output_scale
    from_tie = np.abs(np.abs(real - np.floor(real)) - 0.5)
    farthest.append(from_tie[differ].max())

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.7))
axes[0].loglog(multipliers, 100 * np.array(measured), "o", label="measured")
axes[0].loglog(multipliers, 100 * multipliers / 4, "--", label="expected, M / 4")
axes[0].set(xlabel="multiplier M (no unit)", ylabel="outputs that differ [%]")
axes[0].set_title("how many results differ")
axes[1].loglog(multipliers, farthest, "o", label="farthest that differs")
axes[1].loglog(multipliers, multipliers / 2 + 4e-4, "--", label="bound, M / 2 + 0.0004")
axes[1].set(xlabel="multiplier M (no unit)", ylabel="distance from a tie [steps]")
axes[1].set_title("where they differ")
for ax in axes:
    ax.legend(fontsize="small")
    ax.set_xticks([0.003, 0.01, 0.03], ["0.003", "0.01", "0.03"])
    ax.minorticks_off()
plt.show()
assert np.all(np.array(farthest) <= multipliers / 2 + 4e-4)
assert np.all(np.abs(np.array(measured) / (multipliers / 4) - 1) < 0.25)

# %%
# Both predictions hold. So the answer to the second question is yes: where the exact value is
# farther than :math:`M/2` from a tie, the engines agree.
#
# The addition: real numbers or fixed point
# -----------------------------------------
#
# Two summands with different scales have no common unit. fbgemm goes through float32
# :eq:`eq-quantized-add`; qnnpack multiplies each side by a whole number and shifts the sum
# :eq:`eq-add-fixed-point`. There are only 256 times 256 pairs of bytes. We try them all.

pairs = np.meshgrid(np.arange(256), np.arange(256), indexing="ij")
first, second = (
    torch.quantize_per_tensor(torch.from_numpy((q * s).astype(np.float32)), s, 0, torch.quint8)
    for q, s in zip(pairs, (0.03, 0.0125), strict=True)
)
sums = []
for engine in ("fbgemm", "qnnpack"):
    with use_engine(engine):
        total = torch.ops.quantized.add(first, second, 0.05, 0)
    sums.append(total.int_repr().numpy().astype(int))
off = sums[1] - sums[0]
exact = (pairs[0] * 0.03 + pairs[1] * 0.0125) / 0.05
is_tie = np.abs(np.abs(exact - np.floor(exact)) - 0.5) < 1e-9
print(
    f"{np.count_nonzero(off)} of {off.size} pairs differ; {np.count_nonzero(is_tie)} sums are ties"
)
i, j = np.argwhere(off != 0)[0]
print(f"{i} · 0.03 + {j} · 0.0125 = {exact[i, j]:.1f} · 0.05: ", end="")
print(f"fbgemm {sums[0][i, j]}, qnnpack {sums[1][i, j]}")

figure, axes = plt.subplots(1, 2, figsize=(8.4, 4))
for ax, part in zip(axes, (is_tie, off != 0), strict=True):
    ax.plot(*np.nonzero(part[:64, :64]), "s", markersize=2.5, color="C0")
    ax.set(xlabel="first integer", ylabel="second integer", xlim=(-1, 64), ylim=(-1, 64))
    ax.set_aspect("equal")
axes[0].set_title("sums that are ties")
axes[1].set_title("results that differ by one")
plt.show()
assert np.all(is_tie[off != 0])
assert np.abs(off).max() == 1

# %%
# (The figure shows the first 64 integers.) Only ties differ, and nearly half of them: fbgemm rounds
# them to even (as far as float32 sees a tie at all), qnnpack away from zero. Elsewhere the
# fixed-point multipliers are off by less than :math:`255 \cdot 2^{-t}` of a step
# (:doc:`/theory/elementwise`), too little to cross anything.
#
# The bit that fbgemm leaves free
# -------------------------------
#
# The last difference is not a rounding but a choice of range, and it is larger than all others
# together. For fbgemm activations get 7 bits, because older processors sum pairs of products in
# 16 bits :eq:`eq-reduce-range`; for qnnpack 8. In dynamic layers the engine decides it when the
# layer runs.

values = rng.normal(0, 1, 20_000).astype(np.float32)
ratio = {}
for engine in ("fbgemm", "qnnpack"):
    integers, scale, zero_point = quantize_input(values, engine)
    ratio[engine] = measure.sqnr(values, (integers.astype(float) - zero_point) * scale)
    print(f"{engine:>8}: integers {integers.min()} to {integers.max()}, {ratio[engine]:.2f} dB")
expected = 20 * np.log10(255 / 127)
print(f"difference {ratio['qnnpack'] - ratio['fbgemm']:.2f} dB, expected {expected:.2f} dB")
assert abs(ratio["qnnpack"] - ratio["fbgemm"] - expected) < 0.2

# %%
# All together in one linear layer, compared with the real one: fbgemm and qnnpack on 8-bit
# input, and fbgemm on 7-bit input. Most of the error is the rounding of the output, which all
# three share; the two engines cannot be told apart, and the missing bit can, by half a decibel
# in this one layer.

xf = torch.from_numpy(rng.uniform(0, 12, (400, 64)).astype(np.float32))
real = torch.nn.functional.linear(xf, w.dequantize(), b)
variants = {}
for name, engine, levels in (
    ("fbgemm, 8 bits", "fbgemm", 255),
    ("qnnpack, 8 bits", "qnnpack", 255),
    ("fbgemm, 7 bits", "fbgemm", 127),
):
    with use_engine(engine):
        coarse = torch.quantize_per_tensor(xf, 12 / levels, 0, torch.quint8)
        variants[name] = quantized.linear(coarse, w, b, float(real.abs().max()) / 127, 128)
figure, ax = plt.subplots(figsize=(7, 3.6))
plot.error_histogram({name: each.dequantize() - real for name, each in variants.items()}, ax=ax)
ax.set_title("error of a linear layer")
plt.show()
errors = {name: measure.sqnr(real, each) for name, each in variants.items()}
for name, each in errors.items():
    print(f"{name:>15}: {each:.2f} dB")
assert abs(errors["fbgemm, 8 bits"] - errors["qnnpack, 8 bits"]) < 0.1
assert errors["fbgemm, 7 bits"] < errors["fbgemm, 8 bits"]

# %%
# **In short**: the engines differ by one, near ties and nowhere else: within the last bit of the
# multiplier, within :math:`M/2` for the bias, exactly on ties for sums. In quality they are
# equal; only the default range of each makes a visible difference.
