"""``coverage``: each module path, its qconfig, what it became or why it was left alone."""

from __future__ import annotations

import copy
import io
import pickle
import sys
from typing import Any

import pytest
from quantization.samples import normal

import pyqref
from pyqref import nn
from pyqref import quantization as q


class Head(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.skip, self.fc, self.act = nn.Identity(), nn.Linear(8, 2), nn.GELU()

    def forward(self, x: Any) -> Any:
        return self.act(self.fc(self.skip(x)))


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        pyqref.manual_seed(0)
        self.quant = q.QuantStub()
        self.features = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.ReLU6())
        self.dequant = q.DeQuantStub()
        self.head = Head()

    def forward(self, x: Any) -> Any:
        return self.head(self.dequant(self.features(self.quant(x))))


@pytest.fixture
def model() -> Model:
    model = Model().eval()
    q.fuse_modules(model, [["features.0", "features.1"]], inplace=True)
    model.qconfig = q.default_qconfig
    model.head.qconfig = None
    return model


def fates(model: Any) -> dict[str, tuple[str, str | None]]:
    """Status, and type or reason, of all but containers and parts."""
    return {
        row.path: (row.status, row.became or row.reason)
        for row in q.coverage(model).rows
        if row.status not in ("container", "part")
    }


WORKS = ("as is", "works on quantized tensors as it is")


def expected(status: str, dequant: str | None = None) -> dict[str, tuple[str, str | None]]:
    return {
        "quant": (status, "nn.quantized.Quantize"),
        "features.0": (status, "nn.intrinsic.quantized.LinearReLU"),
        "features.1": WORKS,
        "features.2": (status, "nn.quantized.ReLU6"),
        "dequant": (dequant or status, "nn.quantized.DeQuantize"),
        "head.skip": WORKS,
        "head.fc": ("float", "qconfig is None, from head"),
        "head.act": ("float", "no quantized counterpart for GELU"),
    }


def test_a_float_model(model: Model) -> None:
    """The fates of a float model are planned ones, and looking changes nothing."""
    before = model.__dict__.keys()
    assert expected("planned") == fates(model)
    assert before == model.__dict__.keys()
    assert not hasattr(model.features, "qconfig")


def test_a_prepared_model(model: Model) -> None:
    """No observer stands behind DeQuantStub."""
    assert expected("observed", dequant="planned") == fates(q.prepare(model))


def test_a_converted_model(model: Model) -> None:
    """A converted model tells the same, though its qconfigs and observers are gone."""
    prepared = q.prepare(model)
    prepared(normal(3, 4))
    quantized = q.convert(prepared)
    assert expected("quantized") == fates(quantized)
    row = q.coverage(quantized)["features.0"]
    assert "nn.intrinsic.LinearReLU" == row.type
    assert "MinMaxObserver, MinMaxObserver(qint8)" == row.qconfig
    linear = {row.path: row for row in q.coverage(model).rows}["features.0.0"]
    assert ("part", "part of features.0") == (linear.status, linear.reason)


def test_bytes(model: Model) -> None:
    prepared = q.prepare(model)
    prepared(normal(3, 4))
    found = q.coverage(q.convert(prepared))
    head = 4 * (8 * 2 + 2)
    assert 4 * 8 + 4 * 8 + head == found.weight_bytes
    assert 4 * (4 * 8 + 8) + head == found.float_bytes == q.coverage(model).weight_bytes
    assert {"quantized": 4, "as is": 2, "float": 2} == found.counts


def test_training() -> None:
    model = q.QuantWrapper(nn.Sequential(nn.Linear(3, 3), nn.Conv1d(1, 1, 2))).train()
    model.qconfig = q.default_qat_qconfig
    prepared = q.prepare_qat(model)
    assert ("observed", "nn.quantized.Linear") == fates(prepared)["module.0"]
    assert "Linear" == q.coverage(prepared)["module.0"].type
    prepared.module.append(nn.Identity())
    prepared.module[0](normal(2, 3))
    for observed in (prepared.quant, prepared.module[0], prepared.module[1]):
        observed.activation_post_process(normal(2, 3))
    quantized = q.convert(prepared.eval())
    found = q.coverage(quantized)["module.0"]
    assert ("Linear", "quantized") == (found.type, found.status)


def test_dynamic() -> None:
    model = nn.Sequential(nn.LSTM(3, 4), nn.Linear(4, 4), nn.Conv1d(1, 1, 1), nn.LayerNorm(4))
    quantized = q.quantize_dynamic(model, {nn.LSTM})
    found = fates(quantized)
    assert ("quantized", "nn.quantized.dynamic.LSTM") == found["0"]
    assert ("float", "not asked for: no entry of qconfig_spec fits it") == found["1"]
    assert found["2"][1] == (
        "no dynamically quantized counterpart for Conv1d; prepare and convert have one"
    )
    row = q.coverage(quantized)["0"]
    assert row.float_bytes == 4 * (16 * 3 + 16 * 4 + 32)
    assert row.weight_bytes == 16 * 3 + 16 * 4 + 4 * 32


def test_a_recurrent_layer_in_a_static_model() -> None:
    model = nn.Sequential(nn.GRU(3, 4))
    model.qconfig = q.default_qconfig
    reason = "no statically quantized counterpart for GRU; quantize_dynamic has one"
    assert ("float", reason) == fates(model)["0"]


def test_a_layer_taken_apart_counts_as_one() -> None:
    """``prepare`` takes LSTM apart; it is reported as a whole, and weighed once."""
    model = nn.Sequential(q.QuantStub(), nn.LSTM(3, 4)).eval()
    model.qconfig = q.default_qconfig
    size = 4 * (16 * 3 + 16 * 4 + 32)
    prepared = q.prepare(model)
    prepared(normal(2, 1, 3))
    quantized = q.convert(prepared)
    for stage, status in ((model, "planned"), (prepared, "observed"), (quantized, "quantized")):
        assert (status, "nn.quantized.LSTM") == fates(stage)["1"]
        assert {"0", "1"} == set(fates(stage))
        assert size == q.coverage(stage).float_bytes
    assert 16 * 3 + 16 * 4 + 4 * 32 == q.coverage(quantized).weight_bytes


def test_a_part_converted_before() -> None:
    """A part that was quantized by itself is still known when the whole is converted."""
    inner = q.prepare(q.QuantWrapper(nn.Linear(3, 3)).eval(), {"": q.default_qconfig})
    inner(normal(2, 3))
    outer = nn.Sequential(q.convert(inner), q.QuantStub(), nn.Linear(3, 2)).eval()
    outer[2].qconfig = outer[1].qconfig = q.default_qconfig
    prepared = q.prepare(outer)
    prepared(normal(2, 3))
    found = q.coverage(q.convert(prepared))
    assert ("quantized", "Linear") == (found["0.module"].status, found["0.module"].type)
    assert ("quantized", "Linear") == (found["2"].status, found["2"].type)


def test_what_is_not_reached(model: Model) -> None:
    custom = {"non_traceable_module_name": ["features"]}
    prepared = q.prepare(model, prepare_custom_config_dict=custom)
    reason = "not reached: prepare_custom_config_dict excludes features"
    assert ("float", reason) == fates(prepared)["features.0"]
    prepared(normal(3, 4))
    assert ("float", reason) == fates(q.convert(prepared))["features.0"]


def test_no_qconfig_at_all() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    assert ("float", "no qconfig was given") == fates(model)["0"]
    q.propagate_qconfig_(model)
    assert ("float", "no qconfig was given") == fates(model)["0"]


def test_the_model_itself_is_not_swapped() -> None:
    layer = nn.Linear(2, 2)
    layer.qconfig = q.default_qconfig
    assert ("float", "is the model itself: only submodules are swapped") == fates(layer)[""]


def test_a_model_without_stubs_is_noted() -> None:
    model = nn.Sequential(nn.Linear(2, 2))
    model.qconfig = q.default_qconfig
    assert "there is no QuantStub: 0 will get" in q.coverage(model).notes[0]
    assert () == q.coverage(q.quantize_dynamic(model, strict=True)).notes


def test_a_custom_mapping() -> None:
    class Own(nn.Module):
        pass

    model = q.QuantWrapper(nn.GELU())
    model.qconfig = q.default_qconfig
    mapping = {**q.get_default_static_quant_module_mappings(), nn.GELU: Own}
    assert ("planned", "Own") == (
        q.coverage(model, mapping)["module"].status,
        q.coverage(model, mapping)["module"].became,
    )


def test_the_memory_is_no_part_of_the_model(model: Model) -> None:
    """State dict, printing, copying and saving are as before; a copy remembers."""
    prepared = q.prepare(model)
    prepared(normal(3, 4))
    quantized = q.convert(prepared)
    assert "origin" not in repr(quantized)
    assert not any("origin" in key for key in quantized.state_dict())
    assert fates(quantized) == fates(copy.deepcopy(quantized))
    assert fates(quantized) == fates(pickle.loads(pickle.dumps(quantized)))
    outer = nn.Sequential(quantized)
    assert ("float", "qconfig is None, from head") == fates(outer)["0.head.fc"]


def test_the_table(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """The table is made by rich where it is installed, and is plain text without it."""
    pytest.importorskip("rich")
    found = q.coverage(model)
    monkeypatch.setenv("COLUMNS", "160")
    for text in (str(found), found.plain()):
        assert "nn.intrinsic.quantized.LinearReLU" in text
        assert "qconfig is None, from head" in text
        assert "planned: 4" in text
    assert str(found) != found.plain()
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert str(found) == found.plain()
    page = io.StringIO()
    print(found, file=page)
    assert found.plain() + "\n" == page.getvalue()


@pytest.mark.parametrize("bad", [None, nn.Linear, {"a": 1}])
def test_what_is_no_module_is_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match="coverage: the model must be a Module"):
        q.coverage(bad)


def test_an_unknown_path(model: Model) -> None:
    with pytest.raises(KeyError, match="no module 'fc'"):
        q.coverage(model)["fc"]
