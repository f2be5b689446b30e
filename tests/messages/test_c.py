"""Following the messages about models in C works."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from messages.following import says

import pyqref
from pyqref import export, nn, quantization
from pyqref.nn import quantized as nnq
from pyqref.nn.intrinsic import quantized as nniq
from pyqref.quantization import get_default_qconfig_mapping
from pyqref.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx


def quantize(dtype: Any = pyqref.quint8, scale: float = 0.1) -> Any:
    return nnq.Quantize(pyqref.tensor([scale]), pyqref.tensor([10]), dtype)


X, PICTURE = pyqref.ones(1, 4), pyqref.ones(1, 2, 4, 4)


class Joined(nn.Module):
    """Real numbers of two grids side by side."""

    def __init__(self, first: bool) -> None:
        super().__init__()
        self.one, self.other, self.first = quantize(), quantize(scale=0.2), first

    def forward(self, x: Any) -> Any:
        pair = [self.one(x[:, :2]), self.one(x[:, 2:])]
        if self.first:
            pair[1] = pyqref.quantize_per_tensor(pair[1].dequantize(), 0.2, 10, pyqref.quint8)
            return self.one(pyqref.cat([each.dequantize() for each in pair], 1))
        return pyqref.cat(pair, 1)


class TwoGrids(nn.Module):
    """An input that is quantized twice."""

    def __init__(self, two: bool) -> None:
        super().__init__()
        self.one, self.other = quantize(), quantize(scale=0.2 if two else 0.1)

    def forward(self, x: Any) -> Any:
        return self.one(x), self.other(x)


def test_models(tmp_path: Path) -> None:
    """Each problem names its remedy, with which the model is written."""

    def write(x: Any, *layers: Any) -> None:
        model = layers[0] if len(layers) == 1 else nn.Sequential(*layers)
        export.c(model, tmp_path / "model.c", example_inputs=x)

    with says("use a qconfig with quint8 activations"):
        write(X, quantize(pyqref.qint8))
    with says("begin the model with a QuantStub, or use prepare_fx"):
        write(X, nn.Identity())
    with says("give its layer a qconfig, or leave it out of the exported model"):
        write(X, nn.ReLU(), quantize())
    write(X, quantize())
    with says("use 'nearest'"):
        write(PICTURE, quantize(), nn.Upsample(scale_factor=2, mode="bilinear"))
    write(PICTURE, quantize(), nn.Upsample(scale_factor=2, mode="nearest"))
    with says("quantize them first"):
        write(X, Joined(True))
    write(X, Joined(False))
    with says("quantize it once"):
        write(X, TwoGrids(True))
    write(X, TwoGrids(False))
    with says("quantize the two layers one by one"):
        write(X, quantize(), nniq.LinearLeakyReLU(4, 2, 0.1))
    with says("quantize it statically"):
        write(X, nn.Sequential(nnq.dynamic.Linear(4, 2)))
    write(X, quantize(), nnq.Linear(4, 2), nnq.LeakyReLU(1.0, 0, 0.1))


def test_arguments(tmp_path: Path) -> None:
    """The inputs, the name of the file, the name of the function."""
    path, model = tmp_path / "model.c", nn.Sequential(quantize(), nnq.Conv2d(2, 2, 1))
    wrong: Callable[..., Any] = export.c
    with says("give tensors as example_inputs"):
        wrong(model, PICTURE, path)
    with says("give example_inputs=, a tensor or a tuple of tensors"):
        export.c(model, path)
    export.c(model, path, example_inputs=PICTURE)
    for name in ("my-net", "int"):
        with says("give name="):
            export.c(model, tmp_path / f"{name}.c", example_inputs=PICTURE)
        export.c(model, tmp_path / f"{name}.c", example_inputs=PICTURE, name="my_net")


def test_one_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Layers are packed for the engine that is set."""
    layers = [quantize()]
    for engine in ("fbgemm", "qnnpack"):
        monkeypatch.setattr(pyqref.backends.quantized, "engine", engine)
        layers.append(nnq.Linear(4, 4))
    with says("convert all layers for one"):
        export.c(nn.Sequential(*layers), tmp_path / "model.c", example_inputs=X)
    export.c(nn.Sequential(*layers[::2]), tmp_path / "model.c", example_inputs=X)


def test_reference_model(tmp_path: Path) -> None:
    """It is prepared again, and converted."""
    model, x = nn.Sequential(nn.Linear(4, 2)).eval(), pyqref.randn(9, 4)

    def prepared() -> Any:
        made = prepare_fx(model, get_default_qconfig_mapping("fbgemm"), (x,))
        made(x)
        return made

    with says("use convert_fx"):
        export.c(convert_to_reference_fx(prepared()), tmp_path / "model.c", example_inputs=x)
    export.c(convert_fx(prepared()), tmp_path / "model.c", example_inputs=x)


def test_stub(tmp_path: Path) -> None:
    """A wrapped model has a stub, which becomes the grid of the input."""
    model = quantization.QuantWrapper(nn.Linear(4, 2)).eval()
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(model)
    prepared(pyqref.randn(9, 4))
    export.c(quantization.convert(prepared), tmp_path / "model.c")
