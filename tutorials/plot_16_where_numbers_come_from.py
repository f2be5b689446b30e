"""
Where does this number come from?
=================================

A quantized network gives an integer. Why this one, and not the next? Which pixel, which weight,
which rounding made it so?

Most systems cannot tell: the integer appears, and what led to it is hidden in a kernel. Here every
rounding is a function with an equation, so that a number can be followed step by step, down to the
pixels of the image. We do that for the closest decision that a small network takes.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import pyqref as torch
from pyqref import plot
from pyqref.demo.data import load_digits
from pyqref.demo.models import DigitCNN
from pyqref.demo.static import fused
from pyqref.demo.train import predict, train
from pyqref.quantization import convert, get_default_qconfig, prepare

plt.style.use(plot.settings())

# %%
# The closest decision
# --------------------
#
# A network is trained on digits, and quantized. Of all test images we take the one whose two
# largest logits are nearest to each other in floating point.

digits = load_digits()
torch.manual_seed(0)
network = train(DigitCNN(), digits.train_images, digits.train_labels, epochs=3, lr=5e-3)
reference = fused(network)
reference.qconfig = get_default_qconfig("fbgemm")
prepared = prepare(reference)
batches = digits.calibration_images.split(64)
with torch.explaining.recording() as calibration:
    for batch in batches:
        prepared(batch)
quantized = convert(prepared)

logits = predict(reference, digits.test_images).numpy()
ordered = np.sort(logits, axis=1)
gap = ordered[:, -1] - ordered[:, -2]
closest = int(gap.argmin())
image = digits.test_images[closest : closest + 1]
second, first = (int(each) for each in np.argsort(logits[closest])[-2:])
step = float(quantized.head.scale)

print(f"image {closest}, of a {int(digits.test_labels[closest])}")
print(f"logit of {first}: {logits[closest, first]:.4f}, of {second}: {logits[closest, second]:.4f}")
print(f"apart by {gap[closest]:.4f}; one step of the integers is {step:.4f}")

# %%
# The two are less than one step apart. So it is not the image that decides between them, but the
# roundings on the way: with a little bad luck the integers are equal, or change places.
#
# The integer, step by step
# -------------------------
#
# :func:`pyqref.explain` runs the network once and derives one number: each step with its equation,
# the numbers put in, the exact value, and what a rounding or a clamp decided. We ask for the
# integer of the class that won.

found = torch.explain(quantized, image, layer="head", index=(0, first))
print(found)

# %%
# Read it from the top. 24 products of integers are summed exactly (:eq:`eq-linear-accumulator`).
# The bias is a real number: it is divided by the value of one unit of the sum and added to the sum
# in float32 (:eq:`eq-requantize-bias`). One multiplication leads to steps of the output,
# and there, in ``rounded``, the decision falls: a tie would be exactly half way between two
# integers, and the line below says how far away it is.
#
# Nothing of this is a reconstruction. :meth:`~pyqref.explaining.Derivation.check` computes each
# step again from its own operands, in fractions, and compares the end with the integer that the
# layer stored.

assert found.check()
value = found.step("in units of the output").fraction
print(f"exactly {value} steps, which is {float(value):.6f}")

other = torch.explain(quantized, image, layer="head", index=(0, second))
apart = float(value - other.step("in units of the output").fraction)
print(f"class {first}: {found.value}, class {second}: {other.value}")
print(f"before rounding they were {apart:.3f} steps apart,")
print(f"in floating point {gap[closest] / step:.3f}")

# %%
# Down to the pixel
# -----------------
#
# ``found.inputs`` are the numbers that the steps took. Each can be asked the same question, one
# layer back. We follow the one that weighs most, layer by layer, until there is nothing before it.

path = [found]
while True:
    heaviest = path[-1].largest_inputs(1)[0]
    if heaviest.is_given:
        break
    path.append(heaviest.why())
for each in path:
    decisions = [step.decision for step in each.steps if "tie" in step.decision]
    print(f"{each.layer:15} {list(each.index)!s:14} {each.stored:4}  {'; '.join(decisions)}")
print(f"{'pixel':15} {list(heaviest.index)!s:14} {heaviest.value}")

# %%
# The pixel is one of those that the last convolution on the path sees; all of them together fill
# the frame in the figure.

first_conv = next(each for each in path if each.layer == "stem.conv")
pixels = [each.index[2:] for each in first_conv.inputs]
top, left = np.min(pixels, axis=0)
bottom, right = np.max(pixels, axis=0)
figure, ax = plt.subplots(figsize=(3.4, 3.6))
plot.image(image[0, 0], f"image {closest}: {first} or {second}?", ax=ax)
frame = (left - 0.5, top - 0.5), right - left + 1, bottom - top + 1
ax.add_patch(Rectangle(*frame, fill=False, edgecolor="C0", linewidth=2.5))
ax.plot(heaviest.index[3], heaviest.index[2], "o", color="C1", markersize=9)
plt.show()

# %%
# Ties and clamps
# ---------------
#
# A sum of products hardly ever lies exactly between two integers. The mean of 16 integers often
# does: every 16th sum, if they were evenly spread. We ask the average pooling about 32 images.

with torch.explaining.recording() as ran:
    quantized(digits.test_images[:32])
channels = quantized.head.in_features
averages = [
    ran.explain("average", (number, channel, 0, 0))
    for number in range(32)
    for channel in range(channels)
]
ties = [each for each in averages if each.step("rounded").decision.startswith("a tie")]
print(f"{len(ties)} of {len(averages)} means are ties, {len(averages) / 16:.0f} were expected")
print(f"{ties[0].layer}{list(ties[0].index)}: {ties[0].step('rounded').decision}")

# %%
# Each of them goes to the even neighbour (:eq:`eq-round-half-even`). Clamps are just as common:
# where a ReLU follows, whatever is below the zero point becomes the zero point.

rng = np.random.default_rng(0)
places = rng.integers(0, (32, quantized.stem[0].out_channels, 8, 8), (200, 4))
asked = [ran.explain("stem.conv", tuple(map(int, place))) for place in places]
clamped = [each for each in asked if "clamped; the lower" in each.step("clamped").decision]
low = [each for each in clamped if each.step("clamped").decision.startswith("below")]
print(f"{len(low)} of {len(asked)} sums of the first layer lie below zero, such as")
print(f"{low[0].layer}{list(low[0].index)}: {low[0].step('clamped').decision}")

# %%
# Why the scale is this
# ---------------------
#
# The scale of a layer comes from calibration. We ran that in a recording too, so that its observer
# can be asked: which batch, and which place in it, had the largest number, and which ranges its
# histogram tried before it chose one (:eq:`eq-histogram-search`).

scale = calibration.explain("widen.conv.activation_post_process")
print(*scale.notes, sep="\n")
tried = scale.tables[0]
print(tried.title)
whole, chosen = (next(row for row in tried.rows if row[3] == word) for word in ("whole", "chosen"))
for begin, end, loss, word in (whole, chosen):
    print(f"  {word:6}: {begin:.3f} to {end:.3f} costs {loss:.1f}")

with torch.no_grad():
    outputs = reference.widen(reference.stem(digits.calibration_images))
figure, ax = plt.subplots(figsize=(6.4, 3.4))
ranges = {row[3]: tuple(float(each) for each in row[:2]) for row in (whole, chosen)}
plot.observer_range(outputs, ranges, ax=ax)
ax.set_xlabel("output of widen.conv (no unit)")
ax.legend(loc="upper right", fontsize="small")
plt.show()

# %%
# The same sum, elsewhere
# -----------------------
#
# Would a phone give the same integer? :mod:`pyqref.arithmetic` knows how other systems round, and
# :func:`pyqref.explain_diff` finds where two of them part, and why: here the engine and
# TFLite, which computes with integers only.

tflite = (None, lambda: torch.arithmetic.use("tflite"))
difference = torch.explain_diff(quantized, quantized, digits.test_images[:64], contexts=tflite)
print(str(difference).splitlines()[0])
causes = difference.first.causes
print(f"of {difference.first.count} numbers of this layer: {causes}")

# %%
# We take a number of the first layer that differs and put the arithmetics side by side. What is not
# the same as in the first column stands in bold.

place = difference.first.worst(1)[0].place
names = ["fbgemm", "qnnpack", "onnx", "tflite", "x86-saturating"]
aside = torch.explain(
    quantized, digits.test_images[:64], difference.first.layer, place, arithmetics=names
)
aside

# %%
# TFLite rounds the bias to an integer, too. It multiplies the sum by a fixed-point number of 31
# bits and rounded twice, after the product and after the shift, so that a number just
# below a tie may first be rounded onto it (:eq:`eq-multiply-rounded-twice`).
#
# And all errors together
# -----------------------
#
# One number can be followed; for all numbers together we want a total. :func:`pyqref.ledger` splits
# the error of the logits into layers and causes that add up exactly.

book = torch.ledger(reference, quantized, digits.test_images[:64])
figure, ax = plt.subplots(figsize=(6.4, 3.8))
plot.waterfall(book, ax=ax)
plt.show()
print(book.advice)

# %%
# What we claimed
# ---------------
#
# The two logits were less than one step apart. Every number on the path, down to the pixel, is what
# its derivation says, in exact arithmetic. About one mean of 16 integers in 16 is a tie, and goes
# to the even neighbour. The chosen range costs less than the whole one. The two arithmetics differ
# by one, and most differences have the two causes named. The ledger adds up.

assert 0 < gap[closest] < step
assert all(each.check() for each in (*path, other, *ties, *low, scale, aside))
assert heaviest.value == image[heaviest.index].item()
assert 24 == channels == len(found.inputs)
assert 0.5 < len(ties) / (len(averages) / 16) < 2
assert all(each.value % 2 == 0 for each in ties)
assert all(each.value == quantized.stem[0].zero_point for each in low)
assert chosen[2] == min(row[2] for row in tried.rows) < whole[2]
assert scale.value == np.float32(quantized.widen[0].scale)
integers = {name: steps[-1].value for name, steps in aside.others.items()}
assert integers["fbgemm"] == aside.stored
assert abs(integers["tflite"] - integers["fbgemm"]) == 1
named = sum(causes.get(each, 0) for each in ("rounded twice", "bias rounded to integer"))
assert named > difference.first.count / 2
assert book.total == sum(each.change for each in book.entries)
