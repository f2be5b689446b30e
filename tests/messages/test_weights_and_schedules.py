"""Following the messages about weights, lazy layers, schedules and types works."""

from __future__ import annotations

import copy
from typing import Any

from messages.following import says

import pyqref
from pyqref import nn, optim
from pyqref.nn.utils import parametrizations, parametrize


class Rows(nn.Module):
    """The first row."""

    def forward(self, x: Any) -> Any:
        """Return the first row of a matrix."""
        return x[:1]


class Integers(nn.Module):
    """Turns a weight back into integers."""

    def forward(self, x: Any) -> Any:
        """Real numbers."""
        return x.float()

    def right_inverse(self, x: Any) -> Any:
        """Their integers."""
        return x.int()


def test_parametrizations() -> None:
    """unsafe=True, the original, remove_parametrizations()."""
    layer = nn.Linear(2, 2)
    with says("unless the `unsafe` flag is enabled"):
        parametrize.register_parametrization(layer, "weight", Rows())
    with says("pass unsafe=True"):
        parametrize.register_parametrization(nn.Linear(2, 2), "weight", Integers())
    parametrize.register_parametrization(layer, "weight", nn.Sigmoid(), unsafe=True)
    with says("assign to `parametrizations.<name>.original` instead"):
        layer.weight = pyqref.zeros(2, 2)
    layer.parametrizations.weight.original = nn.Parameter(pyqref.zeros(2, 2))
    assert 0.5 == layer.weight[0, 0].item()
    with says("save that, or call remove_parametrizations() first"):
        layer.__getstate__()
    state = layer.state_dict()
    parametrize.remove_parametrizations(layer, "weight")
    assert (2, 1) == (len(copy.deepcopy(layer).state_dict()), len(set(state) - {"bias"}))


def test_norms_of_weights() -> None:
    """Remove before registering again."""
    layer = nn.utils.weight_norm(nn.Linear(2, 2))
    with says("call remove_weight_norm first"):
        nn.utils.weight_norm(layer)
    nn.utils.weight_norm(nn.utils.remove_weight_norm(layer))
    layer = nn.utils.spectral_norm(nn.Linear(2, 2))
    with says("call remove_spectral_norm first"):
        nn.utils.spectral_norm(layer)
    nn.utils.spectral_norm(nn.utils.remove_spectral_norm(layer))
    assert parametrize.is_parametrized(parametrizations.weight_norm(nn.Linear(2, 2)))


def test_lazy_shapes() -> None:
    """forward() gives a shape."""
    layer = nn.LazyLinear(2)
    with says("Call `forward` to initialize the parameters before accessing their attributes."):
        _ = layer.weight.shape
    layer(pyqref.ones(1, 3))
    assert (2, 3) == tuple(layer.weight.shape)


def test_optimizers_and_schedules() -> None:
    """Ranges, one list, cycle_momentum=False, scale_fn, one function."""
    weight = nn.Parameter(pyqref.ones(3))
    with says("use [0, 1]"):
        optim.Adadelta([weight], rho=2)
    optim.Adadelta([weight], rho=1)
    with says("use (0, 1) and > 1"):
        optim.Rprop([weight], etas=(0.5, 1))
    optim.Rprop([weight], etas=(0.5, 1.5))
    with says("give one list"):
        optim.LBFGS([{"params": [weight]}, {"params": []}])
    optim.LBFGS([weight])
    schedules, optimizer = optim.lr_scheduler, optim.Adagrad([weight])
    with says("pass cycle_momentum=False"):
        schedules.CyclicLR(optimizer, 0.1, 1.0)
    schedules.CyclicLR(optimizer, 0.1, 1.0, cycle_momentum=False)
    with says("give scale_fn"):
        schedules.CyclicLR(optimizer, 0.1, 1.0, mode="saw", cycle_momentum=False)
    schedules.CyclicLR(optimizer, 0.1, 1.0, scale_fn=lambda x: 1.0, cycle_momentum=False)
    utils, model = optim.swa_utils, nn.Linear(1, 1)
    both = {"avg_fn": utils.get_swa_avg_fn(), "multi_avg_fn": utils.get_swa_multi_avg_fn()}
    with says("give one of avg_fn and multi_avg_fn, not both"):
        utils.AveragedModel(model, **both)
    utils.AveragedModel(model, avg_fn=both["avg_fn"])
    with says("use [0, 1]"):
        utils.get_ema_avg_fn(2)
    utils.get_ema_avg_fn(1)


def test_grids_and_types() -> None:
    """'bilinear' for volumes, and to() for another type."""
    volume, grid = pyqref.ones(1, 1, 2, 2, 2), pyqref.zeros(1, 1, 1, 1, 3)
    with says("use 'bilinear'"):
        nn.functional.grid_sample(volume, grid, "bicubic")
    assert 1.0 == nn.functional.grid_sample(volume, grid, "bilinear").item()
    ones = pyqref.ones(2)
    with says("use tensor.to({})"):
        pyqref.LongTensor(ones)
    assert [1, 1] == pyqref.LongTensor(ones.to(pyqref.int64)).tolist()


def test_orthogonal_weights_that_are_assigned() -> None:
    """Both ways keep what is assigned."""
    weight = pyqref.eye(3)[[2, 0, 1]]
    utils = nn.utils.parametrizations
    layer = utils.orthogonal(nn.Linear(3, 3), "weight", "cayley", use_trivialization=False)
    with says("use orthogonal_map='householder', or let use_trivialization be True"):
        layer.weight = weight
    for options in ({"orthogonal_map": "householder", "use_trivialization": False}, {}):
        layer = utils.orthogonal(nn.Linear(3, 3), **options)
        layer.weight = weight
        assert pyqref.allclose(weight, layer.weight, atol=1e-6)
