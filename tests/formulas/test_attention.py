"""Attention against its equation in double precision, within a bound."""

from __future__ import annotations

import numpy as np
import pytest

from pyqref.numerics.attention import attention

U = 2.0**-24
#: Heads (2, 3), queries, keys, depth and width; the sizes differ, so that no axis can be mistaken.
L, S, E, D = 5, 4, 6, 3


def scores(bias: np.ndarray | None, is_causal: bool) -> tuple[np.ndarray, ...]:
    """Queries and keys of small integers, whose scores are exact, and the scores in double."""
    rng = np.random.default_rng(1)
    queries = rng.integers(-8, 9, (2, 3, L, E))
    keys = rng.integers(-8, 9, (2, 3, S, E))
    exact = np.einsum("abie,abje->abij", queries, keys) * 0.5
    if bias is not None:
        exact = exact + bias
    if is_causal:
        exact = np.where(np.arange(S) <= np.arange(L)[:, np.newaxis], exact, -np.inf)
    values = rng.standard_normal((2, 3, S, D)).astype(np.float32)
    return queries.astype(np.float32), keys.astype(np.float32), values, exact


def gamma(roundings: int) -> float:
    """The largest relative error of so many roundings."""
    return roundings * U / (1 - roundings * U)


def test_eq_attention__inexact_scores() -> None:
    """eq-attention: an error d of the scores changes a weight by the factor e^(2 d).

    The scores have the error of their product, of the scaled query and of the largest one
    subtracted; a power 2 u (eq-exp-below); the sums of 40 terms, the reciprocal and the product
    with it one rounding each.
    """
    rng = np.random.default_rng(0)
    wide = [rng.standard_normal(shape) for shape in ((6, 8), (40, 8), (40, 3))]
    given = [each.astype(np.float32) for each in wide]
    q, k, v = (each.astype(np.float64) for each in given)
    scores = q @ k.T * 0.25
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = powers / powers.sum(axis=1, keepdims=True)
    distance = gamma(9) * (np.abs(q) @ np.abs(k).T * 0.25).max() + 2 * U * np.abs(scores).max()
    most = np.expm1(2 * distance) + gamma(40) * 2 + gamma(2 * 2 + 2)
    found = attention(*given, None, False, 0.25)
    assert (np.abs(found - weights @ v) <= most * (weights @ np.abs(v))).all()


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("has_bias", [False, True])
def test_eq_attention__within_its_bound(is_causal: bool, has_bias: bool) -> None:
    """eq-attention: the means of the values with the weights ``exp(t - max t)`` over their sum.

    t is exact. A power is two roundings off (eq-exp-below), a sum of S terms S - 1, a product
    with the values S, the reciprocal and the last product one each: 2 (S + 2) + S at most, each
    of them a part of the mean of the sizes of the values. 4 S + 8 leaves room for their products.
    A power below 2**-126 is 0, which is less than the bound, too.
    """
    bias = None
    if has_bias:
        bias = np.random.default_rng(2).integers(-20, 20, (3, L, S)).astype(np.float32)
    queries, keys, values, exact = scores(bias, is_causal)
    assert 50 < exact.max()  # powers of the scores themselves would be inexact, and overflow
    powers = np.exp(exact - exact.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    wide = values.astype(np.float64)
    found = attention(queries, keys, values, bias, is_causal, 0.5)
    assert (2, 3, L, D) == found.shape
    bound = (4 * S + 8) * U * (weights @ np.abs(wide) + U)
    assert (np.abs(found - weights @ wide) <= bound).all()


def test_eq_attention__query_that_looks_nowhere() -> None:
    """A row of a bias of minus infinity gives zeros; one with a single finite number its value."""
    bias = np.full((L, S), -np.inf, np.float32)
    bias[1, 2] = 3
    queries, keys, values, _ = scores(None, False)
    found = attention(queries, keys, values, bias, False, 0.5)
    assert not found[:, :, [0, 2, 3, 4]].any()
    assert np.array_equal(values[:, :, 2], found[:, :, 1])


def test_eq_attention__infinite_scores_without_a_bias() -> None:
    """Without a bias no query looks nowhere: scores of minus infinity have no mean."""
    one = np.ones((1, 1), np.float32)
    assert np.isnan(attention(one, one * -np.inf, one, None, False, 1.0)).all()
