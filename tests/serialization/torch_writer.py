"""Writes the containers of ``torch.save`` and ``torch.jit.save`` without torch, for tests.

Only opcodes that are needed are here. The layout is that of files of torch 2.13, which
``test_recorded_files.py`` holds this writer against.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MAGIC = 0x1950A86A20F9469CFC6C
STORAGES = {
    "float32": "FloatStorage",
    "float64": "DoubleStorage",
    "float16": "HalfStorage",
    "uint8": "ByteStorage",
    "int8": "CharStorage",
    "int16": "ShortStorage",
    "int32": "IntStorage",
    "int64": "LongStorage",
    "bool": "BoolStorage",
}


@dataclass
class Global:
    """A name, such as ``torch.FloatStorage``."""

    name: str


@dataclass
class Reduce:
    """A call of a name, with a state that BUILD sets."""

    name: str
    args: tuple
    state: Any = None
    new: bool = False


@dataclass
class Storage:
    """The numbers of a storage, whose class is ``kind``."""

    array: np.ndarray
    kind: str = ""
    key: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        self.kind = self.kind or "torch." + STORAGES[self.array.dtype.name]


def ordered(state: Mapping[str, Any], metadata: Mapping[str, Any] | None = None) -> Reduce:
    """An OrderedDict, as ``state_dict()`` gives it."""
    state_of = None if metadata is None else {"_metadata": ordered(metadata)}
    made = Reduce("collections.OrderedDict", (), state_of)
    made.items = dict(state)  # type: ignore[attr-defined]
    return made


def tensor(
    array: Any,
    storage: Storage | None = None,
    offset: int = 0,
    stride: Any = None,
    size: Any = None,
) -> Reduce:
    """A dense tensor; a view if a storage is given."""
    array = np.asarray(array)
    storage = storage or Storage(array.reshape(-1))
    steps = tuple(step // array.itemsize for step in np.empty(array.shape, array.dtype).strides)
    size = array.shape if size is None else size
    args = (storage, offset, size, steps if stride is None else stride, False, ordered({}))
    return Reduce("torch._utils._rebuild_tensor_v2", args)


def quantized(array: Any, kind: str, *quantizer: Any) -> Reduce:
    """A quantized tensor: ``kind`` is such as ``QInt8Storage``."""
    plain = tensor(array, Storage(np.asarray(array).reshape(-1), f"torch.{kind}"))
    storage, offset, size, stride, grad, hooks = plain.args
    args = (storage, offset, size, stride, quantizer, grad, hooks)
    return Reduce("torch._utils._rebuild_qtensor", args)


def script_object(kind: str, state: Any) -> Reduce:
    """A packed weight, as ``torch.save`` writes it."""
    name = f"__torch__.torch.classes.{kind}"
    return Reduce("torch.ScriptObject", (), (state, name), new=True)


class Pickle:
    """Pickles values with protocol 2; storages are numbered as they come."""

    def __init__(self, legacy: bool = False) -> None:
        self.legacy = legacy
        self.storages: list[Storage] = []

    def dump(self, value: Any) -> bytes:
        """The pickle of a value."""
        return b"\x80\x02" + self.code(value) + b"."

    def code(self, value: Any) -> bytes:
        """Opcodes that push a value."""
        plain = {None: b"N", True: b"\x88", False: b"\x89"}
        if value is None or value is True or value is False:
            return plain[value]
        if isinstance(value, bytes):  # spelled out by the test
            return value
        if isinstance(value, int):
            size = (value.bit_length() + 8) // 8
            return b"\x8a" + bytes([size]) + value.to_bytes(size, "little", signed=True)
        if isinstance(value, float):
            return b"G" + struct.pack(">d", value)
        if isinstance(value, str):
            text = value.encode()
            return b"X" + struct.pack("<I", len(text)) + text
        if isinstance(value, tuple):
            return b"(" + b"".join(map(self.code, value)) + b"t"
        if isinstance(value, list):
            return b"](" + b"".join(map(self.code, value)) + b"e"
        if isinstance(value, dict):
            return b"}" + self.items(value)
        if isinstance(value, Global):
            module, _, name = value.name.rpartition(".")
            return f"c{module}\n{name}\n".encode()
        if isinstance(value, Storage):
            return self.reference(value)
        code = self.code(Global(value.name)) + self.code(value.args)
        code += b"\x81" if value.new else b"R"
        code += self.items(getattr(value, "items", {}))
        return code if value.state is None else code + self.code(value.state) + b"b"

    def items(self, value: dict) -> bytes:
        """Keys and values of the dictionary on the stack."""
        pairs = b"".join(self.code(key) + self.code(each) for key, each in value.items())
        return b"(" + pairs + b"u" if value else b""

    def reference(self, storage: Storage) -> bytes:
        """A persistent id; the same object has the same key."""
        if not any(each is storage for each in self.storages):
            storage.key = str(len(self.storages))
            self.storages.append(storage)
        count = storage.array.size
        if storage.kind.endswith("UntypedStorage") and not self.legacy:
            count *= storage.array.itemsize
        parts = ("storage", Global(storage.kind), storage.key, "cpu", count)
        return self.code((*parts, None) if self.legacy else parts) + b"Q"


def archive(records: Mapping[str, bytes], folder: str = "archive") -> bytes:
    """A zip file of records that are stored as they are."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as packed:
        for name, data in records.items():
            packed.writestr(f"{folder}/{name}", data)
    return file.getvalue()


def raw(array: np.ndarray, big_endian: bool = False) -> bytes:
    """The bytes of an array."""
    return (
        np.ascontiguousarray(array)
        .astype(array.dtype.newbyteorder(">" if big_endian else "<"))
        .tobytes()
    )


def save(value: Any, big_endian: bool = False) -> bytes:
    """Return the bytes that ``torch.save`` writes."""
    pickle = Pickle()
    records = {"data.pkl": pickle.dump(value), "byteorder": b"big" if big_endian else b"little"}
    for each in pickle.storages:
        records[f"data/{each.key}"] = raw(each.array, big_endian)
    return archive({**records, "version": b"3\n"})


def save_legacy(value: Any, big_endian: bool = False) -> bytes:
    """Return the bytes that ``torch.save`` wrote before release 1.6."""
    pickle = Pickle(legacy=True)
    text = pickle.dump(value)
    order = "big" if big_endian else "little"
    system = {"protocol_version": 1001, "little_endian": not big_endian, "type_sizes": {"int": 4}}
    parts = [Pickle().dump(each) for each in (MAGIC, 1001, system)]
    parts += [text, Pickle().dump([each.key for each in pickle.storages])]
    for each in pickle.storages:
        parts += [each.array.size.to_bytes(8, order), raw(each.array, big_endian)]
    return b"".join(parts)


def save_script(root: Any, constants: tuple = ()) -> bytes:
    """Return the bytes that ``torch.jit.save`` writes, without the code."""
    records: dict[str, bytes] = {"version": b"3\n", "code/__torch__.py": b"class Net(Module):\n"}
    for name, folder, value in (("data", "data/", root), ("constants", "constants/", constants)):
        pickle = Pickle()
        records[f"{name}.pkl"] = pickle.dump(value)
        for each in pickle.storages:
            records[folder + each.key] = raw(each.array)
    return archive(records)


def script_module(name: str, state: Any) -> Reduce:
    """A module of a TorchScript archive."""
    return Reduce(f"__torch__.{name}", (), state, new=True)


def good_files() -> dict[str, bytes]:
    """A small good file of each format, by name."""
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    qweight = quantized(
        np.int8([[1, -2, 3], [4, 5, -6]]),
        "QInt8Storage",
        Global("torch.per_channel_affine"),
        tensor(np.float64([0.5, 0.25])),
        tensor(np.int64([0, 0])),
        0,
    )
    bias = Reduce(
        "torch._utils._rebuild_parameter", (tensor(np.float32([1, 2])), True, ordered({}))
    )
    state = ordered({"weight": tensor(weight), "bias": bias}, {"": {"version": 1}})
    packed = ordered(
        {
            "scale": tensor(np.float32(0.5)),
            "zero_point": tensor(np.int64(3)),
            "_packed_params.dtype": Global("torch.qint8"),
            "_packed_params._packed_params": (qweight, bias),
        },
        {"": {"version": 3}, "_packed_params": {"version": 3}},
    )
    inner = {
        "dtype": 12,
        "_packed_params": script_module(
            "torch.classes.quantized.LinearPackedParamsBase", (qweight, bias)
        ),
    }
    params = script_module("torch.ao.nn.quantized.modules.linear.LinearPackedParams", inner)
    layer = {"training": True, "scale": 0.5, "zero_point": 3, "_packed_params": params}
    linear = script_module("torch.ao.nn.quantized.modules.linear.Linear", layer)
    root = script_module("Net", {"fc": linear, "training": False})
    return {
        "zip": save(state),
        "legacy": save_legacy(state),
        "zip quantized": save(packed),
        "legacy quantized": save_legacy(packed),
        "script": save_script(root, (tensor(np.float32([1.5])),)),
    }
