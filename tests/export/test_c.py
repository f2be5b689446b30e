"""Models written as C give the integers of this package, in either style."""

from __future__ import annotations

import random
import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from export.c_networks import GRID, Everything, image
from export.compiled import COMPILERS, EMULATED, SANITIZED, compiled, results
from export.models import made

import pyqref
from pyqref import export, nn, quantization
from pyqref.export.memory import Life, least_memory, placed
from pyqref.numerics.softmax_integers import softmax_of_integers

needs_compiler = pytest.mark.skipif(not COMPILERS, reason="neither gcc nor clang is installed")


def in_integers(model, x):
    """Run a model in the arithmetic of TFLite, where that has a rule."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says where the engine computes
        with pyqref.arithmetic.use("tflite"):
            return model(x)


@needs_compiler
@pytest.mark.parametrize(
    ("style", "engine"),
    [("integer", "fbgemm"), ("float-multiplier", "fbgemm"), ("float-multiplier", "qnnpack")],
)
def test_every_kind_of_layer(style, engine, tmp_path, monkeypatch):
    """``eq-requantize``, or ``eq-multiply-rounded-twice``: the same integers in all layers.

    The compiler has all warnings, and the sanitizers find nothing. Of softmax in integers the
    equation is ``eq-softmax-integers``.
    """
    monkeypatch.setattr(pyqref.backends.quantized, "engine", engine)
    model, integers = Everything(), image(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", quantization.UnlikeGridsWarning)
        program = export.c(
            model, tmp_path / "net.c", style, example_inputs=pyqref.zeros(1, 6, 9, 7)
        )
        found = results(program, compiled(program, COMPILERS[0]), integers)
        inputs = [
            pyqref._make_per_tensor_quantized_tensor(pyqref.tensor(n), *GRID) for n in integers
        ]
        run = in_integers if style == "integer" else lambda model, x: model(x)
        expected = [run(model, x.dequantize()) for x in inputs]
    assert len(found) == len(expected[0])
    assert program.engine == engine
    assert program.peak == program.least
    for n, rows in enumerate(found):
        whole = [each[n].int_repr().numpy() for each in expected]
        if style == "integer" and n in Everything.OF_SOFTMAX:
            layer = model.softmax[n - Everything.OF_SOFTMAX[0]]
            lines = np.moveaxis(integers, layer.dim + (layer.dim > 0), -1)
            made_ = softmax_of_integers(lines, GRID[0], layer.scale, layer.zero_point)
            whole = list(np.moveaxis(made_, -1, layer.dim + (layer.dim > 0)))
        assert np.array_equal(rows, np.stack(whole).reshape(rows.shape)), f"output {n}"
    text = Path(program.source).read_text()
    assert ["stdint.h"] == re.findall("include <(.*)>", text + Path(program.header).read_text())
    assert style != "integer" or not re.search("float|double", text)


@pytest.mark.parametrize(
    "compiler", ["gcc", "clang", "aarch64-linux-gnu-gcc", "arm-linux-gnueabihf-gcc"]
)
def test_a_small_network(compiler, tmp_path):
    """A network of graph mode with a sum and a join, of which the header has both ends.

    The programs for ARM run under qemu.
    """
    if compiler not in (*COMPILERS, *EMULATED):
        pytest.skip(f"{compiler} and what runs its programs are not installed")
    options = ["-O2", "-static"] if compiler in EMULATED else SANITIZED
    model, x = made("graph")
    program = export.c(model, tmp_path / "graph.c", "float-multiplier", example_inputs=x[:1])
    ends = re.findall(r"scale (\S+), zero point (\d+)", Path(program.header).read_text())
    (scale, zero), (out, out_zero) = [(float(s), int(z)) for s, z in ends]
    integers = pyqref.quantize_per_tensor(x, scale, zero, pyqref.quint8).int_repr().numpy()
    runner = EMULATED.get(compiler, "")
    (found,) = results(program, compiled(program, compiler, options), integers, runner=runner)
    real = (found.astype(np.int64) - out_zero).astype(np.float32) * np.float32(out)
    assert np.array_equal(real, model(x).numpy())


def test_no_two_buffers_overlap():
    """Whatever the lives of buffers: those that meet are apart, below the peak."""
    chance = random.Random(0)
    for _ in range(20):
        lives = []
        for first in range(12):
            lives.append(Life(first, first + chance.randrange(5), chance.randrange(1, 9)))
        offsets, peak = placed(lives)
        assert least_memory(lives) <= peak
        for n, a in enumerate(lives):
            assert offsets[n] + a.size <= peak
            for m, b in enumerate(lives[:n]):
                apart = offsets[n] + a.size <= offsets[m] or offsets[m] + b.size <= offsets[n]
                assert apart or not a.meets(b)


class Odd(nn.Module):
    """Three parts that have no form in C, and one that has."""

    def __init__(self):
        super().__init__()
        self.quant = nn.quantized.Quantize(pyqref.tensor([0.1]), pyqref.tensor([0]), pyqref.quint8)
        self.norm = nn.quantized.LayerNorm((4,), pyqref.ones(4), pyqref.zeros(4), 0.1, 0)
        self.body, self.last = nn.Softmin(-1), nn.quantized.Linear(4, 4)

    def forward(self, x):
        return pyqref.sort(self.body(self.norm(self.last(self.quant(x))).dequantize())).values


def test_all_problems_at_once(tmp_path):
    """One error has all of them, the name of the file too; no file is written."""
    with pytest.raises(export.UnsupportedError, match=r"export.c cannot export 5 part") as caught:
        export.c(Odd(), tmp_path / "my-model.txt", example_inputs=pyqref.ones(1, 4))
    paths = [each.path for each in caught.value.problems]
    assert ["path", "name", "norm", "body", "sort"] == paths
    assert [] == list(tmp_path.iterdir())


def test_what_no_c_is_written_for(tmp_path):
    """Models that are not converted, of real numbers, that decide by values, of signed bytes."""
    path, x = tmp_path / "model.c", pyqref.ones(1, 2)
    model = nn.Sequential(quantization.QuantStub(), nn.Linear(2, 2)).eval()
    with pytest.raises(export.UnsupportedError, match="not converted"):
        export.c(model, path, example_inputs=x)
    dynamic = quantization.quantize_dynamic(nn.Sequential(nn.Linear(2, 2)), {nn.Linear})
    with pytest.raises(export.UnsupportedError, match="its grid while it runs"):
        export.c(dynamic, path, example_inputs=x)

    class Branches(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    with pytest.raises(export.UnsupportedError, match="decides by values"):
        export.c(Branches(), path, example_inputs=x)

    class Silent(nn.Module):
        def forward(self, x):
            return None

    with pytest.raises(export.UnsupportedError, match="the model gives no tensor") as caught:
        export.c(Silent(), path, example_inputs=x[:0])
    assert "its example has no elements" in str(caught.value)
    signed = nn.quantized.Quantize(pyqref.tensor([0.1]), pyqref.tensor([0]), pyqref.qint8)
    with pytest.raises(export.UnsupportedError, match="quint8 activations"):
        export.c(signed, path, example_inputs=x)
    assert [] == list(tmp_path.iterdir())


def test_wrong_arguments(tmp_path):
    """Each is named."""
    model, x, path = nn.quantized.Linear(2, 2), pyqref.ones(1, 2), tmp_path / "model.c"
    with pytest.raises(TypeError, match="model must be a Module, got"):
        export.c(None, path)
    with pytest.raises(TypeError, match="path must be a path, got"):
        export.c(model, x, path)
    with pytest.raises(TypeError, match="example_inputs must be tensors, got"):
        export.c(model, path, example_inputs=[1])
    with pytest.raises(TypeError, match="name must be a string, got 3"):
        export.c(model, path, name=3)
    with pytest.raises(ValueError, match="style must be 'integer' or 'float-multiplier', got"):
        export.c(model, path, "int8")
    with pytest.raises(export.UnsupportedError, match="'int' is a word of C"):
        export.c(*made("eager")[:1], path, example_inputs=made("eager")[1], name="int")


def test_a_huge_model(tmp_path, monkeypatch):
    """More constants than compilers take are refused."""
    monkeypatch.setattr("pyqref.export.to_c.LARGEST", 1000)
    model, x = made("eager")
    with pytest.raises(export.UnsupportedError, match="MiB, more than 0: export its parts"):
        export.c(model, tmp_path / "model.c", example_inputs=x)
    assert [] == list(tmp_path.iterdir())


def test_a_failed_export_leaves_the_old_files(tmp_path, monkeypatch):
    """Both files are written, or neither."""
    (tmp_path / "model.c").write_bytes(b"old")
    (tmp_path / "model.h").write_bytes(b"old")
    real = pyqref.serialization.atomic.os.replace

    def replace(part, path):
        if path.endswith(".c"):
            raise OSError("full")
        real(part, path)

    monkeypatch.setattr("os.replace", replace)
    model, x = made("eager")
    with pytest.raises(OSError, match="full"):
        export.c(model, tmp_path / "model.c", example_inputs=x)
    assert [b"old", b"old"] == [each.read_bytes() for each in tmp_path.iterdir()]
