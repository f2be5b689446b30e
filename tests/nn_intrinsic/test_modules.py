"""The float groups: containers of known layer types."""

from __future__ import annotations

from typing import Any

import pytest

import pyqref
from pyqref import nn

nni = nn.intrinsic
GROUPS: list[tuple[Any, list[Any], tuple[int, ...]]] = [
    (nni.ConvBn1d, [nn.Conv1d(2, 3, 3), nn.BatchNorm1d(3)], (2, 2, 5)),
    (nni.ConvBn2d, [nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3)], (2, 2, 5, 5)),
    (nni.ConvBn3d, [nn.Conv3d(2, 3, 3), nn.BatchNorm3d(3)], (2, 2, 4, 4, 4)),
    (nni.ConvBnReLU1d, [nn.Conv1d(2, 3, 3), nn.BatchNorm1d(3), nn.ReLU()], (2, 2, 5)),
    (nni.ConvBnReLU2d, [nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3), nn.ReLU()], (2, 2, 5, 5)),
    (nni.ConvBnReLU3d, [nn.Conv3d(2, 3, 3), nn.BatchNorm3d(3), nn.ReLU()], (2, 2, 4, 4, 4)),
    (nni.ConvReLU1d, [nn.Conv1d(2, 3, 3), nn.ReLU()], (2, 2, 5)),
    (nni.ConvReLU2d, [nn.Conv2d(2, 3, 3), nn.ReLU()], (2, 2, 5, 5)),
    (nni.ConvReLU3d, [nn.Conv3d(2, 3, 3), nn.ReLU()], (2, 2, 4, 4, 4)),
    (nni.LinearReLU, [nn.Linear(4, 3), nn.ReLU()], (2, 4)),
    (nni.LinearBn1d, [nn.Linear(4, 3), nn.BatchNorm1d(3)], (2, 4)),
    (nni.BNReLU2d, [nn.BatchNorm2d(2), nn.ReLU()], (2, 2, 5, 5)),
    (nni.BNReLU3d, [nn.BatchNorm3d(2), nn.ReLU()], (2, 2, 4, 4, 4)),
]


@pytest.mark.parametrize(("cls", "layers", "shape"), GROUPS)
def test_computes_its_layers_in_a_row(cls: Any, layers: list[Any], shape: tuple[int, ...]) -> None:
    """A group is a Sequential of its layers."""
    group = cls(*layers).eval()
    x = pyqref.randn(*shape)
    expected = x
    for layer in layers:
        expected = layer(expected)
    assert expected.tolist() == group(x).tolist()
    assert isinstance(group, nn.Sequential)
    assert layers == list(group)


@pytest.mark.parametrize(("cls", "layers", "shape"), GROUPS)
def test_other_types_are_refused(cls: Any, layers: list[Any], shape: tuple[int, ...]) -> None:
    """A layer of another type, or a subclass, which may compute something else."""
    with pytest.raises(TypeError, match=rf"{cls.__name__} holds the layers \(.*\), got \(Identity"):
        cls(nn.Identity(), *layers[1:])
    first = type(layers[0])
    subclass = type("Mine", (first,), {})
    mine = subclass(3) if "BatchNorm" in first.__name__ else None
    if mine is not None:
        with pytest.raises(TypeError, match=r"got \(Mine"):
            cls(mine, *layers[1:])


def test_documented_example() -> None:
    """LinearReLU, in its place in nn.intrinsic."""
    m = nni.LinearReLU(nn.Linear(20, 30), nn.ReLU())
    assert (128, 30) == tuple(m(pyqref.randn(128, 20)).size())
