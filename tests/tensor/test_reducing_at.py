"""``scatter_reduce`` and ``index_reduce``: groups reduced where an index sends them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.autograd import gradcheck

REDUCTIONS = ["sum", "prod", "mean", "amax", "amin"]
X = [[1.0, -2.0, 3.0], [0.5, 0.0, -1.0], [4.0, 2.5, -3.5]]
SOURCE = [[2.0, 7.0, -1.5], [0.0, 3.0, -1.0], [-4.0, 2.5, 6.0]]
INDEX = [[0, 2, 0], [2, 2, 1], [0, 0, 0]]


def _one_by_one(reduce: str, include_self: bool, dim: int) -> list[list[float]]:
    """The definition: collect what comes to each place, then reduce it."""
    groups: list[list[list[float]]] = [[[] for _ in row] for row in X]
    for i, row in enumerate(INDEX):
        for j, k in enumerate(row):
            groups[k if dim == 0 else i][j if dim == 0 else k].append(SOURCE[i][j])
    reductions = {"sum": np.sum, "prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}
    result = []
    for old, group_row in zip(X, groups, strict=True):
        reduced = []
        for own, group in zip(old, group_row, strict=True):
            members = [own, *group] if include_self or not group else group
            reduced.append(float(reductions[reduce](members)))
        result.append(reduced)
    return result


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("dim", [0, 1])
def test_scatter_reduce(reduce: str, include_self: bool, dim: int) -> None:
    """``out[index[i][j]][j]`` reduces all ``src[i][j]`` that are sent there; others keep theirs."""
    expected = pyqref.tensor(_one_by_one(reduce, include_self, dim))
    x, index, source = pyqref.tensor(X), pyqref.tensor(INDEX), pyqref.tensor(SOURCE)
    result = x.scatter_reduce(dim, index, source, reduce, include_self=include_self)
    np.testing.assert_allclose(expected.numpy(), result.numpy(), rtol=4 * 2.0**-24)
    assert x is x.scatter_reduce_(dim, index, source, reduce, include_self=include_self)
    assert result.tolist() == x.tolist()


@pytest.mark.parametrize("reduce", REDUCTIONS[1:])
@pytest.mark.parametrize("include_self", [True, False])
def test_index_reduce(reduce: str, include_self: bool) -> None:
    """It is scatter_reduce with the index of a slice at each of its elements."""
    x, source, index = pyqref.tensor(X), pyqref.tensor(SOURCE), pyqref.tensor([2, 0, 2])
    spread = index.unsqueeze(1).expand(3, 3)
    expected = x.scatter_reduce(0, spread, source, reduce, include_self=include_self)
    result = x.index_reduce(0, index, source, reduce, include_self=include_self)
    assert expected.tolist() == result.tolist()
    assert x is x.index_reduce_(0, index, source, reduce, include_self=include_self)
    assert result.tolist() == x.tolist()


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("include_self", [True, False])
def test_gradients(reduce: str, include_self: bool) -> None:
    """Against differences; of products also where one or two factors are zero."""
    index, values = pyqref.tensor([0, 0, 2, 2, 0]), [0.3, 1.7, -0.4, 0.9, 2.2]
    x, source = (
        pyqref.tensor(each, dtype=pyqref.float64, requires_grad=True)
        for each in ([0.7, -1.1, 0.1], values)
    )

    def reduced(x: Any, source: Any) -> Any:
        return x.scatter_reduce(0, index, source, reduce, include_self=include_self)

    assert gradcheck(reduced, (x, source))
    if reduce == "prod":
        for zeros in ([0], [0, 1], [2, 3]):
            with pyqref.no_grad():
                source[zeros] = 0.0
            assert gradcheck(reduced, (x, source))


def test_equal_elements_share_the_gradient() -> None:
    """A largest element is as often a largest as it stands there, as in torch."""
    x = pyqref.tensor([3.0, 1.0], requires_grad=True)
    source = pyqref.tensor([3.0, 3.0, 0.0], requires_grad=True)
    x.scatter_reduce(0, pyqref.tensor([0, 0, 1]), source, "amax").sum().backward()
    third = float(np.float32(1) / np.float32(3))
    assert [third, 1.0] == x.grad.tolist()
    assert [third, third, 0.0] == source.grad.tolist()


def test_the_mean_of_integers_is_rounded_down() -> None:
    """(5 - 2 - 8) / 3 is -2, as in torch."""
    x, index = pyqref.tensor([5, 5]), pyqref.tensor([0, 0])
    assert [-2, 5] == x.scatter_reduce(0, index, pyqref.tensor([-2, -8]), "mean").tolist()


@pytest.mark.parametrize("name", ["scatter_reduce", "index_reduce"])
def test_refusals(name: str) -> None:
    """Each names the function, what is accepted, and what came."""
    function, x, index = getattr(pyqref, name), pyqref.zeros(2), pyqref.tensor([0])
    with pytest.raises(RuntimeError, match=rf"{name}\(\): reduce must be one of .*got 'add'"):
        function(x, 0, index, x[:1], "add")
    with pytest.raises(RuntimeError, match="dtype"):
        function(x, 0, index, pyqref.ones(1, dtype=pyqref.float64), "mean")
    with pytest.raises(RuntimeError, match=r"call \.float"):
        function(x.bool(), 0, index, x[:1].bool(), "mean")
    with pytest.raises(IndexError, match="index 2 is out of bounds"):
        function(x, 0, index + 2, x[:1], "mean")
    with pytest.raises(RuntimeError, match="index_add adds"):
        pyqref.index_reduce(x, 0, index, x[:1], "sum")


def test_as_torch() -> None:
    """Random groups, all reductions and dtypes: float32 sums within the bound of a sum."""
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    index = rng.integers(0, 5, (40, 6))
    for dtype in (np.float32, np.float64, np.int64, np.uint8):
        x, source = (rng.integers(1, 9, shape).astype(dtype) for shape in ((5, 6), (40, 6)))
        for reduce in REDUCTIONS:
            for include_self in (True, False):
                ours, theirs = (
                    t.from_numpy(x.copy()).scatter_reduce(
                        0,
                        t.from_numpy(index),
                        t.from_numpy(source),
                        reduce,
                        include_self=include_self,
                    )
                    for t in (pyqref, torch)
                )
                rtol = 45 * 2.0**-24 if reduce == "prod" else 0
                np.testing.assert_allclose(theirs.numpy(), ours.numpy(), rtol=rtol)
