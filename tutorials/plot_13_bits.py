"""
What is a bit worth?
====================

Every bit that a number is given costs memory and time. What does it buy, in decibels of error
and in images that are read correctly, and do weights and activations need equally many?

A rule of thumb says 6 dB a bit. We derive it, see on which data it holds exactly and on which
it needs a correction, and then give the weights and activations of a network 2 to 8 bits,
together and apart.
"""

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, plot
from pyqref.demo import bits, data, models
from pyqref.demo.measure import accuracy
from pyqref.demo.static import fused
from pyqref.demo.train import predict, train

plt.style.use(plot.settings())
WIDTHS = range(2, 9)

# %%
# Where 6.02 comes from
# ---------------------
#
# :math:`b` bits make :math:`2^b` integers, with :math:`2^b - 1` steps between them. Over a
# range of :math:`R` a step is :math:`s = R / (2^b - 1)` :eq:`eq-affine-qparams`, and errors
# spread evenly over a step have the mean square :math:`s^2/12`. So with a signal of mean square
# :math:`P`
#
# .. math:: \mathrm{SQNR} = 10 \log_{10} \frac{P}{s^2 / 12}
#           = 20 \log_{10} (2^b - 1) - 10 \log_{10} \frac{R^2}{12\,P} .
#
# One bit more doubles :math:`2^b`: :math:`20 \log_{10} 2 = 6.02` dB. The second term does not
# depend on the bits. It is the *crest* of the data, how much wider the range is than a
# uniform distribution of the same power would need: 0 for numbers that fill their range evenly.
# Eight numbers and three widths show the integers:

few = torch.tensor([-1.0, -0.72, -0.31, -0.05, 0.2, 0.48, 0.77, 1.0])
print("values", [round(each, 2) for each in few.tolist()])
for width in (2, 3, 4):
    observer = torch.quantization.MinMaxObserver(quant_min=0, quant_max=2**width - 1)
    observer(few)
    scale, zero_point = (each.item() for each in observer.calculate_qparams())
    integers = np.clip(np.rint(few.numpy() / scale) + zero_point, 0, 2**width - 1)
    print(f"{width} bits, scale {scale:.3f}:", integers.astype(int).tolist())

# %%
# Now we take enough numbers for statistics: a uniform distribution, a normal one, and the weights
# and activations of a network that reads handwritten digits.

digits = data.load_digits()
torch.manual_seed(0)
model = models.DigitCNN()
train(model, digits.train_images, digits.train_labels, epochs=4, lr=5e-3)
float_model = fused(model)
rng = np.random.default_rng(0)
layer = "widen.conv"
seen = measure.layer_outputs(float_model, digits.calibration_images, [layer])[layer]
samples = {
    "even": rng.uniform(-1, 1, 40_000),
    "normal": rng.standard_normal(40_000),
    "weights": float_model.block.conv1[0].weight.detach().numpy(),
    "activations": seen,
}


def on_bits(values, width):
    """Measured ratio in dB, and the expected one, over the smallest and largest value."""
    values = torch.from_numpy(np.asarray(values, np.float32))
    observer = torch.quantization.MinMaxObserver(quant_min=0, quant_max=2**width - 1)
    observer(values)
    scale, zero_point = (each.item() for each in observer.calculate_qparams())
    fake = torch.fake_quantize_per_tensor_affine(values, scale, zero_point, 0, 2**width - 1)
    power = float((values.double() ** 2).mean())
    return measure.sqnr(values, fake), 10 * np.log10(power / (scale**2 / 12))


found = {name: {width: on_bits(each, width) for width in WIDTHS} for name, each in samples.items()}
figure, ax = plt.subplots(figsize=(7, 4))
for index, (name, each) in enumerate(found.items()):
    measured, expected = zip(*each.values(), strict=True)
    ax.plot(WIDTHS, measured, "os^D"[index], color=f"C{index}", markersize=5, label=name)
    ax.plot(WIDTHS, expected, "--", color=f"C{index}", linewidth=1)
ax.plot([], [], "--", color="0.5", label="expected")
ax.set(
    xlabel="width of the integers [bits]",
    ylabel="SQNR [dB]",
    title="6.02 dB a bit, minus the crest",
)
ax.legend(fontsize="small")
plt.show()
for name, each in found.items():
    slope = (each[8][0] - each[5][0]) / 3
    crest = 20 * np.log10(255) - each[8][1]
    print(f"{name:>11}: {slope:.2f} dB a bit from 5 to 8 bits, crest {crest:5.1f} dB")
    assert abs(slope - 6.02) < 0.5
assert abs(found["even"][8][0] - 20 * np.log10(255)) < 0.1

# %%
# All lines are parallel and differ only by the crest. A normal distribution pays for its rare
# large numbers, and so do weights and activations: 6 dB of crest are a bit that is paid for and
# not used, which is why choosing a range is worth a tutorial of its own. Only the activations
# lie above their line, by about 3 dB. About half of them are zero, behind a ReLU, and on an
# affine grid zero has no error: half of the noise is missing.

zeros = float((seen == 0).mean())
gain = -10 * np.log10(1 - zeros)
print(f"{100 * zeros:.0f} % of the activations are zero, which is worth {gain:.1f} dB")
for name, each in found.items():
    for width in range(5, 9):
        measured, expected = each[width]
        assert abs(measured - expected - (gain if name == "activations" else 0)) < 0.5

# %%
# A network
# ---------
#
# Fake quantization imitates any width :eq:`eq-fake-quantize`. The same network is given
# :math:`b` bits for its weights (a scale for each channel), for its activations, and for both,
# by switching fake quantizers off and on again. Nothing is trained.

exact = predict(float_model, digits.test_images)
reference = accuracy(exact, digits.test_labels)
kinds = {
    "weights": "weight_fake_quant",
    "activations": "activation_post_process",
    "both": "",
}
right, ratio = ({name: {} for name in kinds} for _ in range(2))
for width in WIDTHS:
    student = bits.fake_quantized(
        model, digits.calibration_images, bits=width, weights="per channel"
    )
    for name, ending in kinds.items():
        for path, module in student.named_modules():
            if isinstance(module, torch.quantization.FakeQuantize):
                module.enable_fake_quant(path.endswith(ending))
        logits = predict(student, digits.test_images)
        right[name][width] = accuracy(logits, digits.test_labels)
        ratio[name][width] = measure.sqnr(exact, logits)

figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.9))
line = {width: ratio["both"][8] - 6.02 * (8 - width) for width in WIDTHS}
plot.bits_sweep(ratio, bound=line, quantity="SQNR of the logits [dB]", ax=axes[0])
axes[0].set_ylim(-8, None)
plot.bits_sweep(right, reference=reference, ax=axes[1])
axes[0].set_title("error")
axes[1].set_title("accuracy")
plt.show()

# %%
# The whole network follows the rule of its parts: the logits gain about 6 dB a bit (the dotted
# line). The line of the weights wavers more than that of the activations. Activations are
# rounded anew for every image, and their errors average out; the errors of the weights are
# drawn once, for all images, and a width can be lucky.
#
# The accuracy hardly depends on decibels until few are left: it is constant down to a threshold
# and collapses below it. That is why a sweep is worth its time, and why one accuracy at 8 bits
# says little about how much room is left.

for name, each in ratio.items():
    slope = np.polyfit(list(each), list(each.values()), 1)[0]
    lowest = min(width for width in WIDTHS if right[name][width] >= reference - 1)
    print(f"{name:>11}: {slope:.2f} dB a bit, within one point of float down to {lowest} bits")
    assert 4.5 < slope < 7.5
assert right["both"][8] >= reference - 1
assert right["both"][2] < reference - 20

# %%
# Do the errors of weights and activations add up? If they are independent, their powers do, and
# each ratio for both follows from the two apart.

added = {
    width: measure.add_noises([ratio["weights"][width], ratio["activations"][width]])
    for width in WIDTHS
}
print("bits              ", "".join(f"{width:7d}" for width in WIDTHS))
print("both, measured  dB", "".join(f"{ratio['both'][width]:7.1f}" for width in WIDTHS))
print("both, predicted dB", "".join(f"{added[width]:7.1f}" for width in WIDTHS))
assert all(abs(ratio["both"][width] - added[width]) < 2 for width in WIDTHS[1:])

# %%
# **In short**: a bit is worth 6.02 dB as long as the errors are small and even, and the crest
# of the data is paid on top. Noise of weights and activations adds by its power. The accuracy
# hides all of that until it breaks, so measure both.
