"""Convolutions whose sums 32 bits do not hold: some taps and channels at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels import test_conv_transpose as transposed
from kernels.compare import assert_same_bits
from kernels.conv_cases import Case, plane
from kernels.layers import MODES, finish
from kernels.test_conv import PACK, RUN, check
from kernels.test_conv_sums import test_all_sums as check_sums

from pyqref import _kernels
from pyqref._kernels.qconv import convolution, pack, split_sums, sums
from pyqref._kernels.qconv import transposed as transposed_layers
from pyqref._kernels.qgemm.finish import fits
from pyqref.numerics import convolution as reference

#: One group, or one channel a group: others are joined or strips where they are not deep.
CASES = [
    plane(1, 1, 1, 1, 1),
    plane(0, 3, 5, 2, 3),
    plane(2, 3, 9, 66, 5, padding=2, stride=2),
    plane(1, 13, 7, 130, 3, padding=1),
    plane(1, 16, 9, 17, 3, padding=2, dilation=2),
    plane(1, 4, 3, 2, 3, padding=3),
    plane(1, 30, 6, 5, 1),
    plane(1, 7, 8, 7, 3, padding=1, groups=7),
    plane(2, 70, 9, 70, 5, padding=2, stride=2, groups=70),
    Case(1, 300, (4, 5, 6), 300, (2, 3, 2), (1, 1, 2), (1, 1, 0), (2, 1, 1), 300),
    Case(2, 3, (6, 9), 5, (3, 2), (2, 1), (1, 0), (1, 3)),
    Case(2, 3, (11,), 5, (3,), (2,), (1,), (1,)),
    Case(2, 3, (4, 5, 6), 7, (2, 3, 2), (1, 2, 1), (1, 1, 0), (1, 1, 2)),
    plane(1, 8, 6, 40, 3, padding=1, groups=2),
]


@pytest.fixture(params=[3, 40])
def few_products(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend that 32 bits hold the sums of few products only, of some outputs at a time."""
    for module in (convolution, sums, transposed_layers):
        monkeypatch.setattr(module, "fits", lambda *arguments: False)
    monkeypatch.setattr(split_sums, "_DEPTH", request.param)
    monkeypatch.setattr(split_sums, "_TAPS", request.param)
    monkeypatch.setattr(sums, "_OUTPUTS", 300)
    # Groups are neither joined nor strips, as they are not where they are deep.
    monkeypatch.setattr(pack, "_groups_to_join", lambda *arguments: 1)
    monkeypatch.setattr(pack, "_fit_strips", lambda *arguments: False)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
def test_shapes(compiled_kernel: str, few_products: None, case: Case, stored: Any) -> None:
    """eq-conv-accumulator, then eq-requantize."""
    rng = np.random.default_rng(1)
    for channels_last in (False, True):
        check(rng, case, stored=stored, channels_last=channels_last)
        check(rng, case, stored=stored, weight_zero_points=rng.integers(-128, 128, case.outputs))


@pytest.mark.parametrize("mode", MODES)
def test_every_engine(compiled_kernel: str, few_products: None, mode: Any) -> None:
    """eq-requantize-bias, panel after panel of the outputs."""
    for output in (np.uint8, np.int8):
        check(np.random.default_rng(2), CASES[3], mode=mode, output=output, relu=True)


@pytest.mark.parametrize("case", transposed.CASES[:8] + transposed.CASES[13:15])
def test_transposed(compiled_kernel: str, few_products: None, case: transposed.Case) -> None:
    """eq-conv-transpose-accumulator, phase after phase, and what no phase reaches."""
    rng = np.random.default_rng(3)
    for channels_last in (False, True):
        transposed.check(rng, case, channels_last=channels_last)


@pytest.mark.parametrize("case", CASES[2:])
def test_sums(compiled_kernel: str, few_products: None, case: Case) -> None:
    check_sums(compiled_kernel, case, "each", 1)


@pytest.mark.parametrize("depth", [65_792, 65_796])
@pytest.mark.parametrize("mode", [MODES[3], MODES[6]])
def test_largest_sums(compiled_kernel: str, depth: int, mode: Any) -> None:
    """Sums of the largest bytes and weights are exact, and not cut to 32 bits."""
    case = Case(1, depth // 4, (2, 3), 3, (2, 2), (1, 1), (0, 0), (1, 1))
    x = np.full((1, case.channels, *case.size), 255, np.uint8)
    weight = np.full((case.outputs, case.channels, *case.kernel), -128, np.int8)
    requant = finish(np.random.default_rng(4), mode, case.outputs, depth**2 * 9)
    steps = (case.stride, case.padding, case.dilation)
    packed = PACK[2](weight)
    expected = reference.quantized_conv(x, 0, weight, 0, requant, *steps, 1)
    assert_same_bits(expected, RUN[2](x, 0, packed, 0, requant, *steps))
    at_once = [
        some for _, some in _kernels.conv_sums(x, 0, packed, np.zeros(1, int), *steps, (1, 2))
    ]
    assert (255 * -128 * depth == np.concatenate(at_once, axis=-1)).all()


@pytest.mark.parametrize("kernel_size", [(33, 45), (1, 1390)])
@pytest.mark.parametrize("stored", [np.uint8, np.int8])
def test_depthwise_kernels_that_reach_far(
    compiled_kernel: str, kernel_size: tuple[int, int], stored: Any, n_threads: int
) -> None:
    """Some taps at a time: scratch does not hold more."""
    padding = kernel_size[0] // 2, kernel_size[1] // 2
    case = Case(1, 70, (7, 30), 70, kernel_size, (2, 1), padding, (1, 1), 70)
    for channels_last in (False, True):
        check(np.random.default_rng(5), case, stored=stored, channels_last=channels_last)


@pytest.mark.parametrize("each", [1, 4, 8, 16])
@pytest.mark.parametrize("centred", [False, True])
def test_deep_groups_are_packed_one_by_one(each: int, centred: bool) -> None:
    """Neither joined nor strips: pieces are taken out of panels. Others are refused."""
    for groups in (2, 4, 16):
        depth = each
        while fits(depth, None, 0 if centred else 1):
            depth += 1024 * each
        shape = (each * groups, each, depth // each)
        deep = pack.pack_conv(np.broadcast_to(np.int8(1), shape), groups, centred=centred)
        assert deep.joined == 1
        assert not deep.in_strips
        assert len(next(iter(split_sums.split(deep, centred=centred)))) == 2
    for groups, size in ((4, 2), (4, 8)):
        shallow = pack.pack_conv(np.ones((size * groups, size, 3), np.int8), groups)
        assert shallow.joined > 1 or shallow.in_strips
        with pytest.raises(AssertionError):
            next(iter(split_sums.split(shallow, centred=True)))
