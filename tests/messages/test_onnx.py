"""Following the messages about files of ONNX works."""

from __future__ import annotations

from pathlib import Path

import pytest
from messages.following import says

import pyqref
from pyqref import export, nn, quantization

pytest.importorskip("onnx")


def test_not_converted(tmp_path: Path) -> None:
    """A prepared model, and one with stubs, are converted first."""
    model = quantization.QuantWrapper(nn.Linear(2, 2)).eval()
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    path, x = tmp_path / "model.onnx", pyqref.ones(1, 2)
    with says("call convert first"):
        export.onnx(model, x, path)
    prepared = quantization.prepare(model)
    prepared(x)
    export.onnx(quantization.convert(prepared), x, path)
    with says("call convert or convert_fx first"):
        export.onnx(nn.Sequential(quantization.MinMaxObserver()), x, path)


def test_training_mode(tmp_path: Path) -> None:
    """Dropout and batch norm in training have no operator."""
    path, x = tmp_path / "model.onnx", pyqref.ones(2, 2)
    for layer in (nn.Dropout(), nn.BatchNorm1d(2)):
        model = nn.Sequential(layer)
        with says("call model.eval() first"):
            export.onnx(model, x, path)
        export.onnx(model.eval(), x, path)


def test_what_to_give_instead(tmp_path: Path) -> None:
    """Softmax with an axis; bags of one size; padding by zeros; weights of 8 bits."""
    path = tmp_path / "model.onnx"

    class Softmax(nn.Module):
        def __init__(self, dim: int | None) -> None:
            super().__init__()
            self.dim = dim

        def forward(self, x: pyqref.Tensor) -> pyqref.Tensor:
            return nn.functional.softmax(x, self.dim)

    with says("say along which axis"):
        export.onnx(Softmax(None), pyqref.ones(2, 2), path)
    export.onnx(Softmax(-1), pyqref.ones(2, 2), path)
    bag = nn.quantized.EmbeddingBag(4, 2)
    with says("give indices (bags, size)"):
        index = pyqref.tensor([0, 1, 2])
        export.onnx(bag, (index, pyqref.tensor([0, 2])), path)
    export.onnx(bag, pyqref.tensor([[0, 1], [2, 3]]), path)
    with says("use 'zeros'"):
        conv = nn.Conv1d(1, 1, 3, padding=1, padding_mode="reflect").eval()
        export.onnx(conv, pyqref.ones(1, 1, 4), path)
    export.onnx(nn.Conv1d(1, 1, 3, padding=1).eval(), pyqref.ones(1, 1, 4), path)


def test_steps_that_follow_the_batch(tmp_path: Path) -> None:
    """Sequences come first, so that their number may be left open."""
    path, x = tmp_path / "model.onnx", pyqref.ones(2, 3, 4)
    with says("use batch_first=True"):
        export.onnx(nn.GRU(4, 2).eval(), x, path, dynamic_batch=True)
    export.onnx(nn.GRU(4, 2, batch_first=True).eval(), x, path, dynamic_batch=True)
