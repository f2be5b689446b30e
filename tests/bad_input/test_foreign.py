"""Tensors of torch, arrays and others where a tensor is wanted: the message says what to write.

A class that looks like torch's stands in for it, so that this needs no torch.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as q


class Tensor:
    requires_grad = False
    shape = (3, 4)
    dtype = "torch.float32"

    def numpy(self) -> Any:
        return np.ones(self.shape, np.float32)


Tensor.__module__ = "torch"
T: Any = Tensor()
OURS = pyqref.ones(3, 4)


def observed(recipe: Any) -> Callable[[], Any]:
    return lambda: recipe()(T)


PLACES: dict[str, Callable[[], Any]] = {
    "linear": lambda: nn.Linear(4, 4)(T),
    "conv": lambda: nn.Conv2d(1, 1, 1)(T),
    "relu": lambda: nn.ReLU()(T),
    "batch norm": lambda: nn.BatchNorm1d(4)(T),
    "lstm": lambda: nn.LSTM(4, 4)(T),
    "embedding": lambda: nn.Embedding(4, 4)(T),
    "loss": lambda: nn.MSELoss()(OURS, T),
    "add": lambda: OURS + T,
    "reflected": lambda: T * OURS,
    "matmul": lambda: OURS @ T,
    "cat": lambda: pyqref.cat([OURS, T]),
    "where": lambda: pyqref.where(OURS > 0, OURS, T),
    "sigmoid": lambda: pyqref.sigmoid(T),
    "abs": lambda: pyqref.abs(T),
    "sum": lambda: pyqref.sum(T),
    "mean": lambda: pyqref.mean(T),
    "from_numpy": lambda: pyqref.from_numpy(T),
    "optimizer": lambda: pyqref.optim.SGD([T], lr=0.1),
    "max": lambda: pyqref.max(T),
    "copy": lambda: OURS.copy_(T),
    "parameter": lambda: nn.Parameter(T),
    "data": lambda: setattr(nn.Linear(1, 1).weight, "data", T),
    "weight": lambda: setattr(nn.Linear(1, 1), "weight", T),
    "buffer": lambda: nn.Module().register_buffer("a", T),
    "state": lambda: nn.Linear(4, 3).load_state_dict({"weight": T, "bias": pyqref.ones(3)}),
    "init": lambda: nn.init.kaiming_uniform_(T),
    "quantize": lambda: pyqref.quantize_per_tensor(T, 0.1, 0, pyqref.quint8),
    "quantized layer": lambda: nn.quantized.Linear(4, 4)(T),
    "dynamic layer": lambda: nn.quantized.dynamic.Linear(4, 4)(T),
    "quantized function": lambda: pyqref.ops.quantized.add(T, T, 0.1, 0),
    "functional": lambda: nn.quantized.FloatFunctional().add(T, T),
    "observer": observed(q.MinMaxObserver),
    "channels": observed(q.PerChannelMinMaxObserver),
    "histogram": observed(q.HistogramObserver),
    "fake quantizer": observed(q.FakeQuantize),
    "sort": lambda: pyqref.sort(T),
    "argsort": lambda: pyqref.argsort(T),
    "dynamic function": lambda: pyqref.ops.quantized.linear_prepack_fp16(T),
    "gradient": lambda: setattr(pyqref.ones(1), "grad", T),
    "index": lambda: OURS[T],
}


@pytest.mark.parametrize("place", PLACES)
def test_a_tensor_of_torch(place: str) -> None:
    with pytest.raises(
        (TypeError, RuntimeError), match=r"tensor of torch.*pyqref\.from_dlpack\(t\)"
    ):
        PLACES[place]()


OBSERVERS = (
    *(q.MinMaxObserver, q.MovingAverageMinMaxObserver, q.PerChannelMinMaxObserver),
    *(q.MovingAveragePerChannelMinMaxObserver, q.HistogramObserver, q.FakeQuantize),
    *(q.FusedMovingAvgObsFakeQuantize, q.RecordingObserver),
)


@pytest.mark.parametrize("observer", OBSERVERS, ids=lambda each: each.__name__)
def test_observers_take_tensors(observer: Any) -> None:
    name = observer.__name__
    with pytest.raises(TypeError, match=rf"{name}.*ndarray; write pyqref\.from_numpy\(array\)"):
        observer()(np.ones(3, np.float32))
    with pytest.raises(TypeError, match=rf"{name}.*NoneType"):
        observer()(None)
    with pytest.raises(TypeError, match=rf"{name}.*list"):
        observer()([1.0])


INITS = [
    *("zeros_", "ones_", "uniform_", "normal_", "trunc_normal_", "eye_", "dirac_", "orthogonal_"),
    *("xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_"),
]


@pytest.mark.parametrize("name", INITS)
def test_init_takes_tensors(name: str) -> None:
    fill = getattr(nn.init, name)
    for value, kind in ((None, "NoneType"), ([1.0], "list"), (np.ones((2, 2)), "ndarray; write")):
        with pytest.raises(TypeError, match=rf"{name}\(\): argument 'tensor' .* not {kind}"):
            fill(value)
    with pytest.raises(TypeError, match=r"not Linear; give a parameter of it"):
        fill(nn.Linear(2, 2))


class Keeps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.kept: Any = None

    def forward(self, x: Any) -> Any:
        self.kept = self.layer(x)
        return self.kept


COPIES: dict[str, Callable[[Any], Any]] = {
    "deepcopy": copy.deepcopy,
    "prepare": q.prepare,
    "prepare_qat": lambda model: q.prepare_qat(model.train()),
    "convert": q.convert,
    "quantize_dynamic": q.quantize_dynamic,
    "fuse_modules": lambda model: q.fuse_modules(model, []),
    "quantize": lambda model: q.quantize(model, lambda prepared: None, []),
}


@pytest.mark.parametrize("name", COPIES)
def test_a_kept_tensor_is_named(name: str) -> None:
    """An attribute of a module, and an entry of a list of it."""
    model = nn.Sequential(nn.Sequential(Keeps())).eval()
    model.qconfig = q.default_qat_qconfig if name == "prepare_qat" else q.default_qconfig
    model(pyqref.ones(1, 2))
    with pytest.raises(RuntimeError, match=r"'0\.0\.kept' holds one that an operation made"):
        COPIES[name](model)
    model[0][0].kept = [model[0][0].kept]
    with pytest.raises(RuntimeError, match=r"'0\.0\.kept' holds"):
        COPIES[name](model)


WRONG: dict[str, tuple[Any, str]] = {
    "text": ("fbgemm", r"'fbgemm'; write get_default_qconfig\('fbgemm'\)"),
    "dictionary": ({"": q.default_qconfig}, r"a dict; .*qconfig_dict of prepare"),
    "mapping": (q.QConfigMapping(), r"a QConfigMapping; .*global_qconfig"),
    "function": (q.get_default_qconfig, r"call it: get_default_qconfig\(\)"),
    "observer class": (q.MinMaxObserver, r"the class MinMaxObserver; .*QConfig\(activation"),
    "observer recipe": (q.default_observer, r"put it into one: QConfig\(activation"),
    "observer": (q.MinMaxObserver(), r"put it into one: QConfig\(activation"),
    "class": (q.QConfig, r"the class QConfig; make one: QConfig\(activation="),
    "layer": (nn.Linear(1, 1), "a Linear; write default_qconfig"),
    "number": (3, "3; write default_qconfig"),
}


def with_attribute(value: Any) -> Any:
    model = q.QuantWrapper(nn.Linear(2, 2)).eval()
    model.module.qconfig = value
    return model


USES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "prepare": (lambda value: q.prepare(with_attribute(value)), r"module\.qconfig"),
    "prepare_qat": (lambda value: q.prepare_qat(with_attribute(value).train()), r"module\.qconfig"),
    "convert": (lambda value: q.convert(with_attribute(value)), r"module\.qconfig"),
    "propagate": (lambda value: q.propagate_qconfig_(with_attribute(value)), r"module\.qconfig"),
    "dynamic": (lambda value: q.quantize_dynamic(with_attribute(value)), r"module\.qconfig"),
    "dictionary": (lambda value: q.prepare(nn.Linear(1, 1), {"": value}), "entry for ''"),
    "dynamic dictionary": (
        lambda value: q.quantize_dynamic(nn.Linear(1, 1), {nn.Linear: value}),
        "entry for Linear",
    ),
    "global": (lambda value: q.QConfigMapping().set_global(value), "global_qconfig"),
    "type": (lambda value: q.QConfigMapping().set_object_type(nn.Linear, value), "qconfig"),
    "name": (lambda value: q.QConfigMapping().set_module_name("a", value), "qconfig"),
    "order": (
        lambda value: q.QConfigMapping().set_module_name_object_type_order("a", len, 0, value),
        "qconfig",
    ),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", WRONG)
def test_what_is_no_qconfig(name: str, use: str) -> None:
    (value, remedy), (call, where) = WRONG[name], USES[use]
    with pytest.raises(TypeError, match=rf"(?s){where}.* must be a QConfig.*{remedy}"):
        call(value)


def test_a_single_name_is_written_as_a_set() -> None:
    model = nn.Sequential(nn.Linear(1, 1))
    for spec, written in (("fc1", r"\{'fc1'\}"), (nn.LSTM, r"\{nn\.LSTM\}"), (3, r"\{nn.Linear\}")):
        with pytest.raises(TypeError, match=f"set or a dictionary, got .*; write {written}"):
            q.quantize_dynamic(model, spec)
