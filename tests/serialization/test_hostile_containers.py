"""Containers that are damaged, or lie about the bytes they have."""

from __future__ import annotations

import io
import struct
import zipfile
from typing import Any

import numpy as np
import pytest
from serialization.torch_writer import (
    Global,
    Pickle,
    Reduce,
    archive,
    good_files,
    ordered,
    save,
    save_script,
    script_module,
)

import pyqref
from pyqref.serialization import FileError


def load(data: bytes) -> Any:
    return pyqref.load(io.BytesIO(data))


GOOD = good_files()
HOOKS = ordered({})


def rebuilt(*args: Any) -> Reduce:
    return Reduce("torch._utils._rebuild_tensor_v2", args)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ("storage", "has no storage, but 'storage'"),
        (("module", Global("torch.Size"), "0", "cpu", 4), "has no storage"),
        (("storage", Global("torch.Size"), "0", "cpu", 4), "which no tensor of pyqref can hold"),
        (("storage", 3, "0", "cpu", 4), "which no tensor of pyqref can hold"),
        (("storage", Global("torch.FloatStorage"), 0, "cpu", 4), "the key 0"),
        (("storage", Global("torch.FloatStorage"), "0", "cpu", -4), "size -4"),
        (("storage", Global("torch.FloatStorage"), "0", "cpu", 2**61), "more than the file"),
        (("storage", Global("torch.FloatStorage"), "0", "cpu", 5), "5 elements of float32 take 20"),
        (("storage", Global("torch.FloatStorage"), "9", "cpu", 4), "no record 'data/9'"),
        (("storage", Global("torch.FloatStorage"), "../x", "cpu", 4), "no record"),
        (("storage", Global("torch.FloatStorage"), "0", "cpu", 4, ("1", 0, 4)), "part of another"),
        (("storage", Global("torch.UntypedStorage"), "0", "cpu", 16), "does not tell its dtype"),
    ],
)
def test_references_to_storages(parts: Any, message: str) -> None:
    """A persistent id is checked against the bytes that are there."""
    reference = Pickle().code(parts) + b"Q"
    pickled = Pickle().dump(rebuilt(reference, 0, (4,), (1,), False, HOOKS))
    with pytest.raises(FileError, match=message):
        load(archive({"data.pkl": pickled, "data/0": bytes(16)}))


def test_one_storage_of_two_types() -> None:
    """The bytes of a storage are read once, as one type."""

    def of(name: str, count: int) -> Reduce:
        parts = ("storage", Global(f"torch.{name}"), "0", "cpu", count)
        return rebuilt(Pickle().code(parts) + b"Q", 0, (1,), (1,), False, HOOKS)

    for second, count in (("IntStorage", 4), ("FloatStorage", 3)):
        text = Pickle().dump([of("FloatStorage", 4), of(second, count)])
        with pytest.raises(FileError, match=r"4 of float32 elsewhere"):
            load(archive({"data.pkl": text, "data/0": bytes(16)}))


def patched(data: bytes, old: bytes, new: bytes) -> bytes:
    assert old in data
    return data.replace(old, new)


def test_zip_containers() -> None:
    """Compressed, encrypted, overlapping and doubled records are refused; so is a damaged one."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("a/data.pkl", b"\x80\x02N." + b" " * 100_000)
    with pytest.raises(FileError, match="compressed, which torch never writes; unpack"):
        load(packed.getvalue())
    good = GOOD["zip"]
    with pytest.raises(FileError, match="does not end with its directory"):
        load(good[:-1])
    with pytest.raises(FileError, match="does not end with its directory"):
        load(good + b"1")
    end = good.rindex(b"PK\x05\x06")
    for place, value, message in (
        (10, struct.pack("<H", 99), "fewer than its 99 records"),
        (12, struct.pack("<I", 2**31), "directory ends at byte"),
        (16, struct.pack("<I", 2**31), "directory ends at byte"),
        (16, struct.pack("<I", 0), "zip directory is damaged"),
        (10, b"\xff\xff", "of this large archive is damaged"),
    ):
        changed = bytearray(good)
        changed[end + place : end + place + len(value)] = value
        with pytest.raises(FileError, match=message):
            load(bytes(changed))
    first = good.index(b"PK\x01\x02")
    for place, value, message in (
        (8, b"\x01\x00", "is encrypted"),
        (20, struct.pack("<I", 2**31), "compressed|ends behind"),
        (42, struct.pack("<I", 40), "shares bytes|does not begin|ends behind"),
        (16, b"\x01\x02\x03\x04", "is damaged: its checksum is"),
    ):
        changed = bytearray(good)
        changed[first + place : first + place + len(value)] = value
        with pytest.raises(FileError, match=message):
            load(bytes(changed))
    doubled = patched(archive({"data.pkl": b"N.", "data.pk2": b"N."}), b"data.pk2", b"data.pkl")
    with pytest.raises(FileError, match="twice"):
        load(doubled)
    number = np.float32(3).tobytes()
    with pytest.raises(FileError, match=r"'data/0' is damaged: .*copy or download the file again"):
        load(patched(good, number, np.float32(7).tobytes()))
    with pytest.raises(FileError, match="byteorder must be little or big"):
        load(archive({"data.pkl": b"\x80\x02N.", "byteorder": b"middle"}))
    with pytest.raises(FileError, match=r"without data\.pkl"):
        load(archive({"version": b"3"}))
    with pytest.raises(FileError, match=r"before release 1\.1"):
        load(archive({"model.json": b"{}"}))
    numbers = io.BytesIO()
    np.savez(numbers, a=np.ones(2))
    with pytest.raises(FileError, match=r"numpy\.load"):
        load(numbers.getvalue())


def test_legacy_containers() -> None:
    """Lengths of storages are checked against the file."""
    good = GOOD["legacy"]
    with pytest.raises(FileError, match="oversized: 1 bytes behind the last storage"):
        load(good + b"1")
    for count in (2**62, -1, 7):
        size = (6).to_bytes(8, "little")
        with pytest.raises(FileError, match=r"truncated|elsewhere|oversized"):
            load(patched(good, size, count.to_bytes(8, "little", signed=True)))
    with pytest.raises(FileError, match="the protocol 7"):
        load(patched(good, Pickle().dump(1001), Pickle().dump(7)))
    with pytest.raises(FileError, match="in which order bytes come"):
        load(patched(good, b"little_endian", b"middle_endian"))
    keys = Pickle().dump(["0", "1"])
    for other, message in (
        (["0"], "is not in the file|oversized"),
        (["0", "0"], "it is there twice"),
        (["0", "9"], "no tensor names it"),
        ([None], "keys of storages are"),
    ):
        with pytest.raises(FileError, match=message):
            load(patched(good, keys, Pickle().dump(other)))


def test_script_archives() -> None:
    """Modules are checked as well; code is not read."""
    with pytest.raises(FileError, match="not a TorchScript module"):
        load(save_script({"a": 1}))
    with pytest.raises(FileError, match=r"refused: the pickle names os\.system"):
        load(save_script(script_module("Net", {"x": Reduce("os.system", ("ls",))})))
    with pytest.raises(FileError, match=r"refused: the pickle names os\.system"):
        load(save_script(script_module("Net", {}), (Reduce("os.system", ("ls",)),)))
    with pytest.raises(FileError, match=r"makes a __torch__\.Net of"):
        load(save_script(Reduce("__torch__.Net", (1,), {}, new=True)))
    with pytest.raises(FileError, match="is a module with the state"):
        load(save_script(script_module("Net", 3)))
    with pytest.raises(FileError, match="which is not read"):
        load(save_script(script_module("Net", {"x": script_module("torch.classes.a.B", 1)})))
    with pytest.raises(FileError, match=r"refused: the pickle names __torch__\.Net"):
        load(save(script_module("Net", {})))
