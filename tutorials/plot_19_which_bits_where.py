"""
Which layer needs how many bits?
================================

A network has to fit into half the memory that its 8-bit weights take. Should every layer get four
bits, or some of them eight and others three?

Nobody has to guess. We measure what each layer loses with each width, let a search spend the
bits where they are worth most, and look at all that it found: the *frontier*, the best network
for each size. Then we ask the opposite question: which layers must stay in floating point if
the network may lose almost nothing?
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, plot
from pyqref.demo.data import load_digits
from pyqref.demo.measure import accuracy
from pyqref.demo.models import DigitCNN
from pyqref.demo.train import predict, train
from pyqref.quantization.mixed_precision import (
    Width,
    quantize_with_accuracy_control,
    search_mixed_precision,
)
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx

plt.style.use(plot.settings())

# %%
# The network, and the search
# ---------------------------
#
# A small residual network reads handwritten digits. The budget is four bits for a weight in the
# mean (:eq:`eq-mean-weight-bits`); layers may have 8, 6, 5, 4 or 3 bits, activations keep 8.
# The metric is the noise of the output beside its signal. It sees more than the accuracy,
# which hardly moves until it breaks. Names such as ``"accuracy"``, and functions of your own, are
# given in the same place.

digits = load_digits()
torch.manual_seed(0)
network = train(DigitCNN(), digits.train_images, digits.train_labels, epochs=3, lr=5e-3).eval()
WIDTHS = (8, 6, 5, 4, 3)
found = search_mixed_precision(
    network,
    digits.test_images,
    "sqnr",
    {"bits": 4},
    choices=WIDTHS,
    calibration=digits.calibration_images,
    whole_frontier=True,
)
print(found)

# %%
# The ledger
# ----------
#
# First, the search quantized each layer alone, with each width, and measured the output. These
# measurements are its ledger: what a layer loses, and what it would save.

figure, ax = plt.subplots(figsize=(6.4, 3.8))
layers = [name for name in found.bits if (name, Width(8, 8)) in found.sensitivities]
for index, name in enumerate(layers):
    noise = [float(found.sensitivities[name, Width(bits, 8)]) for bits in WIDTHS]
    count = network.get_submodule(name).weight.numel()
    ax.semilogy(WIDTHS, noise, "os^Dv"[index] + "-", label=f"{name}, {count:,} weights")
ax.invert_xaxis()
ax.set_xlabel("width of the weights of one layer alone [bits]")
ax.set_ylabel("noise / signal (no unit)")
ax.legend(fontsize="small")
plt.show()

# %%
# Two layers of the block hold most of the weights, so narrowing them saves most. The small ones
# at both ends save next to nothing, and there the search leaves the bits alone. It takes steps in
# the order of their *price*: the noise that a step adds for each bit that it saves
# (:eq:`eq-price-of-saving`).
#
# The frontier
# ------------
#
# Each point is a network that was quantized and measured. The staircase joins those that no other
# beats: it says what a budget buys.

ax = found.plot()
ax.set_title("what a budget of bits buys")
plt.show()

for point in found.frontier:
    widths = " ".join(f"{point.bits[name].weight}" for name in layers)
    ratio = -10 * np.log10(float(point.value))
    print(f"{float(point.cost):5.2f} bits, {ratio:5.1f} dB, layers: {widths}")

# %%
# Against four bits for all
# -------------------------
#
# A fair opponent has the same budget and no search: every layer gets four bits. The mapping of
# the result goes through ``prepare_fx`` like any other, and gives the network that was measured.


def quantized(mapping):
    """The network, prepared, calibrated and converted."""
    prepared = prepare_fx(network, mapping, (digits.test_images[:1],))
    predict(prepared, digits.calibration_images)
    return convert_fx(prepared)


uniform = search_mixed_precision(
    network,
    digits.test_images,
    "sqnr",
    {"bits": 4},
    choices=(4,),
    calibration=digits.calibration_images,
)
exact = predict(network, digits.test_images)
rows = {
    "float": network,
    "four bits for all": quantized(uniform.qconfig_mapping),
    "mixed": quantized(found.qconfig_mapping),
}
ratios, right = {}, {}
for name, model in rows.items():
    logits = predict(model, digits.test_images)
    ratios[name] = measure.sqnr(exact, logits)
    right[name] = accuracy(logits, digits.test_labels)
    print(f"{name:18} {ratios[name]:6.1f} dB, {right[name]:.1f} % right")

# %%
# What may stay in float?
# -----------------------
#
# Now everything has eight bits, and only the noise is bounded: by six tenths of what it is when
# everything is quantized. Layers are put back to float, the most harmful first, and the fewest
# that suffice are kept.

everything = quantize_with_accuracy_control(
    network, digits.test_images, "sqnr", 1.0, calibration=digits.calibration_images
)
control = quantize_with_accuracy_control(
    network,
    digits.test_images,
    "sqnr",
    float(everything.value) * 0.6,
    calibration=digits.calibration_images,
)
print(control)

# %%
# One layer is enough: the last one, whose output nothing averages any more, and which
# :doc:`plot_07_which_layer_hurts` found guilty in another way.
#
# What we claimed
# ---------------
#
# The search keeps its budget and is better than four bits for all, by two decibels at least;
# the frontier only rises; and one layer in float brings the noise below six tenths.

assert found.cost <= 4
assert ratios["mixed"] > ratios["four bits for all"] + 2
assert right["mixed"] >= right["float"] - 2
values = [point.value for point in found.frontier]
assert values == sorted(values, reverse=True)
assert control.put_back == ("head",)
assert control.fewest
assert control.drop <= everything.drop * 6 / 10
