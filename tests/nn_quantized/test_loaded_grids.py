"""``load_state_dict`` refuses scales and zero points that no tensor has, and changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as tq
from pyqref.quantization._learnable_fake_quantize import _LearnableFakeQuantize
from pyqref.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx

Q, R = nn.quantized, nn.quantized.reference
ONES = pyqref.ones(2)
NAN, INF = float("nan"), float("inf")


class Functions(nn.Module):
    """Layers, and functions that have a grid of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        """A sum, a layer, and a product by a weight of its own."""
        x = x + x
        return nn.functional.linear(self.fc(x), self.fc.weight)


def _graph(convert: Callable[..., Any]) -> Any:
    model = Functions().eval()
    prepared = prepare_fx(model, tq.get_default_qconfig_mapping(), (pyqref.ones(1, 2),))
    prepared(pyqref.ones(1, 2))
    return convert(prepared)


def _eager(model: Any) -> Any:
    """A converted model of one quantizable module."""
    model.eval().qconfig = tq.default_qconfig
    wrapped = tq.QuantWrapper(model)
    prepared = tq.prepare(wrapped)
    prepared(pyqref.ones(1, 2))
    return tq.convert(prepared)


LAYERS: dict[str, Callable[[], Any]] = {
    "Linear": lambda: Q.Linear(2, 2),
    "Conv2d": lambda: Q.Conv2d(2, 2, 1),
    "ConvTranspose1d": lambda: Q.ConvTranspose1d(2, 2, 1),
    "BatchNorm2d": lambda: Q.BatchNorm2d(2),
    "LayerNorm": lambda: Q.LayerNorm(2, ONES, ONES, 1.0, 0),
    "GroupNorm": lambda: Q.GroupNorm(1, 2, ONES, ONES, 1.0, 0),
    "InstanceNorm3d": lambda: Q.InstanceNorm3d(2, ONES, ONES, 1.0, 0),
    "Hardswish": lambda: Q.Hardswish(1.0, 0),
    "LeakyReLU": lambda: Q.LeakyReLU(1.0, 0),
    "Quantize": lambda: Q.Quantize(1.0, 0, pyqref.quint8),
    "QFunctional": lambda: Q.QFunctional(),
    "LinearReLU": lambda: nn.intrinsic.quantized.LinearReLU(2, 2),
    "ConvAdd2d": lambda: nn.intrinsic.quantized.ConvAdd2d(2, 2, 1),
    "BNReLU3d": lambda: nn.intrinsic.quantized.BNReLU3d(2),
    "dynamic.Linear": lambda: Q.dynamic.Linear(2, 2),
    "reference.Linear": lambda: R.Linear(2, 2),
    "reference.Conv2d": lambda: R.Conv2d(2, 2, 1),
    "reference.LSTM": lambda: R.LSTM(2, 2),
    "reference.channels": lambda: R.Linear(
        2,
        2,
        weight_qparams={
            "qscheme": pyqref.per_channel_affine,
            "dtype": pyqref.qint8,
            "scale": ONES,
            "zero_point": ONES * 0,
            "axis": 0,
        },
    ),
    "FakeQuantize": tq.FakeQuantize,
    "fused": tq.FusedMovingAvgObsFakeQuantize,
    "channels": tq.default_per_channel_weight_fake_quant,
    "fixed": tq.default_fixed_qparams_range_0to1_fake_quant,
    "FixedQParamsObserver": lambda: tq.FixedQParamsObserver(1.0, 0),
    "eager": lambda: _eager(nn.Sequential(nn.Linear(2, 2), nn.Hardswish())),
    "graph": lambda: _graph(convert_fx),
    "reference graph": lambda: _graph(convert_to_reference_fx),
}
#: Their inputs may be qint32, so that larger zero points are right.
WIDE = {"BatchNorm2d", "LayerNorm", "GroupNorm", "InstanceNorm3d", "Hardswish", "LeakyReLU"} | {
    "QFunctional",
    "BNReLU3d",
}


def _hostile(state: dict[str, Any], name: str) -> Iterator[tuple[str, Any]]:
    """Each entry that is part of a grid, with what it must not be."""
    for key, value in state.items():
        if "zero_point" in key:
            wide = name in WIDE or "eager" in name or "graph" in name
            for integer in (2**40, -(2**40)) if wide else (300, -200, 2**40):
                yield key, pyqref.full(tuple(value.shape), integer, dtype=pyqref.int64)
            for real in (NAN, 2.5):
                yield key, pyqref.full(tuple(value.shape), real)
        elif "scale" in key:
            for real in (NAN, 0.0, -1.0, INF):
                yield key, pyqref.full(tuple(value.shape), real)


def _plain(state: dict[str, Any]) -> dict[str, str]:
    return {key: repr(value) for key, value in state.items()}


@pytest.mark.parametrize("name", LAYERS)
def test_hostile_grids(name: str) -> None:
    """Each is refused by its key, strict or not, and the model keeps what it had."""
    layer = LAYERS[name]()
    state = layer.state_dict()
    before = _plain(state)
    cases = list(_hostile(state, name))
    assert cases
    for key, value in cases:
        with pytest.raises(RuntimeError, match=rf"{key} must (be|fit)"):
            layer.load_state_dict({**state, key: value}, strict=key.count("zero") == 0)
    assert before == _plain(layer.state_dict())
    layer.load_state_dict(state)


@pytest.mark.parametrize("key", ["scale", "zero_point"])
def test_learned_grids(key: str) -> None:
    """A grid that an optimizer left behind loads, and the next call brings it into range."""
    layer = _LearnableFakeQuantize(tq.MinMaxObserver, 0, 255)
    state = layer.state_dict()
    for wrong in (NAN, INF):
        with pytest.raises(RuntimeError, match=f"{key} must be finite, got {wrong}"):
            layer.load_state_dict({**state, key: pyqref.tensor([wrong])})
    layer.load_state_dict({**state, key: pyqref.tensor([-1.0])})
    assert -1.0 == getattr(layer, key).item()


def test_zero_points_of_graphs() -> None:
    """The message of a graph names the buffer, and the range of the dtype it quantizes to."""
    model = _graph(convert_fx)
    key = next(key for key in model.state_dict() if "_input_zero_point_" in key)
    with pytest.raises(RuntimeError, match=rf"{key} must be an integer in \[0, 255\], got 300"):
        model.load_state_dict({**model.state_dict(), key: pyqref.tensor(300)})
