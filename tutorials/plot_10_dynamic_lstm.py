"""
A dynamic LSTM on real text
===========================

A recurrent network feeds its own output back to itself, hundreds of times. Do the errors of
8-bit weights and 7-bit activations pile up along a text until nothing is left?

Dynamic quantization suits recurrent networks: the weights, which are read anew at every step,
become integers beforehand, and the range of each activation is measured when it arrives. Nothing
is calibrated. We train a small LSTM to predict the next character of Python's own
documentation, quantize it in one call, and follow the error through the text.
"""

import math
from pydoc_data.topics import topics

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import measure, nn, optim, plot
from pyqref.demo.measure import weight_bytes
from pyqref.nn.functional import cross_entropy
from pyqref.numerics.dynamic import quantize_input

plt.style.use(plot.settings())

# %%
# The text
# --------
#
# ``help("for")`` prints one of the topics that come with every Python. Together they have half a
# million characters. We keep the 63 most frequent ones; one more stands for all others.

text = "\n".join(topics[name] for name in sorted(topics))
frequent = sorted(set(text), key=lambda each: (-text.count(each), each))[:63]
alphabet = [*sorted(frequent), "\ufffd"]
number = {character: index for index, character in enumerate(alphabet)}
encoded = np.array([number.get(each, len(frequent)) for each in text])
print(f"{len(encoded)} characters, {len(alphabet)} different ones:", "".join(alphabet[1:]))
print(text[:240])

# %%
# The network
# -----------
#
# It has an embedding, one LSTM layer, and a linear layer with a score for each character. The
# gates of an LSTM, :eq:`eq-lstm-step`, are two matrix products and some float arithmetic; the
# products are quantized.


class NextCharacter(nn.Module):
    """Characters `(batch, time)` to scores of the next one `(batch, time, characters)`."""

    def __init__(self, characters, width=96):
        super().__init__()
        self.embedding = nn.Embedding(characters, 32)
        self.lstm = nn.LSTM(32, width, batch_first=True)
        self.head = nn.Linear(width, characters)

    def forward(self, x, state=None):
        states, state = self.lstm(self.embedding(x), state)
        return self.head(states), state


def bits_per_character(scores, targets):
    """Cross entropy of the text, in bits: how surprised the network is."""
    return cross_entropy(scores.reshape(-1, len(alphabet)), targets.reshape(-1)) / math.log(2)


TIME, BATCH, STEPS = 24, 32, 240
torch.manual_seed(0)
rng = np.random.default_rng(0)
model = NextCharacter(len(alphabet))
optimizer = optim.Adam(model.parameters(), lr=8e-3)
scheduler = optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=STEPS)
held_out = encoded[-20_000:]
losses = []
for _ in range(STEPS):
    starts = rng.integers(0, len(encoded) - len(held_out) - TIME - 1, BATCH)
    windows = torch.from_numpy(encoded[starts[:, None] + np.arange(TIME + 1)])
    scores, _ = model(windows[:, :-1])
    loss = bits_per_character(scores, windows[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    losses.append(loss.item())
model.eval()
print(f"first loss {losses[0]:.2f}, last {np.mean(losses[-10:]):.2f} bits a character")

# %%
# One call
# --------
#
# :func:`~pyqref.quantization.quantize_dynamic` replaces the layers whose classes it is given.
# The weights become 8-bit integers, symmetric about zero; half precision is the other choice
# :eq:`eq-float16-weight`. (pyqref keeps half-precision numbers in float32, so that their size
# says nothing here.)

small = {
    "int8": torch.quantization.quantize_dynamic(model, {nn.LSTM, nn.Linear}, dtype=torch.qint8),
    "float16": torch.quantization.quantize_dynamic(model, {nn.LSTM, nn.Linear}, torch.float16),
}
print(small["int8"])
held = torch.from_numpy(held_out[: 40 * 401].reshape(40, 401))
with torch.no_grad():
    surprise = {"float": bits_per_character(model(held[:, :-1])[0], held[:, 1:]).item()}
    for name, each in small.items():
        surprise[name] = bits_per_character(each(held[:, :-1])[0], held[:, 1:]).item()
for name, each in {"float": model, **small}.items():
    size = "" if name == "float16" else f", {weight_bytes(each)} bytes"
    print(f"{name:>8}: {surprise[name]:.3f} bits a character{size}")
assert abs(surprise["int8"] - surprise["float"]) < 0.05
assert abs(surprise["float16"] - surprise["float"]) < 0.005

# %%
# Where the error comes from
# --------------------------
#
# Take one product apart. The input gets a scale from its own range :eq:`eq-dynamic-input`; it
# has 7 bits, because fbgemm leaves one bit free :eq:`eq-reduce-range`. The sum over the integers
# is exact :eq:`eq-linear-accumulator` and is multiplied back into a real number
# :eq:`eq-dynamic-output`. So the whole error comes from the half step of each input, and the
# error of output :math:`n` is at most
#
# .. math:: \tfrac12 s_x \sum_k |\hat w_{nk}|,
#
# where :math:`\hat w` is the weight that the integers stand for. The half steps have random
# signs, so that typically it is the root mean square of a step, :math:`s_x/\sqrt{12}`, times
# the root of the sum of squares. (It is more, or less, where the errors of several inputs are
# correlated.)

head = small["int8"].head
with torch.no_grad():
    states, _ = model.lstm(model.embedding(held[:, :-1]))
integers, scale, zero_point = quantize_input(states.numpy())
print("states  ", [round(each, 3) for each in states[0, 0, :6].tolist()])
print("integers", integers[0, 0, :6].tolist(), f"scale {scale:.5f}, zero point {zero_point}")
assert integers.max() <= 127

weight = head.weight().dequantize()
with torch.no_grad():
    exact = nn.functional.linear(states, weight, head.bias()).numpy()
    error = head(states).numpy() - exact
worst = 0.5 * scale * weight.abs().sum(1).numpy()
typical = scale / math.sqrt(12) * (weight**2).sum(1).sqrt().numpy()
rms = np.sqrt((error**2).mean(axis=(0, 1)))

order = np.argsort(worst)
place = np.arange(1, len(order) + 1)
figure, ax = plt.subplots(figsize=(7, 3.6))
ax.plot(place, worst[order], "--", color="0.4", label="bound")
ax.plot(place, np.abs(error).max(axis=(0, 1))[order], "o", markersize=4, label="largest error")
ax.plot(place, typical[order], ":", color="C1", label="expected rms")
ax.plot(place, rms[order], "s", color="C1", markersize=3, label="rms error")
ax.set(xlabel="character, sorted by bound", ylabel="error of its score (no unit)", yscale="log")
ax.set_title("scores of the linear layer, 16000 characters each")
ax.legend(fontsize="small", ncols=2)
plt.show()
roundings = 4 * 2.0**-24 * np.abs(exact).max()  # of the float32 results themselves
assert np.all(np.abs(error).max(axis=(0, 1)) <= worst * 1.0002 + roundings)
ratio = rms / typical
print(f"rms error / expected: {ratio.min():.2f} to {ratio.max():.2f}")
assert 0.8 < np.sqrt((ratio**2).mean()) < 1.25
assert ratio.min() > 0.5
assert ratio.max() < 2

# %%
# Does it pile up?
# ----------------
#
# Now we feed the whole network 400 characters in a row. If errors piled up, the
# signal-to-noise ratio of the hidden state would sink with every character. To see why it does
# not, we also make one error on purpose: after 100 characters the cells of the *float* network
# are disturbed once, and it reads on.

with torch.no_grad():
    hidden = {name: each.lstm(each.embedding(held[:, :-1]))[0] for name, each in small.items()}
    inputs = model.embedding(held[:, :-1])
    _, (h, c) = model.lstm(inputs[:, :100])
    noise = 0.05 * torch.randn(c.shape)
    calm, _ = model.lstm(inputs[:, 100:200], (h, c))
    disturbed, _ = model.lstm(inputs[:, 100:200], (h, c + noise))
    faded = ((disturbed - calm) ** 2).mean((0, 2)).sqrt().numpy()

figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4))
ratios = {}
for index, (name, each) in enumerate(hidden.items()):
    ratios[name] = np.array(
        [measure.sqnr(states[:, t], each[:, t]) for t in range(states.shape[1])]
    )
    axes[0].plot(range(1, 401), ratios[name], linewidth=1, color=f"C{index}", label=name)
axes[0].set(xlabel="character of the sequence", ylabel="SQNR of the hidden state [dB]")
axes[0].set(ylim=(0, None), title="the error does not pile up")
axes[0].legend(fontsize="small")
axes[1].semilogy(range(1, 101), faded, color="C2")
axes[1].set(xlabel="characters since the error", ylabel="rms error of the hidden state (no unit)")
axes[1].set_title("an error made once is forgotten")
plt.show()

early, late = ratios["int8"][:50].mean(), ratios["int8"][300:].mean()
print(f"int8: {early:.1f} dB in the first 50 characters, {late:.1f} dB after 300 and more")
assert abs(early - late) < 3
assert faded[50] < faded[0] / 10

# %%
# The ratio stays where it is. The forget gate is why: :math:`c' = \sigma(f) \odot c + \ldots`
# :eq:`eq-lstm-step` multiplies an old error of the cell by :math:`\sigma(f) < 1` at every step,
# as the figure on the right shows. If each step adds noise of power :math:`P` and keeps the part
# :math:`\varphi^2 < 1` of the power that is there, then no more than
# :math:`P\,(1 + \varphi^2 + \varphi^4 + \dots) = P / (1 - \varphi^2)` can ever be there. A cell
# that forgets also forgets its errors.

# %%
# What it writes
# --------------
#
# Both networks continue the same words. Each character is drawn by chance, with the
# probabilities that the network gives and the same random numbers for both. They write the same
# until one random number falls between the two slightly different probabilities; from there on
# the texts go their own ways. Equal quality does not mean equal words.


def write(network, words, length=70):
    """Continue ``words`` with characters drawn from the network's probabilities."""
    chance = np.random.default_rng(5)
    with torch.no_grad():
        scores, state = network(torch.tensor([[number[each] for each in words]]))
        for _ in range(length):
            cumulative = scores[0, -1].softmax(0).numpy().cumsum()
            drawn = min(int(np.searchsorted(cumulative, chance.random())), len(alphabet) - 1)
            words += alphabet[drawn]
            scores, state = network(torch.tensor([[drawn]]), state)
    return words


for name, each in {"float": model, "int8": small["int8"]}.items():
    print(f"{name:>5}: {write(each, 'The statement ')!r}")

# %%
# **In short**: dynamic quantization makes an LSTM three to four times smaller, costs a
# thousandth of a bit a character here, and its error does not grow along the text, because a
# gate that forgets the past forgets its errors as well.
