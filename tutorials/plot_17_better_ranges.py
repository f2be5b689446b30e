"""
What are five numbers worth?
============================

Five of fifty thousand activations are huge. Should the range hold them, with coarse steps for all
others? Or should it clip the five?

Every answer has a price. A percentile gives up a share of the data, whatever that costs. The
squared error weighs how far off each number is. Entropy asks how well the integers still tell the
numbers apart. We let each of them choose a range, and compare the prices.
"""

# sphinx_gallery_thumbnail_number = 1

import matplotlib.pyplot as plt
import numpy as np

import pyqref as torch
from pyqref import plot
from pyqref.numerics.squared_error_range import staircase_error
from pyqref.quantization import (
    EntropyObserver,
    HistogramObserver,
    MinMaxObserver,
    MSEObserver,
    PercentileObserver,
    PowerOfTwoObserver,
    merge,
)

plt.style.use(plot.settings())

rng = np.random.default_rng(0)
numbers = rng.standard_normal(50_000).astype(np.float32)
numbers[:5] = 60, -45, 80, 30, -70
x = torch.from_numpy(numbers)

# %%
# Seven observers, two widths
# ---------------------------
#
# Each observer sees the numbers, once for 8 bits and once for 4. We quantize with what it chose,
# and take the mean squared error of all numbers, and of the 49,995 ordinary ones.

OBSERVERS = {
    "extremes": MinMaxObserver,
    "histogram of torch": HistogramObserver,
    "power of two": PowerOfTwoObserver,
    "percentile 99.999": PercentileObserver,
    "percentile 99.9": PercentileObserver.with_args(percentile=99.9),
    "entropy": EntropyObserver,
    "squared error": MSEObserver,
}


def errors(name, largest):
    """The scale that an observer chose, and the error of all and of the ordinary numbers."""
    observer = OBSERVERS[name](quant_min=0, quant_max=largest)
    observer(x)
    scale, zero_point = observer.calculate_qparams()
    integers = (x / scale + zero_point).round().clamp(0, largest)
    squares = (((integers - zero_point) * scale - x) ** 2).numpy()
    return float(scale), float(squares.mean()), float(squares[5:].mean())


found = {(name, bits): errors(name, 2**bits - 1) for bits in (8, 4) for name in OBSERVERS}
print(f"{'':17}  {'8 bits: step':>12} {'all':>8} {'ordinary':>8}  {'4 bits: step':>12} {'all':>8}")
for name in OBSERVERS:
    step8, all8, ordinary8 = found[name, 8]
    step4, all4, _ = found[name, 4]
    print(f"{name:17}  {step8:12.4f} {all8:8.5f} {ordinary8:8.5f}  {step4:12.4f} {all4:8.5f}")

# %%
# With 8 bits, the squared error keeps nearly the whole range: five numbers that are 60 off cost
# more than all others together. Entropy clips them, and the ordinary numbers become several
# hundred times as exact. With 4 bits the steps are so coarse that clipping pays by every measure.
#
# The price of every range
# ------------------------
#
# :class:`~pyqref.quantization.MSEObserver` does not quantize anything to find its range. It adds
# up the closed form :eq:`eq-staircase-error` over a histogram. Here it is beside the error that we
# measure, for shares of the whole range.

observer = MSEObserver(quant_min=0, quant_max=15)
observer(x)
low, high = float(observer.min_val), float(observer.max_val)
exponent = int(observer.exponent)
counts = observer.histogram.numpy()
edges = np.ldexp(np.arange(-1024.0, 1025.0), exponent)[None]


def predicted_and_measured(share):
    """The error of a share of the range, by the equation and by quantizing."""
    part = MinMaxObserver(quant_min=0, quant_max=15)
    part(torch.tensor([share * low, share * high]))
    scale, zero_point = (each.numpy() for each in part.calculate_qparams())
    total = staircase_error(counts, edges, scale, zero_point, 0, 15)[0]
    integers = np.clip(np.rint(numbers / scale + zero_point), 0, 15)
    measured = ((integers - zero_point) * scale - numbers) ** 2
    return total / len(numbers), measured.mean()


shares = np.geomspace(0.01, 1, 60)
predicted, measured = np.transpose([predicted_and_measured(share) for share in shares])

figure, axes = plt.subplots()
axes.loglog(shares, predicted, label="equation, on counts")
axes.loglog(shares, measured, ".", label="measured")
chosen = float(observer.find_range()[1]) / high
axes.axvline(chosen, linestyle="--", label=f"chosen: {chosen:.2f} of the range")
axes.set(xlabel="share of the range", ylabel="mean squared error", title="4 bits")
axes.legend()
plt.show()

# %%
# To the left, clipping costs; to the right, coarse steps do. The flat part on the right is where
# all ordinary numbers have become zero: there is nothing more to lose.
#
# In pieces
# ---------
#
# The histograms have bins whose width is a power of two, so counts of parts add up to the counts
# of the whole (:eq:`eq-nested-merge`). Four observers that saw a quarter each, merged in any
# order, equal one that saw everything.

whole = EntropyObserver()
whole(x)
parts = [EntropyObserver() for _ in range(4)]
for part, quarter in zip(parts, x.split(12_500), strict=True):
    part(quarter)
parts[3].merge(parts[1]).merge(parts[0]).merge(parts[2])
print(whole.find_range(), parts[3].find_range())

# %%
# :func:`pyqref.quantization.calibrate` does that for a whole model, in as many processes as you
# like, and ``merge`` takes prepared models as well. What each observer computes stands in
# :doc:`/theory/ranges`.

assert callable(merge)
assert whole.histogram.tolist() == parts[3].histogram.tolist()
assert [each.item() for each in whole.find_range()] == [
    each.item() for each in parts[3].find_range()
]

# The equation tells what is measured, where ordinary numbers fill more than a few bins.
assert np.abs(predicted / measured - 1).max() < 0.01

# With 8 bits entropy makes ordinary numbers a hundred times as exact; with 4 bits every observer
# that clips has less than half the error of the extremes.
assert 100 * found["entropy", 8][2] < found["extremes", 8][2]
assert found["squared error", 8][1] == min(found[name, 8][1] for name in OBSERVERS)
for name in ("percentile 99.9", "entropy", "squared error"):
    assert 2 * found[name, 4][1] < found["extremes", 4][1]
