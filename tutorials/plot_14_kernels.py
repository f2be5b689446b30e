"""
What the kernels do
===================

A processor can multiply 64 pairs of bytes in one instruction. How must a matrix product be
arranged so that it spends most of its time on this instruction, and how near does it come to the
limit of the machine?

A kernel computes what the equations say, bit by bit, and differs from them only in the order of
the work. We imitate a kernel in NumPy, on a tile small enough to print: the dot product of four
bytes, packed weights, the tile that stays in registers, and the epilogue that turns sums into
bytes again. Then we look at measured speeds beside the limits of processor and memory.
"""

# sphinx_gallery_thumbnail_number = 2

import json
import timeit
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import kernels, plot
from pyqref._kernels import pack_linear
from pyqref.numerics.linear import linear_accumulator, quantized_linear
from pyqref.numerics.requantize import requantization

plt.style.use(plot.settings())

# %%
# Four products, one lane
# -----------------------
#
# The instruction that everything is built on (``vpdpbusd`` on x86-64, ``usdot`` on ARM) takes
# four unsigned bytes, four signed bytes and a 32-bit sum, multiplies pair by pair and adds all
# four products to the sum. A vector of 512 bits does that in 16 lanes at once: 64 products.


def dot4(sums, inputs, weights):
    """``sums`` `(lanes,)` plus the products of four bytes a lane, `(lanes, 4)`."""
    assert inputs.dtype == np.uint8
    assert weights.dtype == np.int8
    return sums + (inputs.astype(np.int32) * weights.astype(np.int32)).sum(axis=-1, dtype=np.int32)


inputs = np.uint8([[200, 3, 0, 255]])
weights = np.int8([[-5, 100, 7, -128]])
print("products", (inputs.astype(int) * weights).tolist(), "sum", dot4(0, inputs, weights).tolist())
assert dot4(0, inputs, weights)[0] == 200 * -5 + 3 * 100 + 0 + 255 * -128

# %%
# A product of bytes has 16 bits, and 32 bits hold the sum of 65,793 of the largest ones
# (:doc:`/theory/sums`), so that nothing can overflow in a layer of ordinary size. Processors
# without the instruction must widen to 16 bits first: those that add pairs of products in 16
# bits saturate, which is why ``reduce_range`` exists.

largest = 255 * 128
assert largest * 65_793 < 2**31 <= largest * 65_794

# %%
# Weights in the order in which they are read
# -------------------------------------------
#
# A lane belongs to one output column. It needs four weights of *its* column side by side, and
# the next lane the same four depths of the next column. So the weight is packed once,
# beforehand: for each four depths, the four weights of every column. Three columns of depth
# six, numbered 1 to 18:

weight = np.arange(1, 19, dtype=np.int8).reshape(3, 6)
packed = pack_linear(weight)
panel = packed.panels.reshape(2, 16, 4)
print("weight (3 columns, 6 deep)")
print(weight)
for quad, depths in enumerate(("0 to 3", "4 to 7")):
    print(f"depths {depths}:", *(lane.tolist() for lane in panel[quad, :4]), "...")
assert np.array_equal(packed.weight, weight)
assert panel[:, 3:].max() == 0

# %%
# Depths 6 and 7 and the columns from 3 on are zeros: they are multiplied for nothing, but no
# branch is needed to leave them out. Zeros as weights add nothing, whatever the input holds
# there.
#
# The tile
# --------
#
# Loading costs about as much as multiplying. A kernel that loads two vectors for each ``dot4``
# spends its time on loading. So it takes a few rows and a few vectors of columns at once and
# keeps all of their sums in registers: with :math:`R` rows and :math:`V` vectors it loads
# :math:`R + V` times for :math:`R \cdot V` instructions.


def tile(x, panel):
    """Sums of some rows by 16 columns, all of them in registers until the end."""
    sums = np.zeros((len(x), 16), np.int32)
    loads = dots = 0
    for quad, four_weights in enumerate(panel):
        loads += 1  # one vector of weights, for all rows
        for row, four_inputs in enumerate(x.reshape(len(x), -1, 4)[:, quad]):
            loads += 1  # four bytes of the row, in every lane
            dots += 1
            sums[row] = dot4(sums[row], np.broadcast_to(four_inputs, (16, 4)), four_weights)
    return sums, loads, dots


x = np.uint8([[9, 0, 255, 4, 7, 1], [1, 2, 3, 4, 5, 6]])
padded = np.pad(x, ((0, 0), (0, 2)))
sums, loads, dots = tile(padded, panel)
print("sums of x w:", sums[:, :3].tolist(), f"with {loads} loads and {dots} dot products")
assert np.array_equal(sums[:, :3], x.astype(int) @ weight.T.astype(int))

# %%
# Which tile is best? The one with the fewest loads a ``dot4``, as long as its sums, the vectors
# of weights and one input fit into the registers, and a panel of 64 columns is a whole number
# of tiles. The bound for any tile with :math:`n` sums is :math:`2/\sqrt n`, reached by squares.
# AVX512 has 32 registers. AVX2 has 16, and no ``dot4``: weights and inputs are widened to two
# registers each, and two more hold the products. (AMX goes one step further: its registers are
# tiles themselves, and one instruction multiplies two of them.)

figure, ax = plt.subplots(figsize=(7, 3.8))
chosen = {"AVX2, 16 registers": (4, 2, 16, 2, 2), "AVX512-VNNI, 32 registers": (6, 4, 32, 1, 0)}
for index, (name, (rows, vectors, registers, wide, extra)) in enumerate(chosen.items()):
    fitting = [
        (r, v)
        for r in range(1, 33)
        for v in (1, 2, 4)
        if r * v + wide * (v + 1) + extra <= registers
    ]
    sizes = np.array([r * v for r, v in fitting])
    loads = np.array([(r + v) / (r * v) for r, v in fitting])
    ax.plot(sizes, loads, ".", color=f"C{index}", alpha=0.6, label=f"{name}: tiles that fit")
    label = f"{rows} rows by {vectors} vectors, in use"
    cost = (rows + vectors) / (rows * vectors)
    ax.plot(rows * vectors, cost, "os"[index], color=f"C{index}", markersize=9, label=label)
    assert (rows, vectors) in fitting
    assert cost == loads.min()
    assert np.all(loads >= 2 / np.sqrt(sizes) - 1e-12)
span = np.arange(1, 29)
ax.plot(span, 2 / np.sqrt(span), "--", color="0.5", label="bound, 2 / √n")
ax.set(xlabel="sums held, n [vectors]", ylabel="loads a dot product", ylim=(0, 2.1))
ax.set_title("the larger the tile, the less is loaded")
ax.legend(fontsize="small")
plt.show()

# %%
# The epilogue: zero points, then one rounding
# --------------------------------------------
#
# The tile multiplied plain bytes, but :eq:`eq-linear-accumulator` wants them without their zero
# points. Subtracting first would need nine bits. It is not necessary:
#
# .. math:: \sum_k (x_k - z_x)(w_k - z_w)
#           = \sum_k x_k w_k - z_x \sum_k w_k - z_w \sum_k x_k + K z_x z_w .
#
# The sums of the weights are known when they are packed; with symmetric weights :math:`z_w = 0`
# and the last two terms vanish. What is left is one number a column to be added.

x_zero_point = 4
offset = -x_zero_point * packed.sums
accumulator = sums[:, :3] + offset
print("sums of the weights", packed.sums.tolist(), "offsets", offset.tolist())
print("accumulators", accumulator.tolist())
assert np.array_equal(accumulator, linear_accumulator(x, x_zero_point, weight, 0))

# %%
# Then the accumulators, which are still in the cache, become bytes: times the multiplier,
# rounded, plus the zero point, clamped :eq:`eq-requantize`.

requant = requantization("fbgemm", 0.05, 0.01, 0.1, 10)
real = accumulator.astype(np.float32) * requant.multiplier
out = np.clip(np.rint(real) + 10, 0, 255).astype(np.uint8)
print("times the multiplier", np.round(real.astype(float), 2).tolist())
print("bytes", out.tolist())
assert np.array_equal(out, quantized_linear(x, x_zero_point, weight, 0, requant))

# %%
# The same bits from every kernel
# -------------------------------
#
# Sums of integers do not depend on their order, and every rounding is prescribed. So all
# kernels give the same bits, and this machine can try all that it can run.

kernels.show()
rng = np.random.default_rng(0)
a = torch.quantize_per_tensor(
    torch.from_numpy(rng.normal(size=(67, 129)).astype(np.float32)), 0.03, 120, torch.quint8
)
b = torch.quantize_per_tensor(
    torch.from_numpy(rng.normal(size=(83, 129)).astype(np.float32)), 0.02, 0, torch.qint8
)
results = {}
for name in kernels.usable():
    with kernels.use(name):
        results[name] = torch.nn.quantized.functional.linear(a, b, None, 0.2, 128).int_repr()
assert all(torch.equal(each, results["reference"]) for each in results.values())
print("equal bits from", ", ".join(results))

# %%
# The roofline
# ------------
#
# How fast can it be at all? Two limits stand above every kernel: the dot products that the
# processor can do in a second, and the bytes that memory can deliver. A layer that does
# :math:`I` operations for each byte that it moves runs at
#
# .. math:: \min(\text{peak},\; I \cdot \text{bandwidth})
#
# operations a second at best (in seconds: :eq:`eq-roofline`). Drawn over :math:`I` that is a roof.
# A linear layer with :math:`m` rows, :math:`K` deep and :math:`N` wide does :math:`2 m K N`
# operations on :math:`m K + K N + m N` bytes:

for m, depth, columns in ((1, 1024, 1024), (16, 1024, 1024), (512, 1024, 1024)):
    intensity = 2 * m * depth * columns / (m * depth + depth * columns + m * columns)
    print(f"{m:4d} x {depth} x {columns}: {intensity:6.1f} operations a byte")

# %%
# One row uses every weight once, so that memory decides; many rows reuse them, and the
# processor does. The points are measured: ``python -m benchmarks --json`` ran each layer in
# turns with other libraries, on the machine named below, and measured peak and bandwidth in the
# same run. (Without a clone of the repository, a few layers are measured here, and the fastest of
# them is taken for the peak. The weights of a small layer stay in the cache, which is faster than
# memory: such points may lie above the slope. None lies above the flat part, except where the clock
# varied.)


def measured_here():
    """A few layers on this machine, and its memory, where there is no clone of the repository."""
    big, copy = np.ones(2**24, np.float32), np.empty(2**24, np.float32)
    bandwidth = (
        2 * big.nbytes / min(timeit.repeat(lambda: np.copyto(copy, big), number=1, repeat=5))
    )
    races = []
    for m, size in ((1, 256), (1, 1024), (16, 256), (16, 1024), (256, 256), (256, 1024)):
        layer = torch.nn.quantized.Linear(size, size)
        x = torch.quantize_per_tensor(torch.rand(m, size), 1 / 255, 0, torch.quint8)
        seconds = min(timeit.repeat(lambda layer=layer, x=x: layer(x), number=5, repeat=5)) / 5
        work, moved = 2 * m * size * size, size * (2 * m + size)
        races.append({"kind": "linear", "operations": work, "moved": moved, "pyqref": seconds})
    peak = max(race["operations"] / race["pyqref"] for race in races)
    return {"races": races, "peaks": {"operations": peak, "bytes": bandwidth}}


here = Path.cwd()
files = [each / "benchmarks" / "measured.json" for each in (here, *here.parents)]
kept = next((each for each in files if each.is_file()), None)
if kept:
    measured = json.loads(kept.read_text())
    print(measured["processor"], "|", measured["kernel"], "|", measured["versions"])
else:
    measured = measured_here()
    print("this machine |", kernels.in_use())

races = [race for race in measured["races"] if race["kind"] in ("linear", "conv2d")]
intensity = np.array([race["operations"] / race["moved"] for race in races])
figure, ax = plt.subplots(figsize=(7, 4.4))
for name, label, style in (("best", "fastest other library", "C1x"), ("pyqref", "pyqref", "C0o")):
    if name in races[0]:
        rate = [race["operations"] / race[name] / 1e9 for race in races]
        ax.plot(intensity, rate, style, markersize=4, alpha=0.75, label=label)
x = np.geomspace(intensity.min() / 1.5, intensity.max() * 1.5, 200)
roof = np.minimum(measured["peaks"]["operations"], x * measured["peaks"]["bytes"]) / 1e9
ax.plot(x, roof, color=plt.rcParams["text.color"], linewidth=1.2, label="roof")
ax.set(xscale="log", yscale="log", ylabel="10⁹ operations a second")
ax.set_xlabel("operations per byte of input, weight and output")
ax.legend()
plt.show()
fastest = max(
    race["operations"] / race["pyqref"] for race in measured["races"] if race["kind"] == "linear"
)
print(f"fastest linear layer: {100 * fastest / measured['peaks']['operations']:.0f} % of the peak")
# The peak is measured once; the clock, which rises and falls by some percent, all the time.
assert fastest <= 1.1 * measured["peaks"]["operations"]

# %%
# **In short**: pack the weights in the order of reading, hold as many sums as there are
# registers, move the zero points out of the product, and finish while the sums are at hand. The
# machine sets the remaining limit: memory for a few rows, dot products for many.
