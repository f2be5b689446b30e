"""Initialisers: their distribution, their errors, and that nothing is recorded."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pyqref
from pyqref.nn import init

# Moments of N = 40,000 draws: six standard errors of a mean of values with deviation s.
COUNT = 40_000


def six_sigma(deviation: float) -> float:
    return 6 * deviation / math.sqrt(COUNT)


@pytest.fixture(autouse=True)
def _seed() -> None:
    pyqref.manual_seed(0)


def weight() -> pyqref.Tensor:
    return pyqref.zeros(100, 400)


def test_uniform() -> None:
    """Mean and range of [a, b)."""
    values = init.uniform_(weight(), -1, 3).numpy()
    assert -1 <= values.min()
    assert values.max() < 3
    assert abs(1 - values.mean()) <= six_sigma(4 / math.sqrt(12))


def test_normal() -> None:
    """Mean and standard deviation."""
    values = init.normal_(weight(), 2, 0.5).numpy()
    assert abs(2 - values.mean()) <= six_sigma(0.5)
    assert abs(0.25 - values.var()) <= six_sigma(0.25 * math.sqrt(2))


@pytest.mark.parametrize(
    ("fill", "variance"),
    [
        (lambda t: init.xavier_uniform_(t, 2.0), 4 * 2 / 500),
        (init.xavier_normal_, 2 / 500),
        (lambda t: init.kaiming_uniform_(t, nonlinearity="relu"), 2 / 400),
        (lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="linear"), 1 / 100),
    ],
)
def test_variances(fill, variance: float) -> None:
    """Variance gain**2 / fan (Glorot and Bengio 2010, He et al. 2015)."""
    values = fill(weight()).numpy()
    # The fourth moment of a normal number is 3 s**4, so its square has deviation sqrt(2) s**2.
    assert abs(variance - values.var()) <= six_sigma(math.sqrt(2) * variance)


def test_fans_count_the_receptive_field() -> None:
    """A kernel multiplies both fans by its number of elements."""
    assert (2 * 9, 4 * 9) == init._calculate_fan_in_and_fan_out(pyqref.zeros(4, 2, 3, 3))


@pytest.mark.parametrize("bounds", [(-0.5, 2.0), (1.5, 3.0), (-4.0, -1.9)])
def test_trunc_normal(bounds: tuple[float, float]) -> None:
    """All within [a, b], and the mean that the truncated density has."""
    low, high = bounds
    values = init.trunc_normal_(weight(), 0.0, 1.0, low, high).numpy()
    assert low <= values.min()
    assert values.max() <= high
    grid = np.linspace(low, high, 20_001)
    density = np.exp(-grid * grid / 2)
    expected = (grid * density).sum() / density.sum()
    assert abs(expected - values.mean()) <= six_sigma(1.0)


def test_orthogonal() -> None:
    """Rows (columns, if there are more rows) are at right angles, of length ``gain``."""
    # 20 products of numbers below 1 in float32: 20 * 2**-24, and as much from the QR, times 9.
    bound = 9 * 2 * 20 * 2.0**-24
    tall = init.orthogonal_(pyqref.zeros(20, 4), 3.0).numpy()
    wide = init.orthogonal_(pyqref.zeros(4, 5, 4), 3.0).numpy().reshape(4, 20)
    assert np.abs(9 * np.eye(4) - tall.T @ tall).max() <= bound
    assert np.abs(9 * np.eye(4) - wide @ wide.T).max() <= bound
    assert (0, 3) == tuple(init.orthogonal_(pyqref.zeros(0, 3)).shape)


def test_sparse() -> None:
    """The wanted fraction of every column is zero."""
    values = init.sparse_(pyqref.ones(10, 7), 0.25).numpy()
    assert [3] * 7 == (values == 0).sum(axis=0).tolist()


def test_constants() -> None:
    """Constants, the identity, and Dirac's kernel that passes its input on."""
    assert [2.5] == init.constant_(pyqref.zeros(1), 2.5).tolist()
    assert [[1.0, 0.0]] == init.eye_(pyqref.ones(1, 2)).tolist()
    kernel = init.dirac_(pyqref.ones(2, 1, 3), groups=2)
    assert [[[0.0, 1.0, 0.0]]] * 2 == kernel.tolist()


def test_parameters_stay_leaves() -> None:
    """A parameter is filled in place, unrecorded, and the change is noticed by the graph."""
    parameter = pyqref.nn.Parameter(pyqref.zeros(3, 3))
    loss = (parameter * parameter).sum()
    for fill in (init.uniform_, init.eye_, init.orthogonal_, init.ones_, init.trunc_normal_):
        assert parameter is fill(parameter)
        assert parameter.is_leaf
    with pytest.raises(RuntimeError, match="modified"):
        loss.backward()


def test_generator() -> None:
    """A user's generator leaves the default stream alone."""
    before = pyqref.rand(1).item()
    pyqref.manual_seed(0)
    generator = pyqref.Generator().manual_seed(1)
    first = init.normal_(pyqref.zeros(20), generator=generator).tolist()
    assert before == pyqref.rand(1).item()
    assert first == init.normal_(pyqref.zeros(20), generator=generator.manual_seed(1)).tolist()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda: init.xavier_uniform_(pyqref.zeros(3)), "fewer than 2 dimensions"),
        (lambda: init.kaiming_uniform_(pyqref.zeros(3, 3), mode="x"), "Mode x not supported"),
        (lambda: init.kaiming_normal_(pyqref.zeros(3, 3), nonlinearity="x"), "nonlinearity x"),
        (lambda: init.calculate_gain("leaky_relu", True), "negative_slope True"),
        (lambda: init.calculate_gain("leaky_relu", "a"), "negative_slope a"),
        (lambda: init.eye_(pyqref.zeros(3)), "2 dimensions"),
        (lambda: init.sparse_(pyqref.zeros(3), 0.1), "2 dimensions"),
        (lambda: init.dirac_(pyqref.zeros(3)), "3, 4, or 5 dimensions"),
        (lambda: init.dirac_(pyqref.zeros(3, 1, 1), groups=2), "divisible by groups"),
        (lambda: init.orthogonal_(pyqref.zeros(3)), "2 or more dimensions"),
    ],
)
def test_errors(action, message: str) -> None:
    """Shapes and names that make no sense are refused."""
    with pytest.raises(ValueError, match=message):
        action()


def test_warnings() -> None:
    """Nothing to fill, and a truncation far from the mean, are warned of."""
    with pytest.warns(UserWarning, match="no-op"):
        init.kaiming_uniform_(pyqref.zeros(0, 3))
    with pytest.warns(UserWarning, match="more than 2 std"):
        init.trunc_normal_(pyqref.zeros(2, 2), mean=10.0)
