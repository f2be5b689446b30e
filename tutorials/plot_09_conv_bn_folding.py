"""
Folding batch normalization into the convolution
================================================

A convolution and the batch normalization behind it become one layer before they are quantized.
Does the network compute the same afterwards, and how can it be trained as that one layer while
its statistics still move?

In evaluation, batch normalization multiplies every channel by one number and adds another. A
convolution can do that itself, with other weights and another bias. This tutorial folds first
one channel, then a trained network, compares the difference with what float32 allows, and then
looks at the fold that happens at every step of quantization-aware training.
"""

import copy

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, plot
from pyqref.demo import data, models
from pyqref.demo.train import train
from pyqref.nn.utils import fuse_conv_bn_eval
from pyqref.numerics.folding import fold_batch_norm, inverse_deviation
from pyqref.quantization import disable_fake_quant, disable_observer, fuse_modules_qat, prepare_qat

plt.style.use(plot.settings())

# %%
# One channel, by hand
# --------------------
#
# A kernel with two weights, 2 and -4, no bias; statistics mean 3 and variance 4; and the
# normalization multiplies by :math:`\gamma = 3` and adds :math:`\beta = 1`. Step by step on
# the inputs 5 and 1:
#
# .. math:: 2 \cdot 5 - 4 \cdot 1 = 6, \qquad (6 - 3) / \sqrt 4 = 1.5, \qquad 3 \cdot 1.5 + 1 = 5.5.
#
# Folded, by :eq:`eq-inverse-deviation`, :eq:`eq-fold-weight` and :eq:`eq-fold-bias`:

weight, bias = fold_batch_norm(
    np.float32([[2, -4]]),
    None,
    running_mean=np.float32([3]),
    running_var=np.float32([4]),
    eps=0,
    gamma=np.float32([3]),
    beta=np.float32([1]),
)
print("folded weight", weight[0].tolist(), "bias", bias.tolist())
print("folded result", float(weight[0] @ np.float32([5, 1]) + bias[0]))
assert float(weight[0] @ np.float32([5, 1]) + bias[0]) == 5.5

# %%
# A trained network
# -----------------
#
# In a trained network every product is rounded to float32. A folded weight carries five
# roundings (sum, root, reciprocal, two products), each a factor :math:`1 + \delta` with
# :math:`|\delta| \le u = 2^{-24}`. To see them we fold once more in double, where the same
# operations are exact enough to serve as the truth.

digits = data.load_digits()
torch.manual_seed(0)
model = models.DigitCNN()
train(model, digits.train_images, digits.train_labels, epochs=2, lr=5e-3)
conv, bn = model.widen.conv, model.widen.bn
folded = fuse_conv_bn_eval(conv, bn)

parameters = (conv.weight, bn.running_mean, bn.running_var, bn.weight, bn.bias)
w, mean, var, gamma, beta = (each.detach().numpy().astype(np.float64) for each in parameters)
exact_weight, exact_bias = fold_batch_norm(w, None, mean, var, bn.eps, gamma, beta)
u = 2.0**-24
relative = np.abs(folded.weight.detach().numpy() / exact_weight - 1)
print(f"largest relative error of a folded weight: {relative.max() / u:.2f} u, bound 5 u")
assert relative.max() <= 5 * u

# %%
# And the outputs? Both ways sum :math:`K = 108` products (12 input channels, 3 by 3). A sum of
# :math:`K` products, in whatever order, is wrong by at most :math:`K u \sum_k |w_k x_k|`. To
# that come the 5 roundings of a folded weight, or at most 7 of the normalization behind; the
# folded bias has 7 of its own and takes part in the sum. So both results lie within
#
# .. math:: (K + 8)\, u \,\Big( \sum_k |w'_k x_k| + |\mu \gamma \rho| + |\beta| \Big)
#
# of the truth, and at most twice that from each other. One bound for each output number:

images = digits.test_images[:64]
with torch.no_grad():
    x = model.stem(model.quant(images))
    separate, together = bn(conv(x)).numpy(), folded(x).numpy()
    sizes = copy.deepcopy(folded)
    sizes.weight = torch.nn.Parameter(folded.weight.abs())
    offset = torch.from_numpy((np.abs(mean * gamma * inverse_deviation(var, bn.eps))).astype("f4"))
    sizes.bias = torch.nn.Parameter(offset + bn.bias.abs())
    bound = 2 * (w[0].size + 8) * u * sizes(x.abs()).numpy()
difference = np.abs(separate - together)

figure, ax = plt.subplots(figsize=(6.4, 3.6))
ax.loglog(bound.ravel()[::7], np.maximum(difference.ravel()[::7], 1e-9), ".", markersize=2)
span = np.array([bound.min(), bound.max()])
ax.loglog(span, span, "--", color="C1", label="the bound itself")
half_step = float(np.ptp(separate)) / 255 / 2
ax.axhline(half_step, color="0.5", linestyle=":", label="half a step of 8 bits")
ax.set(xlabel="bound of this output (no unit)", ylabel="|folded - separate| (no unit)")
ax.set_ylim(None, 3)
ax.set_title("outputs of a folded layer (equal ones drawn at 10⁻⁹)")
ax.legend(fontsize="small")
plt.show()
assert np.all(difference <= bound)
assert bound.max() < half_step / 50

# %%
# Every point lies below the dashed line, most of them far below, because roundings go up as
# often as down. And even the bound is far below the dotted line, half a step of an 8-bit grid
# over the outputs: next to the error of 8 bits, folding is free.
#
# Why not quantize first?
# -----------------------
#
# Does it matter whether the weight is folded and then rounded, or rounded and then folded? The
# fold multiplies channel :math:`n` by :math:`f_n = \gamma_n \rho_n`. A scale of its own for
# each channel absorbs that factor, :math:`Q(f_n w_n) = f_n\, Q(w_n)`, and the integers stay.
# (One integer a channel may move by one: that of its largest weight, which lies on the tie
# 127.5, :eq:`eq-symmetric-scale`.) One scale for the whole weight cannot absorb a factor that
# differs from channel to channel.

factor = gamma * inverse_deviation(var, bn.eps)
assert np.all(factor > 0)  # a negative one would also turn the integers around


def integers(weight, kind):
    """The 8-bit integers of a weight by the observer that ``kind`` stands for."""
    quantization = torch.quantization
    if kind == "per channel":
        observer = quantization.PerChannelMinMaxObserver(
            dtype=torch.qint8, qscheme=torch.per_channel_symmetric
        )
        observer(weight)
        scales, zero_points = observer.calculate_qparams()
        return torch.quantize_per_channel(weight, scales, zero_points, 0, torch.qint8).int_repr()
    observer = quantization.MinMaxObserver(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric)
    observer(weight)
    scale, zero_point = observer.calculate_qparams()
    return torch.quantize_per_tensor(weight, scale, zero_point, torch.qint8).int_repr()


before = conv.weight.detach()
after = folded.weight.detach()
moved = {}
for kind in ("per channel", "per tensor"):
    pair = (integers(each, kind).numpy().astype(int) for each in (before, after))
    moved[kind] = np.abs(np.subtract(*pair))
    print(f"{kind:>11}: folding changes {100 * np.mean(moved[kind] > 0):5.1f} % of the integers")
print("factors f of the first channels:", np.round(factor[:6], 2).tolist())
assert moved["per channel"].max() <= 1
assert all(np.sum(channel) <= 1 for channel in moved["per channel"])
assert np.mean(moved["per tensor"] > 0) > 0.5

# %%
# The fold inside of training
# ---------------------------
#
# The quantized weight must therefore be the folded one, also in training. But in training the
# normalization uses the statistics of each *batch*, which are known only after the convolution.
# :class:`~pyqref.nn.intrinsic.qat.ConvBnReLU2d` resolves this in the way of Krishnamoorthi
# (arXiv 1806.08342, section 3.2.2; :doc:`/theory/folding`): fold with the *running* deviation,
# round, convolve, divide the factor out again, and normalize as usual,
#
# .. math:: y = \mathrm{BN}\Big( \tfrac{1}{f} \big( Q(f\, w) * x \big) \Big),
#           \qquad f = \gamma / \sqrt{\sigma^2_{running} + \varepsilon}.
#
# Without the rounding :math:`Q` the factor cancels and nothing has changed; with it, the
# network trains on the numbers that will be used. Both can be measured.

student = fuse_modules_qat(copy.deepcopy(model).train(), models.DigitCNN.FUSED)
student.qconfig = torch.quantization.get_default_qat_qconfig("fbgemm")
prepare_qat(student, inplace=True)
layer = student.widen.conv
print(type(layer).__name__)
batch = digits.train_images[:64]
with torch.no_grad():
    x = model.stem(model.quant(batch)).detach()
    plain = model.widen.relu(copy.deepcopy(bn).train()(conv(x)))
    silent = copy.deepcopy(layer).train().apply(disable_fake_quant)(x)
    rounded = copy.deepcopy(layer).train()(x)
print(f"without rounding: {measure.sqnr(plain, silent):6.1f} dB")
print(f"with rounding:    {measure.sqnr(plain, rounded):6.1f} dB")
assert measure.sqnr(plain, silent) > 120  # float32: 24 bits are 144 dB
assert 30 < measure.sqnr(plain, rounded) < 60

# %%
# What freezing the statistics does
# ---------------------------------
#
# The running statistics are part of the weight now: when they move, :math:`f` moves, the folded
# weight moves, and some of its integers change although no weight was trained. We let batches
# pass with no optimiser at all, and count. Then the same with
# :func:`~pyqref.nn.intrinsic.qat.freeze_bn_stats`, which makes the normalization use its
# running statistics and leave them as they are.


def integers_changed(frozen, n_batches=20, size=32):
    """Percent of the integers of the layer's folded weight that change, batch by batch."""
    watched = copy.deepcopy(layer).train()
    if frozen:
        watched.apply(torch.nn.intrinsic.qat.freeze_bn_stats)
    # One fixed scale, so that only the movement of the weight counts.
    step = 2 * float(folded.weight.abs().max()) / 255
    history, percent = [], []
    for first in range(0, n_batches * size, size):
        with torch.no_grad():
            watched(model.stem(model.quant(digits.train_images[first : first + size])))
            deviation = (watched.bn.running_var + watched.bn.eps).sqrt()
            weight = watched.weight * (watched.bn.weight / deviation).reshape(-1, 1, 1, 1)
        history.append(np.rint(weight.numpy() / step))
        if len(history) > 1:
            percent.append(100 * float((history[-1] != history[-2]).mean()))
    watched.apply(disable_observer)  # or the range of the weight would go on moving, too
    gap = measure.sqnr(watched(x), copy.deepcopy(watched).eval()(x))
    return percent, gap


moving, moving_gap = integers_changed(frozen=False)
still, still_gap = integers_changed(frozen=True)
figure, ax = plt.subplots(figsize=(6.4, 3.4))
ax.plot(range(2, len(moving) + 2), moving, marker="o", markersize=4, label="statistics move")
ax.plot(range(2, len(still) + 2), still, marker="s", markersize=4, label="statistics frozen")
ax.set(xlabel="batch", ylabel="integers that changed [%]", ylim=(-0.5, None))
ax.set_xticks(range(2, len(moving) + 2, 3))
ax.set_title("weights that nobody trained")
ax.legend(fontsize="small")
plt.show()
print(f"training mode against evaluation mode, statistics moving: {moving_gap:.1f} dB")
print(f"training mode against evaluation mode, statistics frozen: {still_gap:.1f} dB")

# %%
# As long as the statistics move, some integers change with every batch, and the layer that
# learns (normalized by the batch) is not the layer that will run (normalized by the running
# statistics): their outputs agree to a few bits only. Frozen, the two are the same layer, number
# for number. So the usual recipe is to train with moving statistics first, while
# the weights still travel, and to freeze them and stop the observers for the last epochs.

assert min(moving) > 0
assert max(still) == 0
assert still_gap == float("inf")
assert moving_gap < 40

# %%
# **In short**: folding costs a few roundings of float32, which no 8-bit grid notices. Rounding
# must come after folding, unless every channel has a scale of its own. In training the fold is
# done with the running deviation and undone again, and the layer in training becomes the layer
# in use once its statistics are frozen.
