"""
Which layer hurts?
==================

A quantized network is worse than it should be. Which of its layers is to blame, and what
would be gained by leaving that one in floating point?

The noise behind each layer does not answer this: it includes the noise of all layers before, and
the last layer always looks bad. So we quantize *one layer at a time*, measure what each costs
the output, and test whether the costs add up.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, plot
from pyqref.demo.data import load_digits
from pyqref.demo.models import DigitCNN
from pyqref.demo.static import fused
from pyqref.demo.train import predict, train
from pyqref.quantization import QConfigMapping, get_default_qconfig
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx

plt.style.use(plot.settings())

# %%
# The patient
# -----------
#
# A small residual network reads digits. Graph mode quantizes it: it finds by itself what to
# fuse, and a :class:`~pyqref.quantization.QConfigMapping` says which layers to leave alone, by
# name. We express the quality of the result in decibels, as the signal to quantization noise
# ratio of the logits: 6 dB more is half the error.

digits = load_digits()
torch.manual_seed(0)
network = train(DigitCNN(), digits.train_images, digits.train_labels, epochs=3, lr=5e-3)
reference = fused(network)
exact = predict(reference, digits.test_images)
qconfig = get_default_qconfig("fbgemm")


def quantized(*left_in_float):
    """The network in int8, but for the layers named."""
    mapping = QConfigMapping().set_global(qconfig)
    for name in left_in_float:
        mapping = mapping.set_module_name(name, None)
    prepared = prepare_fx(network, mapping, (digits.test_images[:1],))
    predict(prepared, digits.calibration_images)
    return convert_fx(prepared)


model = quantized()
together = measure.sqnr(exact, predict(model, digits.test_images))
print(f"all layers quantized: {together:.1f} dB")

# %%
# Symptoms: the noise behind each layer
# -------------------------------------
#
# :func:`pyqref.measure.layer_sqnr` runs both networks and compares what each layer gives.

ratios = measure.layer_sqnr(reference, model, digits.test_images)
figure, ax = plt.subplots(figsize=(6.4, 3.6))
plot.layer_sqnr(ratios, ax=ax)
ax.set_title("noise of all layers so far")
plt.show()

# %%
# The curve falls and rises. It rises where layers average: noise of many independent roundings
# partly cancels, the signal does not. It cannot say whether ``block.conv2`` makes noise or
# inherits it.
#
# Diagnosis: one layer at a time
# ------------------------------
#
# :func:`pyqref.measure.sensitivity` makes as many copies of the network as it has layers, and
# in each of them quantizes a single one: its input, its weight, its output. All else stays
# float, so what arrives at the logits is this layer's noise alone. It can do the same with every
# addition or activation; their grids are those of the layers here, so we leave them out.
#
# If the noises are independent of each other, their powers add up :eq:`eq-noise-sum`. In
# decibels,
#
# .. math:: r = -10 \log_{10} \sum_k 10^{-r_k/10},
#
# which is :func:`pyqref.measure.add_noises`, the dashed line. The orange one is the network
# with all of its layers quantized.

LAYERS = ["stem.conv", "widen.conv", "block.conv1", "block.conv2", "head"]
alone = measure.sensitivity(
    reference,
    qconfig,
    digits.test_images,
    calibration=digits.calibration_images,
    layers=LAYERS,
)
predicted = measure.add_noises(alone.values())
figure, ax = plt.subplots(figsize=(6.4, 3.6))
plot.sensitivity(alone, together=together, predicted=predicted, ax=ax)
ax.set_xlabel("SQNR of the output [dB]")
ax.legend(loc="lower left", bbox_to_anchor=(0, 1), fontsize="small")
plt.show()

for name, ratio in sorted(alone.items(), key=lambda item: item[1]):
    share = 10 ** ((predicted - ratio) / 10)
    print(f"{name:12} {ratio:5.1f} dB, {share:5.1%} of the noise")

# %%
# The last layer, ``head``, is responsible for half of the noise, although the noise behind it
# is not the worst of the network. Why? Its *output* is rounded: to a scale :math:`s_y`, which
# costs :math:`s_y^2/12` in the mean, and no later layer averages that away. Theory predicts its
# cost from the scale alone.

scale = float(model.head.scale)
signal = np.mean(exact.numpy().astype(np.float64) ** 2)
from_scale = 10 * np.log10(signal / (scale**2 / 12))
print(f"predicted from the scale of its output: {from_scale:.1f} dB")
print(f"measured:                               {alone['head']:.1f} dB")

# %%
# Treatment: leave a layer in float
# ---------------------------------
#
# What is gained if one layer is spared? The model of independent noises predicts it: the sum
# without that layer. We spare each in turn and compare.

gains = {
    name: (
        measure.add_noises(ratio for other, ratio in alone.items() if other != name) - predicted,
        measure.sqnr(exact, predict(quantized(name), digits.test_images)) - together,
    )
    for name in alone
}
figure, ax = plt.subplots(figsize=(6.4, 3.6))
place = np.arange(len(gains))
expected, measured = np.transpose(list(gains.values()))
ax.barh(place - 0.2, expected, height=0.38, color="0.6", label="predicted: its noise is gone")
ax.barh(place + 0.2, measured, height=0.38, color="C0", label="measured")
ax.set_yticks(place, list(gains))
ax.invert_yaxis()
ax.axvline(0, color="0.3", linewidth=0.8)
ax.set_xlabel("gain of the logits' signal to noise ratio [dB]")
ax.set_ylabel("layer left in float")
ax.legend(loc="upper right", fontsize="small")
plt.show()

# %%
# For ``head`` the prediction is right: 3 dB, half of the noise power, for 240 weights that stay
# float. For the others the prediction is too high. A layer in the middle shares its input and
# output with its neighbours, and those still round them: sparing one layer between two quantized
# ones saves its weight's noise only. That is why it pays to spare the *ends* of a network, and
# why sensitivities are an upper estimate of what sparing a layer brings.
#
# What we claimed
# ---------------
#
# The sum of the noises of single layers predicts the noise of all together within 1.5 dB; the
# output scale alone predicts the noise of the last layer within 1.5 dB; and no layer brings more
# than predicted, give or take a quarter of a decibel.

assert abs(predicted - together) < 1.5
assert abs(from_scale - alone["head"]) < 1.5
assert min(alone, key=alone.get) == "head"
assert np.all(measured <= expected + 0.25)
assert gains["head"][1] > 2
