"""
Static quantization of a convolutional network
==============================================

The layers of a trained network are to exchange 8-bit integers and to multiply them exactly. What
has to be done, what does it cost, and how much of the cost can be proved beforehand?

It takes four steps, and none of them trains anything: fuse, prepare, calibrate, convert. Real
numbers remain in one place: each layer scales its sums and adds its bias in float32, before it
rounds to the next integers. Afterwards we open the converted network and check, layer by layer,
the one error that theory bounds.
"""

# sphinx_gallery_thumbnail_number = 3

import copy

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, nn, plot
from pyqref.demo.data import load_digits
from pyqref.demo.measure import accuracy, weight_bytes
from pyqref.demo.models import DigitCNN
from pyqref.demo.train import predict, train

plt.style.use(plot.settings())

# %%
# The float network
# -----------------
#
# The network is a small residual one that reads handwritten digits of 8 × 8 pixels. Two things in
# it are there for quantization: the stubs ``quant`` and ``dequant`` mark the border between real
# numbers and integers, and the addition of the residual block is a module, a
# :class:`~pyqref.nn.quantized.FloatFunctional`, because its result needs a scale of its own.

digits = load_digits()
torch.manual_seed(0)
network = train(DigitCNN(), digits.train_images, digits.train_labels, epochs=5, lr=5e-3)
float_logits = predict(network, digits.test_images)
print(f"accuracy in float32: {accuracy(float_logits, digits.test_labels):.1f} %")

# %%
# Step 1: fuse
# ------------
#
# A batch norm in evaluation mode is a factor and an addend for each channel, and both can be
# folded into the convolution before it (:doc:`/theory/folding`). ReLU joins them: on integers
# it is a lower bound of the clamp that is there anyway. The function stays the same up to the
# rounding of float32.

fused = torch.quantization.fuse_modules(copy.deepcopy(network).eval(), DigitCNN.FUSED)
fused_logits = predict(fused, digits.test_images)
difference = float((fused_logits - float_logits).abs().max())
print(f"largest change of a logit: {difference:.1e}")
print(fused.stem)

# %%
# Step 2: prepare
# ---------------
#
# A :class:`~pyqref.quantization.QConfig` says which observers to use; ``prepare`` puts one
# behind each layer. This one looks at activations with a histogram and gives each output
# channel of a weight its own scale.

fused.qconfig = torch.quantization.get_default_qconfig("fbgemm")
prepared = torch.quantization.prepare(fused)
print(prepared.head)

# %%
# Step 3: calibrate
# -----------------
#
# Run the prepared network on typical data, and the observers record the ranges. Labels are not
# needed. Here 256 training images are enough, and the last section asks whether fewer would.

predict(prepared, digits.calibration_images)
prepared.head.activation_post_process

# %%
# Step 4: convert
# ---------------
#
# Every observed layer is replaced by a quantized one: weights are rounded to integers, and the
# observed ranges become scales and zero points.

quantized = torch.quantization.convert(prepared)
quantized

# %%
# What it cost
# ------------

logits = predict(quantized, digits.test_images)
variants = {"float32": (network, float_logits), "int8": (quantized, logits)}
for name, (model, output) in variants.items():
    found = accuracy(output, digits.test_labels)
    print(f"{name:8} {found:5.1f} % right, {weight_bytes(model):6,} bytes of weights")
print(f"signal to noise of the logits: {measure.sqnr(fused_logits, logits):.1f} dB")

figure, ax = plt.subplots(figsize=(6.4, 3.6))
plot.error_histogram({"logits": logits - fused_logits}, unit="logit", ax=ax)
half_step = quantized.head.scale / 2
for end in (-half_step, half_step):
    ax.axvline(end, color="0.3", linestyle="--", linewidth=1.2)
ax.set_title("dashed: half a step of the last layer")
plt.show()

# %%
# The error of a logit is larger than half a step of the last layer, because the noise of all
# layers before is in it. This is how noise grows through the network:

ratios = measure.layer_sqnr(fused, quantized, digits.test_images)
figure, ax = plt.subplots(figsize=(6.4, 3.8))
plot.layer_sqnr(ratios, ax=ax)
plt.show()

# %%
# :func:`pyqref.measure.annotate` writes these numbers beside the layers. The error column then
# shows both the measured error and half a step, the bound of the layer's own rounding.

measure.annotate(quantized, ratios)

# %%
# What can be proved
# ------------------
#
# No useful bound is known for the whole network, but there is one for each layer *by itself*.
# Give its integers' real values to float64, with the weights as they were rounded: then the only
# error is that of one requantization, half an output step and a little
# (:doc:`/theory/requantization`). We record what goes into each layer and what comes out.


def recorded(model, inputs, layers):
    """Return input and output of each layer, which are quantized tensors."""
    seen = {}

    def keep(name):
        def hook(module, arguments, output):
            seen[name] = arguments[0], output

        return hook

    handles = [model.get_submodule(name).register_forward_hook(keep(name)) for name in layers]
    predict(model, inputs, batch_size=len(inputs))
    for handle in handles:
        handle.remove()
    return seen


def exact_output(layer, x):
    """Compute the layer in float64, on the real numbers that its integers stand for."""
    weight = layer.weight().dequantize().double()
    bias = layer.bias().detach().double()
    if isinstance(layer, nn.quantized.Linear):
        return nn.functional.linear(x.dequantize().double(), weight, bias).numpy()
    y = nn.functional.conv2d(
        x.dequantize().double(), weight, bias, layer.stride, layer.padding
    ).numpy()
    return np.maximum(y, 0) if isinstance(layer, nn.intrinsic.quantized.ConvReLU2d) else y


layers = ["stem.conv", "widen.conv", "block.conv1", "block.conv2", "head"]
largest = {}
for name, (x, y) in recorded(quantized, digits.test_images, layers).items():
    layer = quantized.get_submodule(name)
    low, high = ((end - y.q_zero_point()) * y.q_scale() for end in (0, 255))
    exact = np.clip(exact_output(layer, x), low, high)
    error = np.abs(y.dequantize().numpy() - exact) / y.q_scale()
    largest[name] = error.max()
    print(f"{name:12} {error.size:7,} outputs, largest error {error.max():.5f} steps")

figure, ax = plt.subplots(figsize=(6.4, 3.0))
ax.barh(range(len(largest)), list(largest.values()), height=0.6)
ax.axvline(0.5, color="0.2", linestyle="--", linewidth=1.4, label="bound: half a step")
ax.set_yticks(range(len(largest)), list(largest))
ax.invert_yaxis()
ax.set_xlim(0, 0.6)
ax.set_xlabel("largest error of the layer itself [output steps]")
ax.legend(loc="lower right", bbox_to_anchor=(1, 1), fontsize="small")
plt.show()

# %%
# How many images does calibration need?
# --------------------------------------

counts = [1, 2, 4, 8, 16, 32, 64, 128, 256]
found = []
for count in counts:
    candidate = torch.quantization.prepare(fused)
    predict(candidate, digits.calibration_images[:count])
    candidate = torch.quantization.convert(candidate)
    found.append(measure.sqnr(fused_logits, predict(candidate, digits.test_images)))

figure, ax = plt.subplots(figsize=(6.4, 3.4))
ax.plot(counts, found, "o-")
ax.set_xscale("log", base=2)
ax.set_xticks(counts, [str(count) for count in counts])
ax.set_xlabel("calibration images")
ax.set_ylabel("SQNR of the logits [dB]")
plt.show()

# %%
# With a handful of images the ranges are too narrow and activations are clipped; after some
# dozens nothing more is gained.
#
# What we claimed
# ---------------
#
# Fusing changes nothing but float32 rounding; int8 reads as well as float32, within one percent
# of the images, with about a quarter of the bytes; and no layer by itself errs by more than half
# a step and the small change that theory allows.

float_accuracy, int8_accuracy = (
    accuracy(each, digits.test_labels) for each in (float_logits, logits)
)
assert difference < 1e-4
assert int8_accuracy >= float_accuracy - 1
assert weight_bytes(quantized) < 0.4 * weight_bytes(network)
assert all(0.45 < each <= 0.5 + 4e-4 for each in largest.values())
assert max(found) - found[-1] < 1.5
assert found[0] < found[-1] - 3
