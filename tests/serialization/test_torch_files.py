"""Files of torch, recorded ones and new ones: values, and answers of models, are torch's."""

from __future__ import annotations

import argparse
import io
import tracemalloc
import warnings
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from serialization.record_torch_files import FOLDER, LEGACY, RECORDED, arrays, values
from serialization.torch_models import KINDS, build, example
from serialization.torch_writer import (
    Global,
    Reduce,
    Storage,
    good_files,
    ordered,
    quantized,
    save,
    save_legacy,
    save_script,
    script_module,
    script_object,
    tensor,
)

import pyqref
from pyqref.serialization import FileError, ScriptArchive

#: Sums of floats, and functions of them, may be rounded otherwise than torch's; the last bits.
BOUND = 1e-6
EXACT = {"eager", "wrapped", "fx", "fx functional", "embedding", "embedding 4 bits"}


def load(data: bytes) -> Any:
    return pyqref.load(io.BytesIO(data))


def recorded(name: str) -> Path:
    return FOLDER / f"{name.replace(' ', '_')}.pt"


def answer_as(kind: str, expected: list[np.ndarray], model: Any) -> None:
    """A model answers what is expected, on integers to the bit."""
    got = arrays(model(example(kind, pyqref, 5)))
    for right, ours in zip(expected, got, strict=True):
        if kind in EXACT:
            np.testing.assert_array_equal(ours, right)
        else:
            np.testing.assert_allclose(ours, right, rtol=BOUND, atol=BOUND)


@pytest.mark.parametrize("kind", RECORDED)
def test_recorded_models(kind: str) -> None:
    """A state dict of torch, in either container, makes the model answer as torch's did."""
    answers = np.load(FOLDER / "answers.npz")
    expected = [answers[name] for name in answers if name.rpartition("/")[0] == kind]
    for name in [kind, f"{kind} legacy"] if kind in LEGACY else [kind]:
        model = build(kind, pyqref, 1)
        state = pyqref.load(recorded(name))
        assert "<All keys matched successfully>" == str(model.load_state_dict(state))
        assert isinstance(state, OrderedDict)
        assert 1 == state._metadata[""]["version"]  # type: ignore[attr-defined]
        answer_as(kind, expected, model)


@pytest.mark.parametrize("kind", ["wrapped", "fx functional", "embedding"])
def test_recorded_script_archives(kind: str) -> None:
    """The tensors of a TorchScript archive load into the model that it was made of."""
    answers = np.load(FOLDER / "answers.npz")
    archive = pyqref.load(recorded(f"{kind} script"))
    assert isinstance(archive, ScriptArchive)
    model = build(kind, pyqref, 1)
    model.load_state_dict(archive)
    answer_as(kind, [answers[f"{kind}/0"]], model)
    if kind == "wrapped":
        assert "torch.ao.nn.quantized.modules.linear.Linear" == archive.module_types["module.3"]
        assert 8 == archive.attributes["module.3.in_features"]


@pytest.mark.parametrize("legacy", [False, True])
def test_recorded_values(legacy: bool) -> None:
    """Every dtype, view and plain value is that of the file; what is widened is told."""
    path = recorded("values legacy" if legacy else "values")
    with pytest.warns(
        UserWarning, match="1 array of bfloat16 is read as float32, .*uint16.*float8"
    ):
        found = pyqref.load(path)
    assert [[4.0, 6.0], [8.0, 10.0]] == found["view"].tolist()
    found["base"][1, 0] = 40.0
    assert (40.0, 40.0) == (found["view"][0, 0].item(), found["transposed"][0, 1].item())
    assert (1, 4) == found["transposed"].stride()
    assert ((5,), (0,)) == (tuple(found["expanded"].shape), found["expanded"].stride())
    assert (0, 3) == tuple(found["empty"].shape)
    assert pyqref.float64 is found["scalar"].dtype
    assert isinstance(found["parameter"], pyqref.nn.Parameter)
    assert found["needs"].requires_grad
    assert not isinstance(found["needs"], pyqref.nn.Parameter)
    for name in ("uint8", "int8", "int16", "int32", "float16"):
        assert getattr(pyqref, name) is found[name].dtype
        assert [0, 1, 3] == found[name].tolist()
    assert [False, True, True] == found["bool"].tolist()
    assert ([0.0, 1.0, 3.0], pyqref.float32) == (
        found["bfloat16"].tolist(),
        found["bfloat16"].dtype,
    )
    assert ([1, 65535], pyqref.int32) == (found["uint16"].tolist(), found["uint16"].dtype)
    assert [0.5, 448.0] == found["float8"].tolist()
    assert ([5, 5], 0.5, 3) == (
        found["qint32"].int_repr().tolist(),
        found["qint32"].q_scale(),
        found["qint32"].q_zero_point(),
    )
    steps = [1, 2.5, "text", None, True, (1, 2), {3}, b"ab\xff", bytearray(b"x"), 1j]
    assert steps == found["steps"]
    assert pyqref.Size([1, 2]) == found["size"]
    assert pyqref.float16 is found["dtype"]
    assert argparse.Namespace(lr=0.1) == found["arguments"]
    np.testing.assert_array_equal(np.arange(3.0), found["array"])
    assert (3.0, np.float64) == (found["number"], type(found["number"]))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("legacy", [False, True])
def test_live_models(kind: str, legacy: bool) -> None:
    """Files of the installed torch load, also with a second seed."""
    torch = pytest.importorskip("torch", minversion="2.13")
    source = build(kind, torch, 3)
    file = io.BytesIO()
    torch.save(source.state_dict(), file, _use_new_zipfile_serialization=not legacy)
    model = build(kind, pyqref, 4)
    model.load_state_dict(load(file.getvalue()))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = arrays(source(example(kind, torch, 5)))
    answer_as(kind, expected, model)


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
def test_live_values() -> None:
    """The recorded checkpoint has the keys that torch gives it today."""
    torch = pytest.importorskip("torch", minversion="2.13")
    file = io.BytesIO()
    torch.save(values(torch), file)
    with pytest.warns(UserWarning, match="bfloat16"):
        assert list(values(torch)) == list(load(file.getvalue()))


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("name", good_files())
def test_files_of_the_writer(name: str) -> None:
    """The tests' own writer makes files that are read; torch reads them alike."""
    data = good_files()[name]
    found = load(data)
    if name == "script":
        assert {"": "Net", "fc": "torch.ao.nn.quantized.modules.linear.Linear"}.items() <= (
            found.module_types.items()
        )
        assert [1.5] == found.constants[0].tolist()
        weight, bias = found["fc._packed_params._packed_params"]
        assert (0.5, 3) == (found["fc.scale"].item(), found["fc.zero_point"].item())
    elif "quantized" in name:
        weight, bias = found["_packed_params._packed_params"]
    else:
        assert [[0, 1, 2], [3, 4, 5]] == found["weight"].tolist()
        assert [1, 2] == found["bias"].tolist()
        weight = None
    if weight is not None:
        assert [[1, -2, 3], [4, 5, -6]] == weight.int_repr().tolist()
        assert [0.5, 0.25] == weight.q_per_channel_scales().tolist()
        assert [1, 2] == bias.tolist()
    if "script" not in name:
        torch = pytest.importorskip("torch", minversion="2.13")
        assert list(found) == list(torch.load(io.BytesIO(data), weights_only=True))


NUMBERS = ["float32", "float64", "float16", "uint8", "int8", "int16", "int32", "int64", "bool"]


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("write", [save, save_legacy])
@pytest.mark.parametrize("big_endian", [False, True])
def test_order_of_bytes(dtype: str, write: Any, big_endian: bool) -> None:
    """Files of machines that put the highest byte first are read alike."""
    array = np.array([0, 1, 2, 100]).astype(dtype)
    found = load(write({"x": tensor(array)}, big_endian))["x"]
    assert getattr(pyqref, dtype) is found.dtype
    np.testing.assert_array_equal(array, found.numpy())


@pytest.mark.parametrize("write", [save, save_legacy])
@pytest.mark.parametrize("big_endian", [False, True])
def test_bfloat16_is_the_upper_half_of_float32(write: Any, big_endian: bool) -> None:
    """All 65536 values are those of float32 whose lower half is zero."""
    codes = np.arange(65536, dtype=np.uint16)
    storage = Storage(codes, "torch.BFloat16Storage")
    with pytest.warns(UserWarning, match="1 array of bfloat16"):
        found = load(write({"x": tensor(codes, storage)}, big_endian))["x"]
    np.testing.assert_array_equal(codes.astype(np.uint32) << 16, found.numpy().view(np.uint32))


def test_bits_of_bool() -> None:
    """Every byte but 0 is True, as in torch."""
    storage = Storage(np.uint8([0, 1, 2, 255]), "torch.BoolStorage")
    assert [False, True, True, True] == load(save(tensor(np.uint8([0] * 4), storage))).tolist()


def weight(*shape: int) -> Reduce:
    array = np.arange(np.prod(shape), dtype=np.int8).reshape(shape)
    return quantized(array, "QInt8Storage", Global("torch.per_tensor_affine"), 0.5, 0)


def test_packed_weights_of_every_layout() -> None:
    """Weight and bias are found in each layout of a packed object, whatever its version."""
    bias = tensor(np.float32([1, 2]))
    config = tensor(np.int16([2, 1, 1]))
    taps = weight(2, 1, 3, 3)
    four = {
        "version 1": (taps, bias, [1, 1], [0, 0], [1, 1], 1),
        "version 2": ("2", [config, taps], [bias]),
        "version 3": (3, [2, 1, 1, 0, 0, 1, 1, 0, 0, 1, 0], [None, taps, bias]),
    }
    for state in four.values():
        found, offset = load(save(script_object("quantized.Conv2dPackedParamsBase", state)))
        assert ((2, 1, 3, 3), [1, 2]) == (tuple(found.shape), offset.tolist())
    found, offset = load(
        save(script_object("quantized.Conv2dPackedParamsBase", ("2", [config, taps], [None])))
    )
    assert offset is None
    linear = script_object("quantized.LinearPackedParamsBase", (weight(2, 3), bias))
    state = ("quantized_dynamic", [bias], [], [1], [linear, linear])
    cell = load(save(script_object("rnn.CellParamsBase", state)))
    assert [(2, 3), (2,), (2, 3), (2,)] == [tuple(each.shape) for each in cell]
    table = script_object("quantized.EmbeddingPackedParamsBase", (1, [weight(4, 3)], [], [8]))
    assert (4, 3) == tuple(load(save(table)).shape)


def test_modules_of_a_script_archive() -> None:
    """Names that torch mangled are given plain; a state of another kind keeps its tensors."""
    inner = script_module("___torch_mangle_3.Block", (1, tensor(np.float32([2]))))
    root = script_module("Net", {"block": inner, "weight": tensor(np.float32([1])), "p": 0.5})
    found = load(save_script(root))
    assert {"": "Net", "block": "Block"} == found.module_types
    assert ["block.state.1", "weight"] == list(found)
    assert {"p": 0.5, "block.state.0": 1} == found.attributes


def test_options_of_torch() -> None:
    """Options without an effect say so."""
    data = save(1)
    for options, name in (
        ({"pickle_module": io}, "pickle_module"),
        ({"mmap": True}, "mmap"),
        ({"encoding": "latin1"}, "encoding"),
        ({"weights_only": False}, "weights_only"),
    ):
        with pytest.warns(UserWarning, match=f"{name}.* has no effect"):
            assert 1 == pyqref.load(io.BytesIO(data), **options)
    assert 1 == pyqref.load(io.BytesIO(data), mmap=False, weights_only=True)


def test_a_dtype_that_is_not_here_as_a_value() -> None:
    """A setting such as dtype=torch.bfloat16 stays one, and a CUDA device becomes the CPU."""
    value = {"dtype": Global("torch.bfloat16"), "device": Reduce("torch.device", ("cuda", 0))}
    with pytest.warns(UserWarning, match="'cuda': it is given as the CPU"):
        found = load(save(value))
    assert {"dtype": pyqref.bfloat16, "device": pyqref.device("cpu")} == found


def test_shared_values_are_shared() -> None:
    """A dictionary that a pickle names twice is one object, as in torch."""
    # q\x05: remember; h\x05: recall.
    text = b"](}q\x05h\x05e"
    first, second = load(save(text))
    assert first is second


def test_old_names_of_numpy_and_python() -> None:
    """Files of Python 2 and of NumPy before 2 name other modules."""
    array = Reduce(
        "numpy.core.multiarray._reconstruct",
        (Global("numpy.ndarray"), (0,), Reduce("_codecs.encode", ("b", "latin1"))),
        (
            1,
            (2,),
            Reduce("numpy.dtype", ("u1", False, True), (3, "|", None, None, None, -1, -1, 0)),
            False,
            Reduce("_codecs.encode", ("\x01\xff", "latin1")),
        ),
    )
    assert [1, 255] == load(save(array)).tolist()
    assert {1} == load(save(Reduce("__builtin__.set", ([1],))))


def test_dictionaries_of_items() -> None:
    """Python 2 wrote an OrderedDict with its pairs; a Counter comes with a dictionary."""
    pairs = Reduce("collections.OrderedDict", ([["a", 1], ["b", 2]],))
    assert OrderedDict(a=1, b=2) == load(save(pairs))
    counter = load(save(Reduce("collections.Counter", ({30: 1, 80: 2},))))
    assert (Counter({30: 1, 80: 2}), Counter) == (counter, type(counter))


def test_state_of_an_ordered_dict() -> None:
    """``_metadata`` comes along, with which old layouts are told apart."""
    found = load(save(ordered({"a": 1}, {"": {"version": 2}})))
    assert {"": {"version": 2}} == found._metadata
    with pytest.raises(FileError, match="attributes"):
        load(save(Reduce("collections.OrderedDict", (), {"more": 1, "_metadata": {}})))


@pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor")
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("legacy", [False, True])
def test_every_protocol_of_pickle(protocol: int, legacy: bool) -> None:
    """``torch.save(pickle_protocol=)`` changes the instructions, not the values."""
    torch = pytest.importorskip("torch", minversion="2.13")
    file = io.BytesIO()
    options = {"pickle_protocol": protocol, "_use_new_zipfile_serialization": not legacy}
    torch.save(values(torch), file, **options)
    with pytest.warns(UserWarning, match="bfloat16"):
        found = load(file.getvalue())
    with pytest.warns(UserWarning, match="bfloat16"):
        expected = pyqref.load(recorded("values"))
    assert repr(expected) == repr(found)


def test_an_optimizer_goes_on() -> None:
    """An optimizer's state from torch is taken up here; the next step is torch's."""
    torch = pytest.importorskip("torch", minversion="2.13")

    def step(lib: Any, layer: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        layer(lib.from_numpy(np.float32([[1, 2]]))).sum().backward()
        optimizer.step()

    source = torch.nn.Linear(2, 1)
    first = torch.optim.Adam(source.parameters(), lr=0.1)
    for _ in range(3):
        step(torch, source, first)
    file = io.BytesIO()
    torch.save({"model": source.state_dict(), "optimizer": first.state_dict()}, file)
    found = load(file.getvalue())
    layer = pyqref.nn.Linear(2, 1)
    layer.load_state_dict(found["model"])
    second = pyqref.optim.Adam(layer.parameters(), lr=1.0)
    second.load_state_dict(found["optimizer"])
    assert 0.1 == second.param_groups[0]["lr"]
    step(torch, source, first)
    step(pyqref, layer, second)
    np.testing.assert_allclose(layer.weight.tolist(), source.weight.tolist(), rtol=BOUND)


@pytest.mark.parametrize("write", [save, save_legacy])
@pytest.mark.parametrize("widened", [False, True])
def test_memory(tmp_path: Path, write: Any, widened: bool) -> None:
    """No more is held than the tensors take: the file's bytes once, widened ones as float32."""
    numbers = np.zeros(1 << 20, np.uint16 if widened else np.float32)
    kind = "torch.BFloat16Storage" if widened else ""
    stores = [Storage(numbers.copy(), kind) for _ in range(12)]
    value = {str(i): tensor(each.array, each) for i, each in enumerate(stores)}
    path = tmp_path / "x.pt"
    path.write_bytes(write(value))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pyqref.load(path)  # imports and tables come first
        tracemalloc.start()
        try:
            found = pyqref.load(path)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    held = sum(each.numel() * 4 for each in found.values())
    pieces = 3 << 22
    assert peak < held + pieces
    assert 12 << 22 == held
