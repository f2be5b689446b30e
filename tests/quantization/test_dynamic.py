"""``quantize_dynamic``: what is quantized, how, and what is reported."""

from __future__ import annotations

import warnings
from typing import Any

import pytest
from quantization.samples import normal

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.nn.quantized import dynamic as nnqd


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        pyqref.manual_seed(0)
        self.lstm = nn.LSTM(4, 8)
        self.head = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))

    def forward(self, x: Any) -> Any:
        return self.head(self.lstm(x)[0][-1])


@pytest.fixture
def model() -> Model:
    return Model()


def test_simplest_use(model: Model) -> None:
    """Documented: linear and recurrent layers, weights qint8."""
    quantized = q.quantize_dynamic(model)
    assert nnqd.LSTM is type(quantized.lstm)
    assert (nnqd.Linear, nn.ReLU) == (type(quantized.head[0]), type(quantized.head[1]))
    x = normal(5, 3, 4)
    assert (model(x) - quantized(x)).abs().max().item() < 0.05
    assert nn.LSTM is type(model.lstm)
    assert not quantized.training


def test_float16(model: Model) -> None:
    quantized = q.quantize_dynamic(model, dtype=pyqref.float16)
    x = normal(5, 3, 4)
    assert (model(x) - quantized(x)).abs().max().item() < 2e-3


@pytest.mark.parametrize("spec", [{nn.Linear}, {"head"}, {nn.Linear: q.default_dynamic_qconfig}])
def test_what_is_listed_is_quantized(model: Model, spec: Any) -> None:
    quantized = q.quantize_dynamic(model, spec)
    assert nn.LSTM is type(quantized.lstm)
    assert (nnqd.Linear, nnqd.Linear) == (type(quantized.head[0]), type(quantized.head[2]))


def test_names_and_their_exceptions(model: Model) -> None:
    """A qconfig goes to all below, unless they have one."""
    model.head[2].qconfig = None
    quantized = q.quantize_dynamic(model, {"head": q.default_dynamic_qconfig})
    assert (nnqd.Linear, nn.Linear) == (type(quantized.head[0]), type(quantized.head[2]))


def test_qconfigs_decide_the_dtype(model: Model) -> None:
    """Documented: with qconfigs, dtype is not looked at."""
    spec = {"head.0": q.default_dynamic_qconfig, "head.2": q.float16_dynamic_qconfig}
    quantized = q.quantize_dynamic(model, spec, dtype=pyqref.float16)
    assert pyqref.qint8 is quantized.head[0].weight().dtype
    assert pyqref.qint8 is not quantized.head[2].weight().dtype


def test_per_channel(model: Model) -> None:
    quantized = q.quantize_dynamic(model, {nn.Linear: q.per_channel_dynamic_qconfig})
    assert pyqref.per_channel_affine is quantized.head[0].weight().qscheme()


def test_inplace(model: Model) -> None:
    assert model is q.quantize_dynamic(model, inplace=True)
    assert nnqd.LSTM is type(model.lstm)


def test_a_class_that_cannot_be_quantized_is_reported() -> None:
    model = nn.Sequential(nn.Conv2d(1, 1, 1), nn.Linear(2, 2))
    with pytest.warns(q.NotQuantizedWarning, match=r"cannot quantize 0 \(Conv2d\).*Linear"):
        q.quantize_dynamic(model, {nn.Conv2d, nn.Linear})


def test_what_fits_nothing_is_reported(model: Model) -> None:
    with pytest.warns(UserWarning, match="GRU fits no submodule"):
        q.quantize_dynamic(model, {nn.Linear, nn.GRU})
    with pytest.warns(UserWarning, match="'haed' fits no submodule; did you mean 'head'"):
        q.quantize_dynamic(model, {nn.Linear, "haed"})


def test_nothing_to_quantize_is_reported() -> None:
    with pytest.warns(UserWarning, match="nothing was quantized"):
        q.quantize_dynamic(nn.Sequential(nn.ReLU()))


def test_an_unknown_dtype_is_refused(model: Model) -> None:
    with pytest.raises(ValueError, match=r"dtype must be qint8 .* got pyqref.int8"):
        q.quantize_dynamic(model, dtype=pyqref.int8)


def test_a_bare_class_is_refused(model: Model) -> None:
    with pytest.raises(TypeError, match="set or a dictionary"):
        q.quantize_dynamic(model, nn.Linear)


def test_the_ordinary_case_is_silent(model: Model) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        q.quantize_dynamic(model, {nn.LSTM, nn.Linear}, dtype=pyqref.qint8)


def test_a_mapping_of_the_users(model: Model) -> None:
    class Own(nn.Linear):
        @classmethod
        def from_float(cls, mod: Any) -> Any:
            return cls(mod.in_features, mod.out_features)

    quantized = q.quantize_dynamic(model, {nn.Linear}, mapping={nn.Linear: Own})
    assert Own is type(quantized.head[0])
