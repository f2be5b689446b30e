"""A value comes back with its types, dtypes, quantizers and sharing, and never half-written."""

from __future__ import annotations

import argparse
import copy
import io
import json
import math
import os
import stat
from collections import Counter, OrderedDict

import numpy as np
import pytest

import pyqref
from pyqref import nn, optim
from pyqref.serialization.errors import FileError
from pyqref.serialization.structure import Builder


def round_trip(value):
    file = io.BytesIO()
    pyqref.save(value, file)
    file.seek(0)
    return pyqref.load(file)


DTYPES = ["float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool"]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (2, 3), (2, 0, 3)])
def test_every_dtype_and_shape(name: str, shape: tuple) -> None:
    """Every dtype, with no, one and several elements and dimensions."""
    values = np.arange(math.prod(shape)).reshape(shape)
    tensor = pyqref.tensor(values.tolist()).reshape(shape).to(getattr(pyqref, name))
    back = round_trip(tensor)
    assert tensor.dtype is back.dtype
    assert shape == tuple(back.shape)
    assert pyqref.equal(tensor, back)


def test_special_floats() -> None:
    """nan, infinities, signed zero and subnormal numbers keep their bits."""
    bits = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], np.float32)
    back = round_trip({"x": pyqref.from_numpy(bits), "f": [math.inf, -math.inf, -0.0]})
    assert bits.tobytes() == back["x"].numpy().tobytes()
    assert "[inf, -inf, -0.0]" == str(back["f"])
    assert math.isnan(round_trip(math.nan))


def test_special_zero_points() -> None:
    """A zero point that is a real number may be nan or infinite, and keeps its bits."""
    x = pyqref.arange(8.0).reshape(4, 2)
    zero_points = pyqref.tensor([math.nan, math.inf, -math.inf, -0.0])
    q = pyqref.quantize_per_channel(x, pyqref.ones(4), zero_points, 0, pyqref.quint8)
    back = round_trip(q)
    assert q._quantizer == back._quantizer
    assert "tensor([nan, inf, -inf, -0.], dtype=pyqref.float64)" == str(
        back.q_per_channel_zero_points().double()
    )


def test_views() -> None:
    """A tensor that is not contiguous comes back with its elements in order."""
    whole = pyqref.arange(12).reshape(3, 4)
    for view in (whole.t(), whole[:, 1:3], whole[::2], whole[1]):
        assert view.tolist() == round_trip(view).tolist()


@pytest.mark.parametrize("name", ["quint8", "qint8", "qint32"])
def test_per_tensor(name: str) -> None:
    """Integers, scale (all bits of the double) and zero point."""
    x = pyqref.tensor([[-1.0, 0.0], [0.5, 2.0]])
    tensor = pyqref.quantize_per_tensor(x, 0.1, 3, getattr(pyqref, name))
    back = round_trip({"q": tensor})["q"]
    assert 0.1 == back.q_scale()
    assert 3 == back.q_zero_point()
    assert tensor.dtype is back.dtype
    assert tensor.int_repr().tolist() == back.int_repr().tolist()


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("floating", [False, True])
def test_per_channel(axis: int, floating: bool) -> None:
    """Scales, zero points (int or float), axis and scheme."""
    x = pyqref.tensor([[-1.0, 0.0], [0.5, 2.0]])
    scales = pyqref.tensor([0.1, 0.3], dtype=pyqref.float64)
    zero_points = pyqref.tensor([1.5, 2.5]) if floating else pyqref.tensor([1, 2])
    tensor = pyqref.quantize_per_channel(x, scales, zero_points, axis, pyqref.quint8)
    back = round_trip(tensor)
    assert tensor._quantizer == back._quantizer
    assert tensor.int_repr().tolist() == back.int_repr().tolist()


def test_structure() -> None:
    """Everything that a state dict holds, of its own type."""
    value = OrderedDict(
        packed=(pyqref.zeros(2), None),
        dtype=pyqref.qint8,
        scheme=pyqref.per_channel_symmetric,
        size=pyqref.zeros(2, 3).shape,
        device=pyqref.device("cpu"),
        nested={"a": [1, -2.5, True, "ü\n", None, 2**80], 3: {}, (1, 2): ()},
        counter=Counter({3: 2}),
    )
    value._metadata = OrderedDict({"": {"version": 1}})
    back = round_trip(value)
    assert list(value) == list(back)
    assert isinstance(back, OrderedDict)
    assert value._metadata == back._metadata
    for key in ("dtype", "scheme", "size", "device", "nested", "counter"):
        assert value[key] == back[key]
        assert type(value[key]) is type(back[key])
    assert isinstance(back["packed"], tuple)
    assert back["packed"][1] is None


def test_parameters_and_gradients() -> None:
    """A Parameter stays one; whether gradients are wanted is kept."""
    back = round_trip([nn.Parameter(pyqref.ones(2)), pyqref.ones(2, requires_grad=True)])
    assert isinstance(back[0], nn.Parameter)
    assert [True, True] == [tensor.requires_grad for tensor in back]
    assert not isinstance(back[1], nn.Parameter)


def test_shared_memory_stays_shared() -> None:
    """Tensors on the same memory are stored once and share it after loading."""
    tensor = pyqref.zeros(1000)
    file = io.BytesIO()
    pyqref.save({"a": tensor, "b": tensor.detach(), "c": tensor.clone()}, file)
    assert 8000 < len(file.getvalue()) < 10000
    file.seek(0)
    back = pyqref.load(file)
    back["a"].fill_(1)
    assert (1.0, 0.0) == (back["b"][0].item(), back["c"][0].item())


def test_names_in_the_file(tmp_path) -> None:
    """Tensors lie under their keys, also for other readers of safetensors."""
    from safetensors.numpy import load_file, save_file

    path = tmp_path / "model.safetensors"
    pyqref.save({"fc.weight": pyqref.ones(2), "fc": {"weight": pyqref.zeros(1)}}, path)
    expected = {"fc.weight": [1.0, 1.0], "fc.weight~2": [0.0]}
    assert expected == {key: value.tolist() for key, value in load_file(path).items()}
    save_file({"w": np.ones(2, np.float32)}, path)
    back = pyqref.load(path)
    assert {"w": [1.0, 1.0]} == {key: value.tolist() for key, value in back.items()}


def test_awkward_names() -> None:
    """Keys that a header could not hold as they are."""
    value = {"__metadata__": pyqref.zeros(1), "": pyqref.zeros(2), "\ud800": pyqref.zeros(3)}
    back = round_trip(value)
    assert [(key, tensor.numel()) for key, tensor in value.items()] == [
        (key, tensor.numel()) for key, tensor in back.items()
    ]


def test_model_and_optimizer(tmp_path) -> None:
    """Training goes on from a file with the same numbers."""

    def start():
        model = nn.ParameterList([pyqref.ones(3), pyqref.zeros(2)])
        return model, optim.Adam(model.parameters(), lr=0.1)

    def train(model, optimizer) -> None:
        for parameter in model:
            parameter.grad = pyqref.ones_like(parameter)
        optimizer.step()

    model, optimizer = start()
    train(model, optimizer)
    schedule = optim.lr_scheduler.MultiStepLR(optimizer, [1, 2])
    path = tmp_path / "checkpoint"
    pyqref.save([model.state_dict(), optimizer.state_dict(), schedule.state_dict()], path)
    train(model, optimizer)
    other, other_optimizer = start()
    model_state, optimizer_state, schedule_state = pyqref.load(path, map_location="cpu")
    other.load_state_dict(model_state)
    other_optimizer.load_state_dict(optimizer_state)
    optim.lr_scheduler.MultiStepLR(other_optimizer, [1]).load_state_dict(schedule_state)
    train(other, other_optimizer)
    for expected, actual in zip(model, other, strict=True):
        assert expected.tolist() == actual.tolist()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"fn": [print]}, r"obj\['fn'\]\[0\] is a builtins.builtin_function"),
        (nn.Identity(), "obj is a Identity; save its state_dict"),
        ({"x": {1, 2}}, r"obj\['x'\] is a builtins.set"),
        ([np.zeros(2)], r"obj\[0\] is a numpy.ndarray"),
        (np.complex64(1), "numpy.complex64"),
        (2**2000, "2001 bits"),
        ({"x": b"bytes"}, "builtins.bytes"),
    ],
)
def test_values_that_cannot_be_saved(value, message, tmp_path) -> None:
    """The error names the place; no file is made."""
    with pytest.raises(TypeError, match=message):
        pyqref.save(value, tmp_path / "x")
    assert [] == list(tmp_path.iterdir())


def test_structure_that_contains_itself() -> None:
    """A loop is refused."""
    loop: list = []
    loop.append(loop)
    with pytest.raises(TypeError, match="contains itself"):
        pyqref.save(loop, io.BytesIO())


def test_old_file_survives_an_error(tmp_path, monkeypatch) -> None:
    """Whatever fails while writing, also Ctrl-C, leaves the old file and no other."""
    path = tmp_path / "x.safetensors"
    pyqref.save(1, path)
    before = path.read_bytes()

    def interrupt(*args):
        raise KeyboardInterrupt

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, interrupt)
            with pytest.raises(KeyboardInterrupt):
                pyqref.save(2, path)
        assert [path] == list(tmp_path.iterdir())
        assert before == path.read_bytes()


def test_links_and_permissions(tmp_path) -> None:
    """A link is followed, and the file keeps its permissions (where there are such)."""
    if os.name != "posix":
        return
    target, link = tmp_path / "target", tmp_path / "link"
    pyqref.save(1, target)
    os.chmod(target, 0o600)
    os.symlink(target, link)
    pyqref.save(2, link)
    assert link.is_symlink()
    assert 2 == pyqref.load(target) == pyqref.load(link)
    assert 0o600 == stat.S_IMODE(target.stat().st_mode)


def test_places_that_cannot_be_written(tmp_path) -> None:
    """A missing folder and a folder in the place of a file."""
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        pyqref.save(1, tmp_path / "no" / "x")
    with pytest.raises(OSError, match="not a regular file"):
        pyqref.save(1, tmp_path)


def test_load_arguments(tmp_path) -> None:
    """Other devices are refused; weights_only=False has no effect and says so."""
    path = tmp_path / "x"
    pyqref.save(1, path)
    assert 1 == pyqref.load(path, weights_only=True)
    with pytest.warns(UserWarning, match="weights_only=False"):
        pyqref.load(path, weights_only=False)
    with pytest.raises(RuntimeError, match="CPU only"):
        pyqref.load(path, map_location="cuda")
    for idiom in (lambda storage, location: storage, {"cuda:0": "cpu"}, pyqref.device("cpu")):
        assert 1 == pyqref.load(path, map_location=idiom)
    with pytest.raises(TypeError, match="must be a device, got int"):
        pyqref.load(path, map_location=0)
    with pytest.raises(TypeError, match="binary"):
        pyqref.load(io.StringIO("x"))


def test_saving_does_not_change_what_is_saved() -> None:
    """The value is only read."""
    value = {"a": pyqref.zeros(2, 2).t(), "b": [1, 2]}
    before = copy.deepcopy(value)
    round_trip(value)
    assert before["b"] == value["b"]
    assert tuple(before["a"].stride()) == tuple(value["a"].stride())


def test_the_metadata_is_json() -> None:
    """Scale and zero point stand readably in the metadata of the file."""
    file = io.BytesIO()
    pyqref.save(pyqref.quantize_per_tensor(pyqref.zeros(1), 0.5, 3, pyqref.quint8), file)
    data = file.getvalue()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    structure = json.loads(header["__metadata__"]["pyqref.structure"])
    expected = ["tensor", "tensor", False, {"dtype": "quint8", "scale": 0.5, "zero_point": 3}]
    assert expected == structure


@pytest.mark.parametrize(
    "value",
    [np.float32(0.1), np.float64(0.5), np.float16(2), np.int64(-3), np.uint8(7), np.bool_(True)],
    ids=lambda value: type(value).__name__,
)
def test_numbers_of_numpy(value):
    """The best accuracy of an epoch comes back as the type that it was."""
    found = round_trip({"best": value, "all": [value]})
    assert type(value) is type(found["best"]) is type(found["all"][0])
    assert value == found["best"]


def test_a_namespace():
    """The arguments of a script, as checkpoints keep them."""
    arguments = argparse.Namespace(lr=0.1, sizes=[1, 2], mean=pyqref.ones(2), inner={"a": None})
    found = round_trip({"args": arguments})["args"]
    assert isinstance(found, argparse.Namespace)
    assert repr(arguments) == repr(found)


def _named_qconfigs():
    q = pyqref.quantization
    names = [name for name in dir(q) if isinstance(getattr(q, name), (q.QConfig, q.QConfigDynamic))]
    return {name: getattr(q, name) for name in names} | {
        f"{make.__name__}_{backend}": make(backend)
        for make in (q.get_default_qconfig, q.get_default_qat_qconfig)
        for backend in ("fbgemm", "qnnpack", "x86", "onednn")
    }


@pytest.mark.parametrize("name", _named_qconfigs())
def test_qconfigs(name):
    """QConfigs are saved by the names of observers and their arguments."""
    qconfig = _named_qconfigs()[name]
    found = round_trip({"qconfig": qconfig, "": [qconfig.weight]})
    assert type(qconfig) is type(found["qconfig"])
    assert pyqref.quantization.qconfig_equals(qconfig, found["qconfig"])
    assert repr(qconfig) == repr(found["qconfig"])


def test_a_recipe_with_a_function():
    """It cannot be kept; neither can a user's observer, whose code is in no file."""
    q = pyqref.quantization
    recipe = q.MinMaxObserver.with_callable_args(dtype=lambda: pyqref.qint8)
    with pytest.raises(TypeError, match="calls a function for its arguments"):
        round_trip(q.QConfig(recipe, None))

    class Own(q.MinMaxObserver):
        pass

    with pytest.raises(TypeError, match=r"a qconfig with .*Own, which is no observer"):
        round_trip(q.QConfig(Own, None))


@pytest.mark.parametrize(
    "node",
    [
        ["qconfig", ["list", ["QConfig", None]]],
        ["qconfig", ["list", ["system", None, None]]],
        ["qconfig", ["list", ["QConfig", 1, None]]],
        ["qconfig", ["list", ["QConfigDynamic", None, None]]],
        ["qconfig", "QConfig"],
        ["qconfig", ["list", [["list", []], None, None]]],
        ["recipe", ["list", ["system"]]],
        ["recipe", ["list", [["dict", []]]]],
        ["recipe", ["list", []]],
        ["recipe", ["list", ["MinMaxObserver", ["dict", [[1, 2]]]]]],
        ["recipe", ["list", ["MinMaxObserver", 1]]],
        ["numpy", ["float32", 1]],
        ["numpy", ["uint8", 300]],
        ["numpy", ["object", 1]],
        ["numpy", [["float32"], 1.0]],
        ["numpy", 1],
        ["namespace", [[1, 2]]],
        ["namespace", [], []],
    ],
    ids=str,
)
def test_structures_that_no_file_has(node):
    """They are refused in one sentence."""
    with pytest.raises(FileError, match="a file: "):
        Builder({}, "a file").build(node)
