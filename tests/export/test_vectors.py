"""Golden vectors hold what layers compute, and ``verify`` finds what a device does otherwise."""

from __future__ import annotations

import json
import re
import warnings
from collections import OrderedDict
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from export.models import made

import pyqref
from pyqref import export, nn, quantization
from pyqref.cli import main
from pyqref.export.golden.hexadecimal import from_ihex, from_readmemh, to_ihex
from pyqref.export.golden.stages import STAGES
from pyqref.export.golden.vectors import Names
from pyqref.nn.diagnostics import NoEffectWarning
from pyqref.ops import quantized as ops
from pyqref.tensor.quantized import make_per_tensor

#: What every dynamic product has.
DYNAMIC = ("zero_point_of_the_input", "integers_of_the_input", "accumulator")
FORMATS = ("npz", "c", "readmemh", "ihex")


class Products(nn.Module):
    """Every product, on inputs of one, two and three dimensions; then a sum, a product, a mean."""

    def __init__(self, engine):
        super().__init__()
        pyqref.backends.quantized.engine = engine
        rng = np.random.default_rng(0)
        kinds = nn.quantized
        zero = engine == "fbgemm"
        self.line = kinds.Conv1d(4, 6, 3, padding=1, dilation=2)
        self.plane = kinds.Conv2d(4, 4, (3, 2), stride=2, padding=1, groups=2)
        self.depth = kinds.Conv2d(4, 4, 2, groups=4)
        self.back = kinds.ConvTranspose2d(4, 4, 3, stride=2, padding=1)
        self.space = kinds.Conv3d(4, 2, 2)
        self.full = kinds.Linear(5, 4)
        for n, layer in enumerate(self.children()):
            shape = tuple(layer.weight().shape)
            w = pyqref.from_numpy(rng.standard_normal(shape).astype(np.float32))
            if n % 2 and layer is not self.back:
                scales = pyqref.from_numpy(rng.uniform(0.01, 0.03, shape[0]))
                w = pyqref.quantize_per_channel(
                    w, scales, pyqref.zeros(shape[0], dtype=pyqref.int64), 0, pyqref.qint8
                )
            else:
                w = pyqref.quantize_per_tensor(w, 0.02, 2 if zero else 0, pyqref.qint8)
            count = 6 if layer is self.line else 2 if layer is self.space else 4
            layer.set_weight_bias(w, pyqref.from_numpy(rng.standard_normal(count, np.float32)))
            layer.scale, layer.zero_point = float(rng.uniform(0.1, 0.2)), 97 + n

    def forward(self, line, plane, space):
        y = self.depth(self.plane(plane))
        y = ops.add_relu(y, ops.mul(y, y, 0.3, 40), 0.25, 90)
        mean = nn.functional.avg_pool2d(y, 2, 1)
        return self.line(line), self.back(y), self.space(space), self.full(mean[..., :5]), mean


def inputs():
    rng = np.random.default_rng(1)

    def quantized(*shape):
        x = pyqref.from_numpy(rng.standard_normal(shape).astype(np.float32))
        return pyqref.quantize_per_tensor(x, 0.03, 121, pyqref.quint8)

    return quantized(2, 4, 9), quantized(2, 4, 13, 12), quantized(1, 4, 3, 3, 3)


@cache
def products(engine):
    before = pyqref.backends.quantized.engine
    try:
        return Products(engine).eval()
    finally:
        pyqref.backends.quantized.engine = before


@pytest.fixture
def written(tmp_path):
    """Write vectors; return the folder, its layers by path, and the arrays."""

    def write(model, x, *rest, **options):
        folder = tmp_path / "vectors"
        export.vectors(model, x, folder, *rest, **options)
        layers = json.loads((folder / "manifest.json").read_text())["layers"]
        with np.load(folder / "vectors.npz") as file:
            arrays = {name: file[name] for name in file.files}
        return folder, {each["path"]: each for each in layers}, arrays

    return write


def _noted_only(name):
    return re.sub(r"\W+", "_", name)


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("arithmetic", [None, "tflite", "tflite-single", "onnx"])
def test_stages_are_those_of_the_derivation(written, engine, arithmetic):
    """Each element of each stage is the step of that name in ``explain``, which computes one.

    What is rounded, with zero point and clamp, is the output (``eq-requantize``).
    """
    model, x = products(engine), inputs()
    with warnings.catch_warnings():
        if arithmetic == "tflite-single":  # it defines no sums and no products of elements
            warnings.simplefilter("ignore", NoEffectWarning)
        _, layers, arrays = written(model, x, arithmetic=arithmetic)
    own = arithmetic or engine
    for path in ("line", "plane", "depth", "back", "space", "full"):
        layer = layers[path]
        assert own == layer["arithmetic"]
        output = arrays[layer["output"]["array"]]
        index = tuple(size // 2 for size in output.shape)
        given = layer["inputs"][0]
        grid = given["scale"], given["zero_point"], pyqref.quint8
        alone = make_per_tensor(arrays[given["array"]], *grid)
        found = pyqref.explain(model.get_submodule(path), alone, None, index, [own])
        steps = {_noted_only(each.name): each.value for each in found.others[own]}
        assert {"accumulator", "multiplier", "rounded"} <= layer["stages"].keys()
        for name in layer["stages"].keys() & steps.keys():
            array = arrays[f"{path}/{name}"]
            each = array[index] if array.shape == output.shape else _channel(array, index)
            assert steps[name] == each, (path, name)
    for path, layer in layers.items():
        if "rounded" not in layer["stages"]:
            assert path in ("getitem", "getitem_1")
            assert "have stages" in layer["note"]
            continue
        whole = arrays[f"{path}/rounded"].astype(np.int64)
        ahead = "with_zero_point" in layer["stages"]
        zero = layer["output"]["zero_point"]
        if path == "avg_pool2d" and own.startswith("tflite"):
            zero, ahead = 128, False  # its means are those of int8
        total = np.clip(whole + (0 if ahead else zero), *layer["clamp"])
        np.testing.assert_array_equal(arrays[f"{path}/output"], total)


def _channel(array, index):
    return array.reshape(-1)[(index[-1] if len(index) == 2 else index[1]) if array.size > 1 else 0]


def test_all_formats_hold_the_same_numbers(written):
    """Each text is read back to the array; checksums are those of files and bytes."""
    import hashlib

    model, x = made("eager")
    folder, layers, arrays = written(model, x, FORMATS, arithmetic="tflite")
    manifest = json.loads((folder / "manifest.json").read_text())
    assert {each.name for each in folder.iterdir()} == {"manifest.json", *manifest["files"]}
    for name, checksum in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == checksum
    header = (folder / "vectors.h").read_text()
    of_c = dict(re.findall(r"(\w+)\[\d+\] = {([^}]*)}", header))
    told = [each for layer in layers.values() for each in (layer["output"], *layer["inputs"])]
    told += [
        each
        for one in layers.values()
        for key in ("stages", "parameters")
        for each in one[key].values()
    ]
    assert {each["array"] for each in told} == arrays.keys()
    for each in told:
        array = arrays[each["array"]]
        assert (each["type"], each["shape"]) == (array.dtype.name, list(array.shape))
        assert each["sha256"] == hashlib.sha256(array.tobytes()).hexdigest()
        for kind, read in (("readmemh", from_readmemh), ("ihex", from_ihex)):
            text = (folder / each["files"][kind]).read_text()
            np.testing.assert_array_equal(array, read(text, array))
        words = of_c[each["files"]["c"]].replace("f,", ",").rstrip(" ,\n").split(",")
        if array.dtype.kind == "f":
            numbers = [float.fromhex(word.strip()) for word in words]
        else:
            numbers = [int(word) for word in words]
        np.testing.assert_array_equal(array.reshape(-1), numbers)
    assert "#define LAST_OUTPUT_ZERO_POINT" in header


class First(nn.Module):
    """The first of several results."""

    def forward(self, results):
        return results[0]


@pytest.mark.parametrize("engine", ["fbgemm", "qnnpack"])
@pytest.mark.parametrize("arithmetic", [None, "onnx", "tflite"])
def test_dynamic_layers(written, engine, arithmetic, monkeypatch):
    """``eq-dynamic-input``, ``eq-linear-dynamic``: the stages give the outputs again.

    TFLite has no such layers, and so the engine computes them there. The hidden state has a grid of
    its own at each step.
    """
    monkeypatch.setattr(pyqref.backends.quantized, "engine", engine)
    pyqref.manual_seed(0)
    steps = nn.LSTM(5, 4, num_layers=2, bidirectional=True)
    model = nn.Sequential(OrderedDict(rnn=steps, take=First(), last=nn.Linear(8, 3))).eval()
    model = quantization.quantize_dynamic(model, {nn.LSTM, nn.Linear})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoEffectWarning)  # of TFLite
        folder, layers, arrays = written(model, pyqref.randn(6, 2, 5), arithmetic=arithmetic)
        assert export.verify(folder, folder / "vectors.npz").ok
    assert (arithmetic if arithmetic == "onnx" else engine) == layers["last"]["arithmetic"]
    for path, end, inputs, rows in (
        ("last", "", ("last/weight",), (6, 2)),
        ("rnn", "_ih_l1_reverse", ("rnn/weight_ih_l1_reverse",), (12,)),
        ("rnn", "_hh_l0", ("rnn/weight_hh_l0",), (6, 2)),
    ):
        of = {name: arrays[f"{path}/{name}{end}"] for name in DYNAMIC}
        z = np.asarray(of["zero_point_of_the_input"]).reshape(-1, *(1,) * len(rows))
        q = of["integers_of_the_input"].astype(np.int64)
        weight = arrays[inputs[0]].astype(np.int64)
        assert (*rows, len(weight)) == of["accumulator"].shape
        assert np.array_equal((q - z.reshape(z.shape[: q.ndim])) @ weight.T, of["accumulator"])
    once = engine == "fbgemm" and arithmetic != "onnx"
    last = arrays["last/real_result_with_the_bias" if once else "last/bias_added"]
    assert np.array_equal(arrays["last/output"], last)
    assert (6, 2, 4) == arrays["rnn/cell_state_l1_reverse"].shape
    wrong = arrays["rnn/accumulator_hh_l0"].copy()
    wrong[3, 1, 2] += 1
    found = export.verify(folder, {"rnn/accumulator_hh_l0": wrong})
    assert [(3, 1, 2)] == [each.place for each in found.stages]


@pytest.mark.parametrize("name", ["graph", "reference", "operations", "eager", "lstm", "functions"])
def test_what_is_written_verifies_itself(written, name):
    """Every layer of every kind of model: what stands in the files is found equal."""
    folder, layers, arrays = written(*made(name), "readmemh")
    assert not [each for each in layers.values() if "not computed alone" in each["note"]]
    found = export.verify(folder, folder)
    assert found.ok
    assert export.verify(folder, folder / "vectors.npz").ok
    assert len(layers) == len(found.differences.layers)
    outputs = {each["output"]["array"] for each in layers.values()}
    assert len(arrays.keys() - outputs) == len(found.stages)


def test_a_fault_is_found_and_named(written, tmp_path, capsys):
    """The first layer, the element, the stage; and the arithmetic that gives what was got."""
    model, x = made("eager")
    folder, layers, arrays = written(model, x, arithmetic="tflite")
    got = {path: arrays[each["output"]["array"]].copy() for path, each in layers.items()}
    got["sum"][1, 2, 3, 4] ^= 1
    got["sum/sum"] = arrays["sum/sum"].copy()
    got["sum/sum"][1, 2, 3, 4] -= 7
    found = export.verify(folder, got)
    assert ("sum", 1) == (found.differences.first.layer, found.differences.first.count)
    assert (1, 2, 3, 4) == found.differences.first.worst()[0].place == found.stages[0].place
    with pyqref.arithmetic.use("onnx"):
        other = model.conv(model.quant(x)).int_repr().numpy()
    np.savez(tmp_path / "got.npz", **{"conv/output": other})
    assert 1 == main(["verify", str(folder), "--got", str(tmp_path / "got.npz")])
    printed = capsys.readouterr().out
    assert "They part at conv" in printed
    assert "  onnx: ONNX's QLinear operators" in printed
    assert "outputs that differ lie on a tie" in printed
    np.savez(tmp_path / "got.npz", **{"conv/output": arrays["conv/output"]})
    assert 0 == main(["verify", str(folder), "--got", str(tmp_path / "got.npz")])
    assert "The one layer gives the same" in capsys.readouterr().out
    assert 1 == main(["verify", str(tmp_path), "--got", "none.npz"])
    assert "has no manifest.json" in capsys.readouterr().err


class Twice(nn.Module):
    """One layer that runs two times."""

    def __init__(self):
        super().__init__()
        self.fc = nn.quantized.Linear(3, 3)
        self.fc.zero_point = 100

    def forward(self, x):
        return self.fc(self.fc(x))


def test_a_layer_that_runs_again(written):
    """It is ``fc#1``, in the manifest and for ``explain_diff``."""
    x = pyqref.quantize_per_tensor(pyqref.ones(2, 3), 0.1, 7, pyqref.quint8)
    folder, layers, arrays = written(Twice(), x)
    assert ["fc", "fc#1"] == list(layers)
    again = arrays[layers["fc#1"]["output"]["array"]]
    found = export.verify(folder, {"fc": arrays["fc/output"], "fc#1": again + np.uint8(1)})
    assert ["fc#1"] == [each.layer for each in found.differences.layers if each.count]


def test_names_are_safe():
    """No name leaves the folder, is hidden, or meets another where capitals are the same."""
    names = Names()
    made_of = [names(each) for each in ("a/../b", "..", ".git", "A.b", "a.B", "x" * 500, "ü", "")]
    assert ["a_.._b", "model", "git", "A.b", "a.B_1", "x" * 80, "model_1", "model_2"] == made_of


def test_nothing_is_left_after_an_error(written, tmp_path):
    """All parts that are not converted in one error, and no file; other files are left alone."""
    model = quantization.QuantWrapper(nn.Sequential(nn.Linear(2, 2), nn.ReLU())).eval()
    model.qconfig = quantization.get_default_qconfig("fbgemm")
    prepared = quantization.prepare(model)
    with pytest.raises(export.VectorsError, match="vectors of 4 part") as caught:
        written(prepared, pyqref.ones(1, 2))
    assert {"quant", "dequant"} < {each.path for each in caught.value.problems}

    class Branches(nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    for odd, words in ((Branches(), "decides by values"), (nn.ReLU(), "no operation of it")):
        with pytest.raises(export.VectorsError, match=words):
            written(odd, pyqref.ones(1, 2))
    assert [] == list(tmp_path.iterdir())
    (tmp_path / "vectors").mkdir()
    (tmp_path / "vectors" / "thesis.txt").write_text("mine")
    with pytest.raises(ValueError, match=r"holds what no vectors do \(thesis.txt\)"):
        written(*made("eager"))
    assert ["thesis.txt"] == [each.name for each in (tmp_path / "vectors").iterdir()]


def test_wrong_arguments(written, tmp_path):
    """Each is named; of arrays that do not fit, all of them."""
    model, x = made("eager")
    for arguments, words in (
        ((3, x), "model must be a Module, got"),
        ((model, 3), "x must be tensors, got 3 at 0"),
        ((model, (x, x)), "x: .* cannot be called with 2 tensors: too many positional"),
        ((model, x, "hex"), "format must be one or several of 'npz', 'c', 'readmemh', 'ihex'"),
    ):
        with pytest.raises((TypeError, ValueError), match=words):
            written(*arguments)
    with pytest.raises(ValueError, match="name must be one of"):
        written(model, x, arithmetic="abacus")
    folder, _, arrays = written(model, x)
    conv = arrays["conv/output"]
    wrong = {"nix": conv, "conv": conv[:1], "quant": conv / 2, "last": arrays["last/output"] * 4.0}
    with pytest.raises(export.GotError, match=r"cannot compare 4 part\(s\)") as caught:
        export.verify(folder, wrong)
    assert list(wrong) == [each.path for each in caught.value.problems]
    for got, words in ((3, "got must be a mapping"), ({}, "got holds no array")):
        with pytest.raises((TypeError, ValueError), match=words):
            export.verify(folder, got)
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04")
    np.save(tmp_path / "one.npy", conv)
    for name in ("torn.npz", "one.npy"):
        with pytest.raises(ValueError, match=r"is no \.npz file of named arrays"):
            export.verify(folder, tmp_path / name)
    with pytest.raises(FileNotFoundError, match="got: there is no file or folder"):
        export.verify(folder, tmp_path / "none.npz")
    with pytest.raises(ValueError, match="its last record is not the one that ends a file"):
        from_ihex(to_ihex(conv).rpartition(":")[0], conv)
    (folder / "vectors.npz").write_bytes(b"PK")
    with pytest.raises(pyqref.serialization.FileError, match="is not as it was written"):
        export.verify(folder, {"conv": conv})


def test_every_stage_is_documented():
    """The page has a row for each, with its text."""
    page = " ".join((Path(__file__).parents[2] / "docs" / "vectors.rst").read_text().split())
    for name, what in STAGES.items():
        assert f"* - ``{name}`` - {what}" in page
