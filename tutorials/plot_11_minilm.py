"""
A sentence encoder in 8 bits
============================

Does a sentence keep its meaning when all 36 linear layers of its encoder multiply 8-bit
integers?

all-MiniLM-L6-v2 is a small BERT, six layers of attention, that turns a sentence into 384
numbers; the cosine of two such *embeddings* says how close two sentences are in meaning. Search
engines run networks like it by the million. We take its published weights, quantize every
linear layer in one call, and follow the error from a single layer to the cosine that a user
sees.

The network is a page of code, ``examples/minilm.py`` in the repository; this tutorial needs a
clone.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, nn, plot
from pyqref.demo.static import use_engine

here = Path.cwd()
sys.path += [str(each / "examples") for each in (here, *here.parents)]
import minilm

plt.style.use(plot.settings())

# %%
# From words to integers to an embedding
# --------------------------------------
#
# A tokenizer cuts a sentence into pieces and looks up their numbers; 101 and 102 are its first
# and its last. These integers have nothing to do with quantization: they are names of words.

folder = minilm.folder()
encode = minilm.tokenizer(folder)
model = minilm.Encoder().eval()
torch.interop.load_torch_state_dict(model, minilm.arrays(folder))
first, second = minilm.PAIRS[0]
tokens, mask = encode([first, second])
for sentence, row in zip((first, second), tokens.tolist(), strict=True):
    print(f"{sentence:34} {row}")
with torch.no_grad():
    pair = model(tokens, mask)
print("embedding", [round(each, 3) for each in pair[0, :5].tolist()], "...")
print(f"cosine    {float(pair[0] @ pair[1]):.3f}")

# %%
# One call
# --------
#
# :func:`~pyqref.quantization.quantize_dynamic` needs no calibration: the weights become
# integers now, the range of each activation is measured while the model runs
# (:doc:`/theory/dynamic`).
# The engines give the activations different grids: fbgemm 7 bits, qnnpack 8
# :eq:`eq-reduce-range`.

small = {}
for engine in ("fbgemm", "qnnpack"):
    with use_engine(engine):
        small[engine] = minilm.quantized(model)
print(small["fbgemm"].layers[0])
linear = [name for name, each in model.named_modules() if isinstance(each, nn.Linear)]
print(f"{len(linear)} linear layers multiply integers")

# %%
# One layer by itself
# -------------------
#
# Give a layer, and its quantized twin, the same float input. How large must the error be? The
# half steps of the input meet the weights, those of the weights meet the inputs; both are
# spread evenly, with the variance :math:`s^2/12`. An output has the error
#
# .. math:: \sigma_n^2 = \frac{s_x^2}{12} \sum_k w_{nk}^2 + \frac{s_w^2}{12} \sum_k x_k^2 .
#
# All this is known beforehand, from the range and the mean square of input and weight. So the
# signal-to-noise ratio of each of the 36 layers can be predicted without ever running an
# integer.

sentences = [sentence for pair in minilm.PAIRS for sentence in pair]
tokens, mask = encode(sentences)
inputs, results = {}, {}


def keep(name):
    """A hook that remembers what goes into a layer and what comes out."""

    def hook(_module, arguments, result):
        inputs[name], results[name] = arguments[0], result

    return hook


handles = [model.get_submodule(name).register_forward_hook(keep(name)) for name in linear]
with torch.no_grad():
    exact = model(tokens, mask).numpy()
for handle in handles:
    handle.remove()


def predicted(name, bits):
    """Ratio of a layer's output, in dB, from ranges and mean squares alone."""
    layer = model.get_submodule(name)
    x = inputs[name].numpy().reshape(-1, layer.in_features).astype(np.float64)
    w = layer.weight.detach().numpy().astype(np.float64)
    x_step = (max(x.max(), 0) - min(x.min(), 0)) / (2**bits - 1)
    w_step = np.abs(w).max() / 127.5
    noise = x_step**2 / 12 * (w**2).sum() * len(x) + w_step**2 / 12 * (x**2).sum() * len(w)
    signal = float((results[name] ** 2).sum())
    return 10 * np.log10(signal / noise)


found, theory = {}, {}
for engine, bits in (("fbgemm", 7), ("qnnpack", 8)):
    with use_engine(engine), torch.no_grad():
        theory[engine] = np.array([predicted(name, bits) for name in linear])
        found[engine] = np.array(
            [
                measure.sqnr(results[name], small[engine].get_submodule(name)(inputs[name]))
                for name in linear
            ]
        )

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8))
for index, engine in enumerate(found):
    colour, marker = f"C{index}", "os"[index]
    axes[0].plot(theory[engine], found[engine], marker, color=colour, markersize=4, label=engine)
low, high = min(map(np.min, theory.values())) - 2, max(map(np.max, theory.values())) + 2
axes[0].plot([low, high], [low, high], "--", color="0.5", label="as predicted")
axes[0].set(xlabel="predicted SQNR of a layer alone [dB]", ylabel="measured [dB]")
axes[0].legend(fontsize="small")
axes[0].set_title("single layers: theory and fact")
crest = [
    float(each.abs().max() / (each**2).mean().sqrt()) for each in (inputs[name] for name in linear)
]
axes[1].semilogx(crest, found["fbgemm"], "o", markersize=4, label="fbgemm")
axes[1].set(xlabel="largest input / rms input", ylabel="SQNR of the layer [dB]")
axes[1].set_xticks([5, 10, 20, 50], ["5", "10", "20", "50"])
axes[1].minorticks_off()
axes[1].set_title("outliers decide")
plt.show()
for engine in found:
    gap = np.abs(found[engine] - theory[engine])
    print(f"{engine:>8}: {found[engine].min():.1f} to {found[engine].max():.1f} dB", end=", ")
    print(f"prediction off by {gap.mean():.1f} dB on average, {gap.max():.1f} at most")

# %%
# The prediction holds, to a fraction of a decibel: single layers hold no surprise. But it is a
# sobering prediction. 7 bits could give more than 40 dB if inputs were spread evenly; most
# layers have less than 27. The figure on the right tells why. The largest inputs of these layers
# are seven to eighty times their root mean square; one scale must cover all of them, and most
# are left with few steps. No rounding rule can change this, but another grid could.

for engine in found:
    assert np.abs(found[engine] - theory[engine]).mean() < 1
    assert np.abs(found[engine] - theory[engine]).max() < 3
assert np.corrcoef(np.log(crest), found["fbgemm"])[0, 1] < -0.4

# %%
# Layer upon layer
# ----------------
#
# Now every linear layer of the network multiplies integers, and gets the errors of the layers
# before it. Softmax, GELU and the norms between them still compute with real numbers. We look at
# each station of the first of the six layers, then at the ends of the other five.

first = ["attention.query", "attention.value", "attention.output", "attention_norm"]
first += ["expand", "gelu", "contract", "norm"]
stations = [f"layers.0.{name}" for name in first] + [
    f"layers.{number}.norm" for number in range(1, 6)
]
outputs = {"float": measure.layer_outputs(model, (tokens, mask), stations)}
ratios = {}
for engine, each in small.items():
    with use_engine(engine):
        outputs[engine] = measure.layer_outputs(each, (tokens, mask), stations)
    pairs = {name: (outputs["float"][name], outputs[engine][name]) for name in stations}
    ratios[engine] = {name: measure.sqnr(*pair) for name, pair in pairs.items()}
figure, ax = plt.subplots(figsize=(7, 4.4))
plot.layer_sqnr(ratios, ax=ax)
ax.set_xlabel("SQNR [dB]")
ax.set_title("from the first layer to the last")
plt.show()

# %%
# The five layers behind lose little, although each has six linear layers of its own: it adds
# its output to its input, so that most of what arrives passes them by and gets no new error.
# The loss happens in the first layer, and most of it between ``contract`` and ``norm``, where
# there is no integer at all, only an addition and a normalization. How can float arithmetic
# lose 10 dB?

exact_output, rounded_output = (outputs[each]["layers.0.contract"] for each in ("float", "fbgemm"))
power = (exact_output**2).mean(axis=(0, 1))
loud = int(power.argmax())
print(f"feature {loud} holds {100 * power[loud] / power.sum():.1f} % of the power of all 384")
print("its values in the first sentence:", np.round(exact_output[0, :8, loud], 1).tolist())
ratio = {
    "first token": measure.sqnr(exact_output[:, 0], rounded_output[:, 0]),
    "other tokens": measure.sqnr(exact_output[:, 1:], rounded_output[:, 1:]),
}
print({name: f"{each:.1f} dB" for name, each in ratio.items()})

# %%
# It does not. The ratio before it was misleading. One feature of the *first token* of every
# sentence is near 193, where nothing else exceeds a few units, so that it alone is nearly all of
# the signal; and its own relative error is small. The outputs for all other tokens had to be
# computed with the steps that such numbers leave over, and were noisy all along. The
# normalization divides every token by its own deviation, so that the large token is no larger
# than any other, and the noise of the small ones becomes visible. A ratio over everything tells
# little where one number is most of everything. (The eighth bit that qnnpack uses is worth some
# 2 dB at the end, not the 6.02 of the textbook: the errors of the *weights* are the same in
# both.)

last = {engine: list(each.values())[-1] for engine, each in ratios.items()}
assert power[loud] > 0.9 * power.sum()
assert ratio["first token"] > ratio["other tokens"] + 20
for each in ratios.values():
    assert each["layers.0.contract"] - each["layers.0.norm"] > 5
    assert abs(each["layers.0.norm"] - each["layers.5.norm"]) < 5
assert 0 < last["qnnpack"] - last["fbgemm"] < 6.02

# %%
# The cosine of two sentences
# ---------------------------
#
# At the end a mean over the words is taken, and the result is brought to length one. If the
# embeddings :math:`a, b` become :math:`a', b'`, then
#
# .. math:: |a' \cdot b' - a \cdot b| = |(a' - a) \cdot b' + a \cdot (b' - b)|
#           \le \|a' - a\| + \|b' - b\|,
#
# because all four have length one. So the distances of single sentences bound the error of
# every pair.

rounded = {}
for engine, each in small.items():
    with use_engine(engine), torch.no_grad():
        rounded[engine] = each(tokens, mask).numpy()
upper = np.triu_indices(len(sentences), 1)
cosine = (exact @ exact.T)[upper]

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.8))
for index, (engine, each) in enumerate(rounded.items()):
    style = {"color": f"C{index}", "markersize": 4, "label": engine}
    distance = np.linalg.norm(each.astype(np.float64) - exact, axis=1)
    bound = (distance[:, None] + distance)[upper]
    error = np.abs((each @ each.T)[upper] - cosine)
    axes[0].plot(cosine, (each @ each.T)[upper], "os"[index], **style)
    axes[1].loglog(bound, np.maximum(error, 1e-5), "os"[index], **style)
    assert np.all(error <= bound + 1e-6)
    same = (each * exact).sum(1)
    print(
        f"{engine:>8}: cosine of a sentence's two embeddings {same.min():.3f} to {same.max():.3f};"
    )
    print(
        f"{'':9} error of a pair's cosine {error.mean():.3f} on average, {error.max():.3f} at most"
    )
axes[0].plot([-0.1, 1], [-0.1, 1], "--", color="0.5", label="equal")
axes[0].set(xlabel="cosine in float (no unit)", ylabel="cosine in int8 (no unit)")
axes[0].set_title(f"{len(cosine)} pairs of sentences")
axes[1].plot([0.35, 1], [0.35, 1], "--", color="0.5", label="the bound itself")
axes[1].set(xlabel="bound of this pair (no unit)", ylabel="error of the cosine (no unit)")
axes[1].set_xticks([0.4, 0.6, 0.8, 1], ["0.4", "0.6", "0.8", "1"])
axes[1].minorticks_off()
axes[1].set_title("error against bound")
for ax in axes:
    ax.legend(fontsize="small")
plt.show()

# %%
# The errors stay a factor of ten below the bound: in 384 dimensions the error of one sentence
# is nearly perpendicular to the embedding of another. So meaning survives better than the
# decibels of the last layer suggest. The question of a search engine is only which sentence is
# *nearest*:


def nearest(embeddings):
    """For every sentence, which other one has the largest cosine."""
    similarity = embeddings @ embeddings.T - 2 * np.eye(len(embeddings))
    return similarity.argmax(axis=1)


for engine, each in rounded.items():
    agree = int((nearest(each) == nearest(exact)).sum())
    print(f"{engine:>8}: same nearest sentence for {agree} of {len(sentences)}")
    assert agree >= len(sentences) - 4

# %%
# **In short**: the error of a layer by itself can be predicted from ranges and mean squares. A
# few loud numbers take most of the steps away from the quiet ones, early on; residual
# connections keep errors from piling up after that; and the cosine, a sum over hundreds of
# nearly independent errors, is hurt far less than its bound allows. (The rows of a batch share
# one scale, so that an embedding depends a little on its neighbours.)
