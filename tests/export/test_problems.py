"""The exporter names every problem at once, and leaves no file behind."""

from __future__ import annotations

import sys

import pytest

import pyqref
from pyqref import export, nn, quantization

pytest.importorskip("onnx")


class Odd(nn.Module):
    """Two parts without an operator, and one with."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 4), nn.Softmin(-1))

    def forward(self, x):
        return pyqref.sort(self.body(x)).values


def test_all_problems_at_once(tmp_path):
    """One error has all parts with their paths; no file is written."""
    with pytest.raises(export.UnsupportedError, match="cannot export 2 part") as caught:
        export.onnx(Odd().eval(), pyqref.ones(2, 4), tmp_path / "model.onnx")
    assert ["body.1", "sort"] == [each.path for each in caught.value.problems]
    assert [] == list(tmp_path.iterdir())


def test_code_that_decides_by_values(tmp_path):
    """Branches over elements are no graph."""

    class Branches(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(export.UnsupportedError, match="decides by values"):
        export.onnx(Branches(), pyqref.ones(2), tmp_path / "model.onnx")


def test_a_number_that_follows_the_batch(tmp_path):
    """A length of the batch cannot be a constant; with a fixed batch it can."""

    class Mean(nn.Module):
        def forward(self, x):
            return x.sum(0) / x.size(0)

    with pytest.raises(export.UnsupportedError, match="follows the size of the batch"):
        export.onnx(Mean(), pyqref.ones(2, 3), tmp_path / "model.onnx", dynamic_batch=True)
    export.onnx(Mean(), pyqref.ones(2, 3), tmp_path / "model.onnx")


def test_wrong_arguments(tmp_path):
    """Each is named."""
    model, x, path = nn.Linear(2, 2), pyqref.ones(1, 2), tmp_path / "model.onnx"
    with pytest.raises(TypeError, match="model must be a Module, got"):
        export.onnx(None, x, path)
    with pytest.raises(TypeError, match="example_inputs must be tensors, got"):
        export.onnx(model, [1, 2], path)
    with pytest.raises(ValueError, match="style must be 'qdq', 'qoperator' or 'exact', got"):
        export.onnx(model, x, path, style="int8")
    with pytest.raises(TypeError, match="Linear cannot be called with 2 tensors: too many"):
        export.onnx(model, (x, x), path)
    with pytest.raises(TypeError, match="Linear cannot be called with 0 tensors: missing"):
        export.onnx(model, (), path)
    with pytest.raises(FileNotFoundError, match="the folder"):
        export.onnx(model, x, tmp_path / "none" / "model.onnx")


def test_a_killed_export_leaves_the_old_file(tmp_path, monkeypatch):
    """Written as a whole or not at all."""
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    monkeypatch.setattr("os.replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        export.onnx(nn.Linear(2, 2).eval(), pyqref.ones(1, 2), path)
    assert [b"old"] == [each.read_bytes() for each in tmp_path.iterdir()]


def test_qint32_has_no_operator(tmp_path):
    """Activations have 8 bits."""
    model = nn.quantized.Quantize(0.5, 0, pyqref.qint32)
    with pytest.raises(export.UnsupportedError, match="only to quint8 and qint8"):
        export.onnx(model, pyqref.ones(2), tmp_path / "model.onnx")


def test_a_prepared_model(tmp_path):
    """It has observers, which compute nothing."""
    model = nn.Sequential(quantization.QuantStub(), nn.Linear(2, 2)).eval()
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(model)
    with pytest.raises(export.UnsupportedError, match="not converted"):
        export.onnx(prepared, pyqref.ones(1, 2), tmp_path / "model.onnx")
    assert "pyqref.export" in sys.modules


def test_the_package_is_missing(tmp_path, monkeypatch):
    """The message has the command that installs it."""
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"run: pip install 'pyqref\[onnx\]'"):
        export.onnx(nn.Linear(2, 2).eval(), pyqref.ones(1, 2), tmp_path / "model.onnx")
