"""``parametrizations.orthogonal``: weights with orthonormal columns or rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref.autograd import gradcheck
from pyqref.nn.utils.parametrizations import orthogonal

MAPS = ["matrix_exp", "cayley", "householder"]
SHAPES = [(5, 3), (3, 5), (4, 4)]
#: Of float32: a few hundred rounded sums of products at most 1.
BOUND = 256 * 2.0**-24


def _gram(weight: Any) -> Any:
    rows, columns = weight.shape[-2:]
    other = weight.transpose(-2, -1)
    return other @ weight if rows >= columns else weight @ other


@pytest.mark.parametrize("name", [*MAPS, None])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("trivialization", [True, False])
def test_it_is_orthogonal(name: str | None, shape: tuple[int, int], trivialization: bool) -> None:
    """The weight is orthogonal at once, and after a step of training."""
    layer = pyqref.nn.Linear(shape[1], shape[0])
    orthogonal(layer, "weight", name, use_trivialization=trivialization)
    unit = np.eye(min(shape))
    np.testing.assert_allclose(unit, _gram(layer.weight).detach().numpy(), atol=BOUND)
    optimizer = pyqref.optim.SGD(layer.parameters(), lr=0.1)
    layer(pyqref.ones(2, shape[1])).square().sum().backward()
    optimizer.step()
    np.testing.assert_allclose(unit, _gram(layer.weight).detach().numpy(), atol=BOUND)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("shape", SHAPES)
def test_gradient(name: str, shape: tuple[int, int]) -> None:
    """Against differences; the numbers on the diagonal are signs, which have no gradient."""
    layer = orthogonal(pyqref.nn.Linear(shape[1], shape[0]).double(), "weight", name)
    x = np.random.default_rng(0).standard_normal(shape)
    np.fill_diagonal(x, 1.0)
    leaf = pyqref.tensor(x, requires_grad=True)
    strict = pyqref.tensor(1 - np.eye(*shape))
    function = layer.parametrizations.weight[0]
    assert gradcheck(lambda x: function(x * strict + pyqref.tensor(np.eye(*shape))), leaf)


def test_it_keeps_an_orthogonal_weight() -> None:
    """Householder reflections give back the matrix that they are computed of."""
    Q, _ = np.linalg.qr(np.random.default_rng(1).standard_normal((2, 5, 3)))
    Q[1] = np.eye(5, 3)
    for weight in (Q, np.swapaxes(Q, -1, -2)):
        module = pyqref.nn.Module()
        module.weight = pyqref.nn.Parameter(pyqref.tensor(weight))
        orthogonal(module, "weight", "householder", use_trivialization=False)
        np.testing.assert_allclose(weight, module.weight.detach().numpy(), atol=64 * 2.0**-53)


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("shape", [*SHAPES, (2, 6, 3)])
@pytest.mark.parametrize("trivialization", [True, False])
def test_as_torch(name: str, shape: tuple[int, ...], trivialization: bool) -> None:
    """A state of torch gives the same weight and gradient, and both begin with the same weight."""
    torch = pytest.importorskip("torch")
    from torch.nn.utils.parametrizations import orthogonal as torch_orthogonal

    weight = np.random.default_rng(2).standard_normal(shape)
    made = []
    for t, function in ((torch, torch_orthogonal), (pyqref, orthogonal)):
        module = t.nn.Module()
        module.weight = t.nn.Parameter(t.tensor(weight))
        made.append(function(module, "weight", name, use_trivialization=trivialization))
    theirs, ours = made
    expected, actual = (each.weight.detach().numpy() for each in made)
    np.testing.assert_allclose(expected, actual, atol=256 * 2.0**-53)
    names = {name: tuple(each.shape) for name, each in theirs.state_dict().items()}
    assert names == {name: tuple(each.shape) for name, each in ours.state_dict().items()}
    with torch.no_grad():
        noise = np.tril(np.random.default_rng(3).standard_normal(shape), -1)
        theirs.parametrizations.weight.original += torch.tensor(noise)
    ours.load_state_dict({k: pyqref.tensor(v.numpy()) for k, v in theirs.state_dict().items()})
    for each in made:
        (each.weight * each.weight.detach().flip(-1)).sum().backward()
    expected, actual = (each.weight.detach().numpy() for each in made)
    np.testing.assert_allclose(expected, actual, atol=256 * 2.0**-53)
    expected, actual = (each.parametrizations.weight.original.grad.numpy() for each in made)
    np.testing.assert_allclose(expected, actual, atol=4096 * 2.0**-53)


def test_refusals() -> None:
    """Weights that do not exist, are no matrices, or cannot be assigned are refused."""
    layer = pyqref.nn.Linear(3, 5)
    with pytest.raises(ValueError, match="no parameter or buffer with name 'other'"):
        orthogonal(layer, "other")
    with pytest.raises(ValueError, match=r"got 1 dimension\(s\)"):
        orthogonal(layer, "bias")
    with pytest.raises(ValueError, match="has to be one of"):
        orthogonal(layer, "weight", "qr")
    orthogonal(layer, "weight", "cayley", use_trivialization=False)
    with pytest.raises(NotImplementedError, match="use orthogonal_map='householder'"):
        layer.weight = pyqref.zeros(5, 3)
