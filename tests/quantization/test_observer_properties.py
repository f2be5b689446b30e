"""Properties of every observer for every finite data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pyqref
from pyqref import quantization as q

#: Half a step of rounding; half a step by which the rounded zero point moves an end of the
#: range; and what float32 loses of 256 steps: scale, product and sum, 2**-23 each.
ONE_STEP = 0.5 + 0.5 + 256 * 4 * 2**-23

finite = st.floats(-1e6, 1e6, width=32)
batches = st.lists(st.lists(finite, min_size=1, max_size=20), min_size=1, max_size=4)


def observed(observer: Any, data: list[list[float]]) -> tuple[float, int]:
    for batch in data:
        observer(pyqref.tensor(batch))
    scale, zero_point = observer.calculate_qparams()
    return scale.item(), int(zero_point.item())


@pytest.mark.parametrize("make", [q.MinMaxObserver, q.HistogramObserver])
@pytest.mark.parametrize("conventions", ["documented", "torch"])
@settings(deadline=None, max_examples=40)
@given(data=batches)
def test_zero_is_an_integer(make: Any, conventions: str, data: list[list[float]]) -> None:
    """Documented: zero in floating point is represented with no error."""
    pyqref.backends.quantized.conventions = conventions
    scale, zero_point = observed(make(), data)
    assert 0 <= zero_point <= 255
    zero = pyqref.quantize_per_tensor(pyqref.zeros(1), scale, zero_point, pyqref.quint8)
    assert [0.0] == zero.dequantize().tolist()


@settings(deadline=None, max_examples=60)
@given(data=batches)
def test_min_max_loses_a_step_at_most(data: list[list[float]]) -> None:
    """``eq-affine-quantize`` with the range of all data: the error is a step, no more."""
    pyqref.backends.quantized.conventions = "torch"
    scale, zero_point = observed(q.MinMaxObserver(), data)
    x = pyqref.tensor([number for batch in data for number in batch])
    back = pyqref.quantize_per_tensor(x, scale, zero_point, pyqref.quint8).dequantize()
    assert np.abs(x.numpy() - back.numpy()).max() <= ONE_STEP * scale


@settings(deadline=None, max_examples=60)
@given(data=batches)
def test_order_does_not_matter_to_min_max(data: list[list[float]]) -> None:
    assert observed(q.MinMaxObserver(), data) == observed(q.MinMaxObserver(), data[::-1])


@settings(deadline=None, max_examples=40)
@given(data=batches)
def test_histogram_counts_everything(data: list[list[float]]) -> None:
    """No count is lost when the range grows; a float32 sum of shares loses a little."""
    observer = q.HistogramObserver(bins=16)
    for batch in data:
        observer(pyqref.tensor(batch))
    total = sum(len(batch) for batch in data)
    assert total == pytest.approx(observer.histogram.sum().item(), rel=1e-5)


@settings(deadline=None, max_examples=40)
@given(data=batches)
def test_one_channel_is_per_tensor(data: list[list[float]]) -> None:
    """A per-channel observer of one channel finds what the per-tensor one finds."""
    per_channel = q.PerChannelMinMaxObserver()
    per_tensor = q.MinMaxObserver()
    for batch in data:
        per_channel(pyqref.tensor([batch]))
        per_tensor(pyqref.tensor(batch))
    expected = [each.tolist() for each in per_tensor.calculate_qparams()]
    assert expected == [each.tolist() for each in per_channel.calculate_qparams()]


@pytest.mark.parametrize("size", [1, 15, 16, 17, 33, 1000])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_nan_is_found_wherever_it_is(size: int, bad: float) -> None:
    """A nan is found at each place of a vector of the kernels, and in the remainder."""
    for place in {0, size // 2, size - 1}:
        x = np.zeros(size, np.float32)
        x[place] = bad
        for observer in (q.MinMaxObserver(), q.PerChannelMinMaxObserver()):
            with pytest.raises(ValueError, match="must be finite"):
                observer(pyqref.from_numpy(x.reshape(1, -1)))
