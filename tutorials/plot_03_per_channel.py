"""
One scale for all weights, or one for each channel
==================================================

A weight matrix can have one scale, or one for each output channel. What does the second
cost, what does it gain, and when does the first one fail?

The cost is nearly nothing: the scale of an output channel can be pulled out of its sum, so the
arithmetic on integers stays the same, and a layer with 24 channels stores 24 scales instead of
one (:doc:`/theory/per_channel`). The gain depends only on how much the channels differ in size.
We look at a trained network, and then make it difficult.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, plot
from pyqref.demo.data import load_digits
from pyqref.demo.measure import accuracy
from pyqref.demo.models import DigitCNN
from pyqref.demo.static import fused
from pyqref.demo.train import predict, train
from pyqref.quantization import MinMaxObserver, PerChannelMinMaxObserver

plt.style.use(plot.settings())

# %%
# A network, trained
# ------------------
#
# A small convolutional network learns to read handwritten digits of 8 × 8 pixels. Then its
# batch norms are folded into the convolutions before them, as is done before every
# quantization. Each channel is thereby multiplied by a factor of its own: folding is one
# reason why channels differ in size.

digits = load_digits()
torch.manual_seed(0)
trained = train(DigitCNN(), digits.train_images, digits.train_labels, epochs=3, lr=5e-3)
model = fused(trained)
layer = "block.conv1"
weight = model.get_submodule(layer)[0].weight.detach()
print("output channels, input channels, height, width:", tuple(weight.shape))

# %%
# Two observers, two grids
# ------------------------
#
# :class:`~pyqref.quantization.MinMaxObserver` finds the largest weight of all,
# :class:`~pyqref.quantization.PerChannelMinMaxObserver` the largest of each channel. Both
# make a symmetric scale of it, :eq:`eq-symmetric-scale`, such that the largest weight just
# fits: zero is in the middle, and 127.5 steps reach to either side.


def per_tensor(weight):
    """The weight with one scale."""
    observer = MinMaxObserver(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)
    observer(weight)
    scale, zero_point = observer.calculate_qparams()
    return torch.quantize_per_tensor(weight, float(scale), int(zero_point), torch.qint8)


def per_channel(weight):
    """The weight with a scale for each output channel."""
    observer = PerChannelMinMaxObserver(
        ch_axis=0, dtype=torch.qint8, qscheme=torch.per_channel_symmetric
    )
    observer(weight)
    scales, zero_points = observer.calculate_qparams()
    return torch.quantize_per_channel(weight, scales, zero_points, 0, torch.qint8)


quantized = {"per tensor": per_tensor(weight), "per channel": per_channel(weight)}
figure, ax = plt.subplots(figsize=(6.4, 3.8))
plot.weights_and_scales(weight, quantized, ax=ax)
ax.set_title(f"weights of {layer}, and the reach of int8")
plt.show()

# %%
# Between the orange steps and a channel's weights there is no room to spare. Between the blue
# lines and a small channel's weights there is: those integers are never used.
#
# The bound of a channel's error
# ------------------------------
#
# No weight is moved by more than half a step of its scale, so the root mean square error of a
# channel cannot exceed half its step either. Beside the channel's own root mean square, that
# is a bound in percent; dashed below.

errors = {name: measure.channel_error(weight, q) for name, q in quantized.items()}
bounds = {name: measure.channel_bound(weight, q) for name, q in quantized.items()}
figure, ax = plt.subplots(figsize=(6.4, 3.8))
plot.channel_error(errors, bounds=bounds, ax=ax)
ax.set_ylim(0, 1.35 * max(bounds["per tensor"]))
plt.show()

for name, q in quantized.items():
    print(f"{name:12} {measure.sqnr(weight, q):.1f} dB")

# %%
# Here the channels are of similar size and the gain is moderate, thanks to batch norm and weight
# decay. Other networks are less kind: with depthwise convolutions, ranges can differ by a factor
# of a hundred.
#
# A difficult twin
# ----------------
#
# A positive factor passes through ReLU: :math:`\mathrm{relu}(a x) = a\,\mathrm{relu}(x)`. So
# an output channel of this convolution can be multiplied by :math:`a_c`, and the same channel
# of the next convolution's *input* divided by it: the network stays the same function. If the
# factors are powers of two, float32 multiplies without rounding and even the bits stay the
# same. We make the channels more and more unlike, quantize only this one weight, and watch.


def twin(spread):
    """Return an equal function whose channels are 1 to ``2 ** spread`` times as large."""
    powers = np.round(np.linspace(0, spread, len(weight)))
    factors = torch.from_numpy(2.0 ** powers.astype(np.float32))
    stretched = fused(trained)
    first, second = stretched.block.conv1[0], stretched.block.conv2
    with torch.no_grad():
        first.weight.mul_(factors.reshape(-1, 1, 1, 1))
        first.bias.mul_(factors)
        second.weight.div_(factors.reshape(1, -1, 1, 1))
    return stretched


def channel_ratios(weight, quantized):
    """Signal to quantization noise ratio of each channel, in dB."""
    return -20 * np.log10(measure.channel_error(weight, quantized) / 100)


def predicted_ratios(weight, quantized):
    """Predict the ratios for rounding errors spread evenly over half a step to either side."""
    return -20 * np.log10(measure.channel_bound(weight, quantized) / np.sqrt(3) / 100)


exact = predict(model, digits.test_images)
spreads = np.arange(0, 15, 2)
ratios = {"per tensor": [], "per channel": []}
predictions = {"per tensor": [], "per channel": []}
accuracies = {"per tensor": [], "per channel": []}
for spread in spreads:
    for name, quantize in (("per tensor", per_tensor), ("per channel", per_channel)):
        candidate = twin(spread)
        assert torch.equal(exact, predict(candidate, digits.test_images))
        stretched = candidate.block.conv1[0].weight.detach().clone()
        q = quantize(stretched)
        ratios[name].append(channel_ratios(stretched, q).mean())
        predictions[name].append(predicted_ratios(stretched, q).mean())
        with torch.no_grad():
            candidate.block.conv1[0].weight.copy_(q.dequantize())
        logits = predict(candidate, digits.test_images)
        accuracies[name].append(accuracy(logits, digits.test_labels))

# %%
# Theory says what to expect. An error spread evenly over half a step to either side has the mean
# square :math:`s^2/12`. Doubling the largest channel doubles the one scale; beside a channel
# that stayed as it was, that is 6.02 dB lost. The channels in between have grown part of the
# way, half of it on average, so that the mean falls by about 3 dB a doubling: the dashed lines.
# They no longer hold where all weights of a channel are rounded to zero: a channel cannot lose
# more than itself, which is 0 dB.

figure, axes = plt.subplots(2, 1, figsize=(6.4, 6.0), sharex=True)
for index, name in enumerate(ratios):
    style = {"marker": "os"[index], "color": f"C{index}", "label": name}
    axes[0].plot(spreads, ratios[name], **style)
    axes[0].plot(spreads, predictions[name], "--", color=f"C{index}", label=f"{name}, theory")
    axes[1].plot(spreads, accuracies[name], **style)
axes[0].set_ylabel("mean SQNR of a channel [dB]")
axes[0].legend(loc="lower left", fontsize="small")
axes[1].set_ylabel("test accuracy [%]")
axes[1].set_xlabel("largest over smallest channel [powers of two]")
axes[1].set_ylim(0, 103)
plt.show()

# %%
# Every point of these curves is the same function in float32. With one scale, the rounding
# errors of large channels hide the small ones. With a scale for each channel nothing changes at
# all: a channel that is twice as large gets exactly twice the scale and the same integers.
#
# What we claimed
# ---------------
#
# The bound holds for every channel; theory predicts the error within 1 dB while the weights
# are larger than a step; and per channel the integers themselves do not change.

assert all(np.all(errors[name] <= bounds[name]) for name in errors)
assert np.all(bounds["per channel"] <= bounds["per tensor"])
for name in ratios:
    assert np.abs(np.subtract(ratios[name], predictions[name])[:3]).max() < 1
calm, wild = (per_channel(twin(spread).block.conv1[0].weight.detach()) for spread in (0, 14))
assert torch.equal(calm.int_repr(), wild.int_repr())
assert accuracies["per channel"][-1] == accuracies["per channel"][0]
assert accuracies["per tensor"][-1] < accuracies["per tensor"][0] - 10
