"""Operations of quantized tensors by older names."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import pyqref


def image(axes: int, dtype: Any = pyqref.quint8) -> Any:
    rng = np.random.default_rng(axes)
    x = rng.standard_normal((2, 3, *(7, 6, 5)[:axes])).astype(np.float32)
    return pyqref.quantize_per_tensor(pyqref.from_numpy(x), 0.03, 100, dtype)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"stride": 1, "padding": 1},
    {"stride": 2, "ceil_mode": True},
    {"dilation": 2, "stride": 1},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_max_pool(axes: int, options: dict[str, Any]) -> None:
    """The largest integer of a window is the integer of the largest number."""
    q = image(axes)
    pooled = getattr(pyqref, f"quantized_max_pool{axes}d")(q, 2, **options)
    expected = getattr(pyqref.nn.functional, f"max_pool{axes}d")(q.dequantize(), 2, **options)
    assert expected.tolist() == pooled.dequantize().tolist()
    assert (q.q_scale(), q.q_zero_point()) == (pooled.q_scale(), pooled.q_zero_point())


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_max_pool_as_torch(axes: int) -> None:
    """The integers of torch."""
    torch = pytest.importorskip("torch")
    q = image(axes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = torch.from_numpy(q.dequantize().numpy())
        theirs = torch.quantize_per_tensor(x, q.q_scale(), q.q_zero_point(), torch.quint8)
    for options in OPTIONS:
        several = {k: v if type(v) is bool else [v] * axes for k, v in options.items()}
        expected = getattr(torch, f"quantized_max_pool{axes}d")(theirs, [2] * axes, **several)
        actual = getattr(pyqref, f"quantized_max_pool{axes}d")(q, 2, **options)
        assert expected.int_repr().tolist() == actual.int_repr().tolist()


def test_batch_norm() -> None:
    """It agrees with the operation of the same name in ``ops.quantized``."""
    q, moments = image(2), (pyqref.ones(3), pyqref.zeros(3), pyqref.zeros(3), pyqref.ones(3))
    expected = pyqref.ops.quantized.batch_norm2d(q, *moments, 1e-5, 0.05, 3)
    actual = pyqref.quantized_batch_norm(q, *moments, 1e-5, 0.05, 3)
    assert expected.int_repr().tolist() == actual.int_repr().tolist()


SEARCHES = [(200, 0.16, 4), (100, 0.5, 8), (50, 0.9, 2)]


@pytest.mark.parametrize("search", SEARCHES)
def test_choose_qparams_optimized(search: tuple[int, float, int]) -> None:
    """The range lies in that of the data, is long enough, and is no worse than all of it."""
    n_bins, ratio, bits = search
    x = pyqref.from_numpy(np.random.default_rng(0).standard_normal(40).astype(np.float32))
    high, low = (end.item() for end in pyqref.choose_qparams_optimized(x, 40, *search))
    least, most = x.min().item(), x.max().item()
    assert least <= low < high <= most
    assert high - low >= (1 - ratio - 1 / n_bins) * (most - least)

    def error(low: float, high: float) -> float:
        low = float(np.float16(low))
        scale = float(np.float16((high - low) / (2**bits - 1)))
        codes = np.clip(np.rint((x.numpy() - low) / scale), 0, 2**bits - 1)
        return float(np.linalg.norm(x.numpy() - (codes * scale + low)))

    assert error(low, high) <= error(least, most) * (1 + 40 * 2.0**-24)


def test_choose_qparams_optimized_as_torch() -> None:
    """The ranges of torch, to the bit."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    for _ in range(40):
        size = int(rng.integers(1, 65))
        x = (rng.standard_normal(size) * rng.choice([0.1, 1, 30])).astype(np.float32)
        for search in SEARCHES:
            expected = torch.choose_qparams_optimized(torch.from_numpy(x), size, *search)
            actual = pyqref.choose_qparams_optimized(pyqref.from_numpy(x), size, *search)
            assert [each.item() for each in expected] == [each.item() for each in actual]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((pyqref.ones(3), 4, 200, 0.16, 4), r"numel in \[1, 3\], got pyqref.float32 and 4"),
        ((pyqref.ones(3).double(), 3, 200, 0.16, 4), "input must be float32"),
        ((pyqref.ones(3), 3, 200, 1.5, 4), r"ratio must be in \[0, 1\]"),
        ((pyqref.ones(3) / 0, 3, 200, 0.5, 4), "input must be finite"),
    ],
)
def test_errors(arguments: tuple[Any, ...], message: str) -> None:
    """Counts, types and ratios that do not fit."""
    with pytest.raises(ValueError, match=message):
        pyqref.choose_qparams_optimized(*arguments)


def test_steps_that_float32_cannot_tell_end_the_search() -> None:
    """The whole range is as good as one that is narrower by nothing."""
    x = pyqref.tensor([1e8, 1e8 + 8])
    high, low = pyqref.choose_qparams_optimized(x, 2, 10**6, 0.5, 4)
    assert (1e8, 1e8 + 8) == (low.item(), high.item())
