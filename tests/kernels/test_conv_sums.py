"""The sums of convolutions, some outputs at a time."""

from __future__ import annotations

import numpy as np
import pytest
from kernels.conv_cases import Case, plane
from kernels.layers import integers
from kernels.test_conv import PACK

from pyqref import _kernels
from pyqref._kernels.qconv import sums
from pyqref.numerics import convolution as reference

CASES = [
    plane(2, 3, 9, 5, 3, padding=1, stride=2),
    plane(3, 20, 40, 70, 3, padding=1),
    plane(2, 96, 21, 64, 3, padding=1),
    plane(1, 6, 9, 6, 3, groups=2),  # joined
    plane(2, 40, 60, 40, 3, padding=1, stride=2, groups=40),  # depthwise
    plane(2, 64, 30, 64, 3, padding=1, stride=2, groups=64),
    plane(1, 32, 30, 32, 3, padding=2, dilation=2, groups=8),  # strips
    Case(1, 3, (4, 5, 1100), 2, (2, 2, 3), (1, 1, 1), (1, 0, 1), (1, 1, 2)),
    Case(2, 4, (70,), 3, (3,), (2,), (1,), (1,)),
]


@pytest.fixture
def few_outputs(monkeypatch: pytest.MonkeyPatch) -> None:
    """So few are summed at a time that images, and one long line, are cut."""
    monkeypatch.setattr(sums, "_OUTPUTS", 1000)


@pytest.mark.usefixtures("few_outputs")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("zero_points", ["none", "one", "each", "each, packed without"])
def test_all_sums(kernel: str, case: Case, zero_points: str, n_threads: int) -> None:
    """eq-conv-accumulator, each output once, also of weights packed as if all were centred."""
    rng = np.random.default_rng(1)
    x = integers(rng, (case.batch, case.channels, *case.size), np.uint8)
    weight = integers(rng, (case.outputs, case.channels // case.groups, *case.kernel), np.int8)
    points = np.zeros(1, np.int64)
    if zero_points != "none":
        points = rng.integers(-9, 9, 1 if zero_points == "one" else case.outputs)
    centred = weight - points.reshape(-1, *(1,) * (x.ndim - 1))
    steps = (case.stride, case.padding, case.dilation)
    expected = reference.conv_accumulator(x.astype(np.int64) - 7, centred, *steps, case.groups)
    as_centred = zero_points in ("none", "each, packed without")
    packed = PACK[len(case.size)](weight, case.groups, centred=as_centred)
    actual, times = np.zeros_like(expected), np.zeros_like(expected)
    size = expected.shape[1:-1]
    for at, some in _kernels.conv_sums(x, 7, packed, points, *steps, size):
        actual[at], times[at] = some, times[at] + 1
    assert (times == 1).all()
    assert expected.tolist() == actual.tolist()
