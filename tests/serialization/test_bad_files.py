"""Truncated, damaged and hostile files: a right answer or a clear error, never anything else."""

from __future__ import annotations

import io
import json
import os

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import pyqref
from pyqref import nn
from pyqref.serialization import FileError


def saved(value) -> bytes:
    file = io.BytesIO()
    pyqref.save(value, file)
    return file.getvalue()


def load(data: bytes):
    return pyqref.load(io.BytesIO(data))


def container(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def entry(dtype="F32", shape=(1,), offsets=(0, 4)) -> dict:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def structured(structure: object, tensors: dict | None = None, body: bytes = b"") -> bytes:
    text = structure if isinstance(structure, str) else json.dumps(structure)
    metadata = {"format": "pyqref", "pyqref.version": "1", "pyqref.structure": text}
    return container({"__metadata__": metadata, **(tensors or {})}, body)


def model_state() -> dict:
    x = pyqref.tensor([[-1.0, 0.0], [0.5, 2.0]])
    scales, zero_points = pyqref.tensor([0.1, 0.2]), pyqref.tensor([0, 0])
    return {
        "weight": x,
        "q": pyqref.quantize_per_tensor(x, 0.1, 3, pyqref.quint8),
        "packed": (pyqref.quantize_per_channel(x, scales, zero_points, 0, pyqref.qint8), None),
        "steps": [1, 2.5, "text", pyqref.qint8],
    }


GOOD = saved(model_state())
HEADER_LENGTH = int.from_bytes(GOOD[:8], "little")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "truncated.*found 0 bytes"),
        (b"1234567", "found 7 bytes"),
        ((2**63).to_bytes(8, "little") + b"{}", "header length must be at most"),
        ((90).to_bytes(8, "little") + b"{}", "the header should have 90 bytes, found 2"),
        (container(b"\xff\xfe"), "not UTF-8"),
        (container(b"{"), "not JSON"),
        (container(b"[" * 100_000), "nested too deeply|not JSON"),
        (container([]), "must be a JSON object, found \\[\\]"),
        (container(b'{"a": 1, "a": 2}'), "the key 'a' twice"),
        (container(b'{"a": NaN}'), "NaN is not JSON"),
        (container({"__metadata__": []}), "__metadata__ must map names to strings"),
        (container({"__metadata__": {"a": 1}}), "__metadata__ must map names to strings"),
        (container({"x": 3}), "'x': must have dtype, shape and data_offsets, found 3"),
        (container({"x": {**entry(), "more": 1}}), "'x': must have dtype"),
        (container({"x": entry("F99")}), "'x': dtype must be one of .*, found 'F99'"),
        (container({"x": entry("F4")}), "found 'F4'"),
        (container({"x": entry("BF16")}), "of BF16 takes 2 bytes"),
        (container({"x": entry([])}), "'x': dtype must be one of"),
        (container({"x": entry(shape=[-1])}), "'x': shape must be a list of integers >= 0"),
        (container({"x": entry(shape=[True])}), "'x': shape must be a list"),
        (container({"x": entry(shape=[1.0])}), "'x': shape must be a list"),
        (container({"x": entry(shape=[1] * 99)}), "at most 32 dimensions, found 99"),
        (container({"x": entry(shape=[2**62])}), "'x': .* cannot be addressed"),
        (container({"x": entry(shape=[2**40])}), "'x': shape .* takes"),
        (container({"x": entry(shape=[0, 2**62], offsets=[0, 0])}), "cannot be addressed"),
        (container({"x": entry(offsets=[4, 0])}), "'x': data_offsets must be"),
        (container({"x": entry(offsets=[0])}), "'x': data_offsets must be"),
        (container({"x": entry()}, b"123"), "truncated: .* 4 bytes of tensors, found 3"),
        (container({"x": entry()}, b"12345"), "oversized: .* 4 bytes of tensors, found 5"),
        (container({"x": entry(offsets=[4, 8])}, b"12345678"), "'x': data must begin at byte 0"),
        (
            container({"x": entry(offsets=[0, 4]), "y": entry(offsets=[2, 6])}, b"123456"),
            "'y': data must begin at byte 4.*found 2",
        ),
    ],
)
def test_bad_containers(data: bytes, message: str) -> None:
    """Every way in which a header can be wrong has its own error."""
    with pytest.raises(FileError, match=message):
        load(data)


def tensor_node(quantizer) -> list:
    return ["tensor", "x", False, quantizer]


PER_TENSOR = {"dtype": "quint8", "scale": 0.5, "zero_point": 3}
PER_CHANNEL = {
    "dtype": "quint8",
    "qscheme": "per_channel_affine",
    "axis": 0,
    "scales": [0.5],
    "zero_points": [3],
}


@pytest.mark.parametrize(
    ("quantizer", "message"),
    [
        (3, "the quantizer must be an object, found 3"),
        ({}, "dtype must be one of .*, found None"),
        ({**PER_TENSOR, "dtype": "float32"}, "dtype must be one of .*, found 'float32'"),
        ({**PER_TENSOR, "dtype": []}, "dtype must be one of"),
        ({**PER_TENSOR, "dtype": "qint8"}, "qint8.*int8.*uint8"),
        ({**PER_TENSOR, "dtype": "quint4x2"}, r"in \[0, 15\] for quint4x2, found 200"),
        ({**PER_TENSOR, "scale": 0}, "scale must be positive"),
        ({**PER_TENSOR, "scale": -1.0}, "scale must be positive"),
        ({**PER_TENSOR, "scale": "1"}, "scale must be a finite int or float, found '1'"),
        ({**PER_TENSOR, "scale": True}, "scale must be a finite"),
        ({**PER_TENSOR, "scale": 10**400}, "'x': "),
        ({**PER_TENSOR, "scale": 1e-300}, "scale must not be subnormal"),
        ({**PER_TENSOR, "zero_point": 300}, r"zero_point must be in \[0, 255\].*got 300"),
        ({**PER_TENSOR, "zero_point": 1.5}, "zero_point must be a finite int, found 1.5"),
        ({**PER_TENSOR, "more": 1}, "the quantizer has"),
        ({**PER_CHANNEL, "axis": 1}, r"axis must be in \[0, 0\]"),
        ({**PER_CHANNEL, "axis": -1}, r"axis must be in \[0, 0\]"),
        ({**PER_CHANNEL, "axis": None}, "axis must be a finite int"),
        ({**PER_CHANNEL, "qscheme": "none"}, "qscheme must be one of"),
        ({**PER_CHANNEL, "scales": 3}, "scales must be a list"),
        ({**PER_CHANNEL, "scales": [0.5, 0.5]}, "'x': "),
        ({**PER_CHANNEL, "scales": [0.0]}, "scales must be positive"),
        ({**PER_CHANNEL, "zero_points": [256]}, "zero_points must be in"),
        ({**PER_CHANNEL, "zero_points": [2**80]}, "'x': "),
        ({**PER_CHANNEL, "zero_points": [0.5]}, "zero_points must be a finite int"),
    ],
)
def test_bad_quantizers(quantizer, message: str) -> None:
    """Scales, zero points, axes and dtypes are checked before a tensor is made of them."""
    tensors = {"x": entry("U8", (1,), (0, 1))}
    with pytest.raises(FileError, match=message) as error:
        load(structured(tensor_node(quantizer), tensors, b"\xc8"))
    assert "'x'" in str(error.value)


def test_nan_scale() -> None:
    """NaN and 1e999 are no scales."""
    tensors = {"x": entry("U8", (1,), (0, 1))}
    for scale, message in (("NaN", "NaN is not JSON"), ("1e999", "finite int or float")):
        text = json.dumps(tensor_node(PER_TENSOR)).replace("0.5", scale)
        with pytest.raises(FileError, match=message):
            load(structured(text, tensors, b"\x01"))


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        ("", "pyqref.structure is not JSON"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        ('{"a": 1}', "a node"),
        ([], "a node"),
        ([3], "a node"),
        (["tuple"], "a node"),
        (["tuple", 3], "a node"),
        (["tuple", [], []], "a node"),
        (["eval", "print(1)"], "a node"),
        (["float", "1"], "a node"),
        (["dtype", "complex256"], "a node"),
        (["device", "tpu"], "a node"),
        (["size", ["a"]], "a size"),
        (["dict", [3]], "the entry 3"),
        (["dict", [[1, 2, 3]]], "the entry"),
        (["dict", [["a", 1], ["a", 2]]], "the key 'a' twice"),
        (["dict", [[["list", []], 1]]], "has the key"),
        (["dict", [], 3], "has 2 parts"),
        (["ordered_dict", [], 3], "the _metadata of a state dict is 3"),
        (["ordered_dict", [], ["dict", [["a", 1]]]], "the _metadata of a state dict is"),
        (["tensor", "y", False, None], "'y': the structure names it"),
        (["tensor", "x"], "a tensor"),
        (["tensor", 3, False, None], "a tensor"),
        (["tensor", "x", 1, None], "a tensor"),
        (["tensor", "x", True, None], "cannot require a gradient"),
        (["parameter", "x", False, PER_TENSOR], "cannot require a gradient"),
        (["list", []], "does not say where 'x' belongs"),
    ],
)
def test_bad_structures(structure, message: str) -> None:
    """The structure is checked node by node; nothing in it is run."""
    tensors = {"x": entry("U8", (1,), (0, 1))}
    with pytest.raises(FileError, match=message):
        load(structured(structure, tensors, b"\x01"))


def test_deep_structure() -> None:
    """A structure of 51 levels is refused before Python's own limit."""
    structure: object = 1
    for _ in range(60):
        structure = ["list", [structure]]
    with pytest.raises(FileError, match="more than 50 levels"):
        load(structured(structure))


def test_other_version() -> None:
    """A newer format is named as such."""
    with pytest.raises(FileError, match=r"version '2'.*newer release"):
        load(container({"__metadata__": {"format": "pyqref", "pyqref.version": "2"}}))


def test_other_formats() -> None:
    """An npy file is recognised; of pickles, see test_hostile_pickles.py."""
    array = io.BytesIO()
    np.save(array, np.zeros(2))
    with pytest.raises(FileError, match=r"numpy\.load"):
        load(array.getvalue())


def test_error_names_the_file(tmp_path) -> None:
    """The path stands in the message; folders, pipes and missing files are told apart."""
    path = tmp_path / "model.safetensors"
    path.write_bytes(GOOD[:-1])
    with pytest.raises(FileError, match=r"model\.safetensors: truncated"):
        pyqref.load(path)
    with pytest.raises(FileError, match="not a regular file"):
        pyqref.load(tmp_path)
    with pytest.raises(FileNotFoundError):
        pyqref.load(tmp_path / "missing")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(FileError, match="not a regular file"):
            pyqref.load(tmp_path / "pipe")


def test_model_is_left_as_it_was(tmp_path) -> None:
    """A damaged file, and one of another model, change nothing."""
    model = nn.ParameterDict({"a": pyqref.zeros(2), "b": pyqref.zeros(3)})
    path = tmp_path / "x"
    pyqref.save({"a": pyqref.ones(2), "b": pyqref.ones(4)}, path)
    with pytest.raises(RuntimeError, match="size mismatch for b"):
        model.load_state_dict(pyqref.load(path))
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(FileError):
        model.load_state_dict(pyqref.load(path))
    assert [0.0] * 5 == [*model["a"].tolist(), *model["b"].tolist()]


def outcome(data: bytes) -> None:
    """Load; what comes out is an ordinary value or a FileError."""
    try:
        value = load(data)
    except FileError:
        return
    check(value)


def check(value) -> None:
    """A value that was loaded can be looked at throughout."""
    if isinstance(value, pyqref.Tensor):
        value.tolist() if not value.is_quantized else value.dequantize().tolist()
    elif isinstance(value, dict):
        for each in value.values():
            check(each)
    elif isinstance(value, list | tuple):
        for each in value:
            check(each)


@settings(deadline=None, max_examples=200)
@given(st.integers(0, len(GOOD) - 1))
def test_every_truncation_is_an_error(length: int) -> None:
    """No prefix of a file is a file."""
    with pytest.raises(FileError):
        load(GOOD[:length])


@settings(deadline=None, max_examples=200)
@given(st.binary(min_size=1, max_size=20))
def test_trailing_bytes_are_an_error(more: bytes) -> None:
    """Nothing may follow the tensors."""
    with pytest.raises(FileError, match="oversized"):
        load(GOOD + more)


@settings(deadline=None, max_examples=200)
@given(st.lists(st.tuples(st.integers(0, len(GOOD) - 1), st.integers(0, 255)), max_size=4))
def test_flipped_bytes(changes: list[tuple[int, int]]) -> None:
    """Whatever bytes are changed, the outcome is a value or a FileError."""
    data = bytearray(GOOD)
    for place, byte in changes:
        data[place] = byte
    outcome(bytes(data))


@settings(deadline=None, max_examples=200)
@given(st.integers(8, HEADER_LENGTH), st.binary(max_size=6), st.integers(0, 6))
def test_edited_headers(place: int, inserted: bytes, removed: int) -> None:
    """Headers with pieces put in and taken out, their length put right."""
    header = bytearray(GOOD[8 : 8 + HEADER_LENGTH])
    header[place : place + removed] = inserted
    outcome(container(bytes(header), GOOD[8 + HEADER_LENGTH :]))


NODES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 300)
    | st.floats()
    | st.sampled_from(
        ["tensor", "parameter", "x", "y", "dict", "list", "size", "quint8", "inf", "dtype", "scale"]
    ),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*PER_TENSOR, *PER_CHANNEL]), inner, max_size=5)
    ),
    max_leaves=12,
)


@settings(deadline=None, max_examples=200)
@given(NODES)
@example(["parameter", "x", True, None])
@example(["size", [["list", []]]])
@example(["counter", [["a", ["list", []]]]])
@example(["ordered_dict", [], ["list", []]])
def test_random_structures(node) -> None:
    """Structures made of the right words in wrong places."""
    outcome(structured(node, {"x": entry("U8", (1,), (0, 1))}, b"\x01"))


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    """Bytes that are no file at all."""
    outcome(data)
