"""Attention by every kernel against the equations in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernels.compare import assert_same_bits

from pyqref import _kernels
from pyqref.numerics import attention as reference

RNG = np.random.default_rng(0)


def reals(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


def check(queries: Any, keys: Any, values: Any, bias: Any = None, is_causal: bool = False) -> None:
    given = queries, keys, values, bias, is_causal, 0.3
    assert _kernels.is_attention_covered(*given[:4])
    assert_same_bits(reference.attention(*given), _kernels.attend(*given))


@pytest.mark.parametrize("number", [1, 8, 15, 33, 257])
def test_around_the_tile(kernel: str, n_threads: int, number: int) -> None:
    """eq-attention, of keys around a panel and a block, and columns around a vector."""
    for lead, length, depth, columns in (((), 4, 1, 17), ((2,), 7, 9, 8), ((2, 3), 13, 16, 5)):
        queries, keys = reals(*lead, length, depth), reals(*lead, number, depth)
        values, bias = reals(*lead, number, columns), reals(length, number)
        bias[RNG.random(bias.shape) < 0.3], bias[1] = -np.inf, -np.inf
        check(queries, keys, values)
        check(queries, keys, values, is_causal=True)
        check(queries, keys, values, bias)
        check(queries, keys, values, bias[:1], is_causal=True)


def test_some_queries_at_a_time(kernel: str, n_threads: int) -> None:
    """More queries than stay in a cache, of one head, which threads share."""
    check(reals(400, 3), reals(3, 3), reals(3, 2))


def test_any_layout(kernel: str) -> None:
    """Heads that lie between the rows, rows that run backwards, columns apart."""
    packed = reals(9, 2, 3, 3, 8)
    queries, keys, values = packed.transpose(3, 1, 2, 0, 4)
    check(queries, keys[:, :, ::-1], values[..., ::2], reals(9, 2)[:, :1])


def test_special_numbers(kernel: str) -> None:
    """Infinities and nan give the same ones, and do not pass for a query that looks nowhere."""
    queries, keys, values = reals(5, 4), reals(6, 4), reals(6, 3)
    queries[0, 0], queries[1, 1], keys[2, 2], values[3, 1] = np.nan, np.inf, -np.inf, np.inf
    check(queries, keys, values)
    bias = np.full((5, 6), -np.inf, np.float32)
    bias[4, 5] = np.nan
    check(queries, keys, values, bias)


def test_what_is_left_to_products() -> None:
    """Few queries, other types, and axes that broadcast."""
    x = reals(2, 3, 5, 4)
    for given in (
        (x[:, :, :2], x, x),
        (x.astype(np.float64),) * 3,
        (x, x[:1], x[:1]),
        (x[None],) * 3,
        (x, x[:, :, :0], x[:, :, :0]),
    ):
        assert not _kernels.is_attention_covered(*given, None)
