"""Models in notebooks: a row a module, with number types, scales and errors."""

from __future__ import annotations

from xml.etree import ElementTree

import pyqref
from pyqref import measure, nn


def rows(model):
    """The texts of the cells, by the name of the module."""
    page = ElementTree.fromstring(model._repr_html_())
    return {
        row[0][0].text: ["".join(cell.itertext()) for cell in row]
        for row in page.iter("tr")
        if len(row[0])
    }


def quantized_model():
    model = nn.Sequential(
        pyqref.quantization.QuantStub(), nn.Linear(4, 2), pyqref.quantization.DeQuantStub()
    ).eval()
    model.qconfig = pyqref.quantization.get_default_qconfig("fbgemm")
    prepared = pyqref.quantization.prepare(model)
    prepared(pyqref.rand(8, 4))
    return prepared, pyqref.quantization.convert(prepared)


def test_quantized_layer_shows_type_scale_and_half_a_step():
    _, model = quantized_model()
    model[1].scale, model[1].zero_point = 0.5, 3
    assert ["1", "Linear", "qint8, per channel", "0.5", "3", "± 0.25"] == rows(model)["1"]


def test_observers_show_what_they_saw():
    prepared, _ = quantized_model()
    prepared[1].activation_post_process.min_val.fill_(-1.0)
    prepared[1].activation_post_process.max_val.fill_(2.0)
    page = prepared._repr_html_()
    assert "saw -1 … 2" in page


def test_measured_ratios_are_shown():
    _, model = quantized_model()
    measure.annotate(model, {"1": 31.24})
    assert rows(model)["1"][-1].startswith("31.2 dB, ±")


def test_float_model_and_packed_weights():
    """The inside of packed weights is no row of its own."""
    _, model = quantized_model()
    assert "_packed_params" not in rows(model)
    assert "float32" == rows(nn.Sequential(nn.Linear(2, 2)))["0"][2]


def test_names_are_escaped():
    model = nn.Module()
    model.add_module("<script>alert(1)</script>", nn.ReLU())
    page = model._repr_html_()
    assert "<script" not in page
    assert "<script>alert(1)</script>" in rows(model)


def test_long_models_are_cut():
    model = nn.Sequential(*[nn.ReLU() for _ in range(300)])
    assert "and 101 more modules" in model._repr_html_()
