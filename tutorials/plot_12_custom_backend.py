"""
Graph mode for a back end of your own
=====================================

Suppose you build a chip whose weights have 4 bits and whose only way to scale a number is to
shift it. How do you tell a quantization workflow what your hardware can do, without changing
the workflow?

Graph mode keeps all such knowledge in data, a
:class:`~pyqref.quantization.backend_config.BackendConfig`: which patterns of operations the
back end knows, for which types, under which constraints. This tutorial writes one for that
chip, watches the graph of a model through every stage, and runs a layer of the result in
integers and shifts alone.
"""

# sphinx_gallery_thumbnail_number = 2

import warnings

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, nn, plot
from pyqref.demo.data import load_digits
from pyqref.demo.measure import accuracy
from pyqref.demo.train import predict, train
from pyqref.nn import intrinsic
from pyqref.nn.quantized import reference
from pyqref.numerics.rounding import round_shift_right
from pyqref.quantization import MinMaxObserver, QConfig, QConfigMapping
from pyqref.quantization.backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    DTypeWithConstraints,
    ObservationType,
)
from pyqref.quantization.quantize_fx import convert_to_reference_fx, prepare_fx

plt.style.use(plot.settings())

# %%
# Scales that are powers of two
# -----------------------------
#
# One unit of an accumulator is worth :math:`s_x s_w`, one of the output :math:`s_y`
# :eq:`eq-accumulator-scale`. If all three are powers of two, so is the multiplier between
# them, and requantization is a shift. An observer that chooses such scales rounds the scale of
# :class:`~pyqref.quantization.MinMaxObserver`, :eq:`eq-symmetric-scale`, up to the next power
# of two.


class PowerOfTwoObserver(MinMaxObserver):
    """The range of everything seen, on a scale that is a power of two."""

    def calculate_qparams(self):
        scale, zero_point = super().calculate_qparams()
        exponent = scale.log2().ceil()
        return torch.full_like(scale, 2.0) ** exponent, zero_point


symmetric = {"dtype": torch.qint8, "qscheme": torch.per_tensor_symmetric}
observer = PowerOfTwoObserver(**symmetric)
observer(torch.tensor([-3.0, 5.0]))
print("free scale 5 / 127.5 =", 5 / 127.5)
print("power of two         =", observer.calculate_qparams()[0].item(), "= 1 / 16")
assert observer.calculate_qparams()[0].item() == 1 / 16

# %%
# What does it cost? No number errs by more than half a step, and a step is now up to twice as
# large: at worst about 6 dB. Errors that spread evenly over a step have the power :math:`s^2/12`,
# which is what we expect. How much is lost depends on where the range lies between two powers
# of two; so we stretch the same weights from 1 to 4 times their size.

rng = np.random.default_rng(0)
values = rng.uniform(-1, 1, 20_000).astype(np.float32)
stretches = np.geomspace(1, 4, 49)


def four_bits(kind, stretch):
    """Scale that an observer chooses for the stretched weights, and ratio on 4 bits."""
    data = torch.from_numpy((values * stretch).astype(np.float32))
    each = kind(**symmetric, quant_min=-8, quant_max=7)
    each(data)
    scale = each.calculate_qparams()[0].item()
    fake = torch.fake_quantize_per_tensor_affine(data, scale, 0, -8, 7)
    return scale, measure.sqnr(data, fake)


free_scales, free = np.array([four_bits(MinMaxObserver, each) for each in stretches]).T
scales, shifted = np.array([four_bits(PowerOfTwoObserver, each) for each in stretches]).T
power = stretches**2 * np.mean(values.astype(np.float64) ** 2)
expected = 10 * np.log10(power / (scales**2 / 12))
bound = 10 * np.log10(power / ((2 * free_scales) ** 2 / 4))

figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(stretches, free, label="free scale")
ax.plot(stretches, shifted, "s", color="C1", markersize=4, label="power of two")
ax.plot(stretches, expected, "--", color="C1", linewidth=1, label="expected, s² / 12")
ax.plot(stretches, bound, ":", color="0.5", label="bound, half of twice the step")
ax.set_xscale("log", base=2)
ax.set_xticks([1, 2, 4], ["1", "2", "4"])
ax.set(xlabel="size of the weights (no unit)", ylabel="SQNR [dB]", title="4 bits, even weights")
ax.set_ylim(bound.min() - 1, free.max() + 9)
ax.legend(fontsize="small", loc="upper left")
plt.show()
assert np.all(np.log2(scales) == np.round(np.log2(scales)))
assert np.all((free_scales <= scales) & (scales < 2 * free_scales))
assert np.all(shifted >= bound)
assert np.all(np.abs(shifted - expected) < 1)

# %%
# What the chip can do, as data
# -----------------------------
#
# Activations are bytes. Weights lie within -8 and 7; they are bytes, too, because no smaller
# signed type exists, and the constraint makes them 4-bit weights. The chip has convolutions and
# linear layers, each with a ReLU or without. Pooling and flattening keep the grid.

byte = DTypeWithConstraints(dtype=torch.qint8)
nibble = DTypeWithConstraints(dtype=torch.qint8, quant_min_lower_bound=-8, quant_max_upper_bound=7)
weighted = DTypeConfig(byte, byte, nibble, torch.float)
passing = DTypeConfig(byte, byte)


def layer(kind, root, quantized):
    """A layer with a weight and an output on a grid of its own."""
    return (
        BackendPatternConfig(kind)
        .add_dtype_config(weighted)
        .set_root_module(root)
        .set_reference_quantized_module(quantized)
    )


def with_relu(root, fused):
    """A layer and the ReLU behind it become one."""
    return (
        BackendPatternConfig((root, nn.ReLU))
        .add_dtype_config(weighted)
        .set_fused_module(fused)
        .set_fuser_method(lambda _is_qat, first, relu: fused(first, relu))
    )


def same_grid(kind):
    """An operation that chooses among its inputs or moves them."""
    return (
        BackendPatternConfig(kind)
        .add_dtype_config(passing)
        .set_observation_type(ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT)
    )


shifter = BackendConfig("shifter").set_backend_pattern_configs(
    [
        layer(nn.Conv2d, nn.Conv2d, reference.Conv2d),
        layer(intrinsic.ConvReLU2d, nn.Conv2d, reference.Conv2d),
        layer(nn.Linear, nn.Linear, reference.Linear),
        with_relu(nn.Conv2d, intrinsic.ConvReLU2d),
        same_grid(nn.MaxPool2d),
        same_grid(nn.Flatten),
    ]
)

# %%
# The model
# ---------
#
# The model has no stubs and nothing about quantization: graph mode needs neither.


class Reader(nn.Module):
    """Images `(N, 1, 8, 8)` to logits `(N, 10)`."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 16, 3, padding=1)
        self.relu = nn.ReLU()
        self.pool = nn.MaxPool2d(2)
        self.flatten = nn.Flatten()
        self.head = nn.Linear(256, 10)

    def forward(self, x):
        return self.head(self.flatten(self.pool(self.relu(self.conv(x)))))


digits = load_digits()
torch.manual_seed(0)
model = Reader()
train(model, digits.train_images, digits.train_labels, epochs=6, lr=5e-3)
plot.graph(torch.fx.symbolic_trace(model), title="1. the float model")
plt.show()

# %%
# Prepare
# -------
#
# The QConfig must fit what the back end says. Observers go where values will be quantized;
# pooling and flattening have the *same* observer before and behind them, since they keep the
# grid.

qconfig = QConfig(
    activation=PowerOfTwoObserver.with_args(**symmetric),
    weight=PowerOfTwoObserver.with_args(**symmetric, quant_min=-8, quant_max=7),
)
mapping = QConfigMapping().set_global(qconfig)
example = (digits.test_images[:1],)
prepared = prepare_fx(model, mapping, example, backend_config=shifter)
predict(prepared, digits.calibration_images)
plot.graph(prepared, title="2. fused, with observers")
plt.show()

# %%
# And if the QConfig does not fit? Weights with all 8 bits break the constraint. The layers stay
# float, a warning names them, and each node says why.

default = QConfigMapping().set_global(
    QConfig(
        activation=PowerOfTwoObserver.with_args(**symmetric),
        weight=PowerOfTwoObserver.with_args(**symmetric),
    )
)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    refused = prepare_fx(model, default, example, backend_config=shifter)
print(caught[0].message)
reasons = {node.name: node.meta.get("_quantization_reason") for node in refused.graph.nodes}
for name, reason in reasons.items():
    if reason:
        print(f"{name}: {reason}")
assert "-8" in reasons["head"]

# %%
# The reference model
# -------------------
#
# :func:`~pyqref.quantization.quantize_fx.convert_to_reference_fx` turns observers into nodes
# that quantize and dequantize. The arithmetic in between is float, but on numbers of the grid:
# this graph *specifies* what the chip must compute. A compiler for the chip replaces
# ``dequantize - layer - quantize`` by one instruction.

specified = convert_to_reference_fx(prepared, backend_config=shifter)
plot.graph(specified, title="3. the reference model")
plt.show()

scores = {"float": accuracy(predict(model, digits.test_images), digits.test_labels)}
scores["shifter"] = accuracy(predict(specified, digits.test_images), digits.test_labels)
print({name: f"{each:.1f} %" for name, each in scores.items()})
weight = specified.head.get_quantized_weight()
print("weights of the head:", weight.int_repr()[0, :16].tolist())
print("their scale: 2 **", np.log2(weight.q_scale()))
assert weight.int_repr().min() >= -8
assert weight.int_repr().max() <= 7
assert scores["shifter"] > scores["float"] - 5

# %%
# Integers and shifts alone
# -------------------------
#
# Now we play the chip. The head gets bytes on the scale :math:`2^{-a}`, its weights have
# :math:`2^{-b}`, its output :math:`2^{-c}`. The bias becomes an integer in units of the
# accumulator, as qnnpack does it :eq:`eq-bias-integer`, and the accumulator is shifted right
# by :math:`a + b - c`, rounding half away from zero :eq:`eq-round-shift-right`. No real
# number is left.

stations = measure.layer_outputs(specified, digits.test_images, ["flatten", "head"])
head = specified.head
x_scale, y_scale = specified.flatten_scale_0.item(), specified.head_scale_0.item()
unit = x_scale * weight.q_scale()
shift = round(np.log2(y_scale / unit))
x = np.rint(stations["flatten"] / x_scale).astype(np.int64)
w = weight.int_repr().numpy().astype(np.int64)
bias = np.rint(head.bias.detach().numpy() / unit).astype(np.int64)
accumulator = x @ w.T + bias
on_chip = np.clip(round_shift_right(accumulator, shift), -128, 127)
print("accumulators", accumulator[0].tolist())
print(f"shifted right by {shift}", on_chip[0].tolist())

# %%
# Do they agree with the specification? That rounds ties to even and keeps the bias real. So the
# number before the rounding differs by half a unit of the accumulator at most,
# :math:`2^{-shift-1}` steps of the output, and the integers may differ by one where it lies
# that close to a tie, and nowhere else.

exact = stations["head"] / y_scale
demanded = np.clip(np.rint(exact), -128, 127).astype(np.int64)
from_tie = np.abs(np.abs(exact - np.floor(exact)) - 0.5)
differ = on_chip != demanded
print(f"{differ.sum()} of {differ.size} integers differ")

figure, ax = plt.subplots(figsize=(7, 3.2))
ax.hist(from_tie.ravel(), bins=2**shift, range=(0, 0.5), color="0.75", label="all outputs")
if differ.any():
    ax.hist(from_tie[differ], bins=2**shift, range=(0, 0.5), color="C1", label="differ by one")
ax.axvline(2.0 ** (-shift - 1), color="C1", linestyle="--", label="bound")
ax.set(xlabel="distance from a tie [steps of the output]", ylabel="outputs")
ax.set_ylim(0, 1.35 * ax.get_ylim()[1])
ax.set_title("where the chip and the specification differ")
ax.legend(fontsize="small", ncols=3, loc="upper right")
plt.show()
assert np.abs(on_chip - demanded).max() <= 1
assert np.all(from_tie[differ] <= 2.0 ** (-shift - 1) * 1.001)  # float32 adds a little

# %%
# **In short**: what a back end can do is data; constraints are checked and refusals explained;
# the reference model is a specification precise enough to say, for every output that differs,
# why it may.
