"""A file of torch, of either container, as a value."""

from __future__ import annotations

import io
import warnings
from typing import Any, BinaryIO

from ..elements import told_of_widened
from ..errors import FileError
from .archive import Archive
from .constructors import CONSTRUCTORS
from .legacy import begins_like_legacy, read_legacy
from .machine import Machine
from .names import allow, allow_script
from .script import ScriptBuilder, script_archive
from .storages import ArchiveStorages
from .values import Builder

__all__ = ["begins_like_torch", "read_torch"]

#: A pickle is text and numbers: bytes of tensors lie outside of it.
_MAX_PICKLE = 1 << 28


def begins_like_torch(data: bytes) -> bool:
    r"""Return True if a file, by its first 32 bytes, is one that torch may have written.

    Examples
    --------
    >>> begins_like_torch(b"PK\x03\x04"), begins_like_torch(b"{}")
    (True, False)
    """
    return data[:4] == b"PK\x03\x04" or begins_like_legacy(data)


def read_torch(data: BinaryIO, size: int, file: str) -> object:
    r"""The value in a file that ``torch.save`` or ``torch.jit.save`` wrote.

    Parameters
    ----------
    data
        The file, at its beginning; it can be positioned.
    size
        Its length in bytes.
    file
        Its name, for errors.

    Warns
    -----
    UserWarning
        Something has another dtype or device than in the file.

    Raises
    ------
    FileError
        The file is damaged, or holds more than tensors and plain values.

    Examples
    --------
    >>> import io, zipfile
    >>> file = io.BytesIO()
    >>> with zipfile.ZipFile(file, "w") as archive:
    ...     archive.writestr("model/data.pkl", b"\x80\x02]K\x03a.")  # the list of a 3
    >>> size = file.tell()
    >>> _ = file.seek(0)
    >>> read_torch(file, size, "model.pt")
    [3]
    """
    try:
        builder, value = _read(data, size, file)
    except RecursionError as error:
        raise FileError(f"{file}: nested too deeply") from error
    notes = told_of_widened(builder.storages.widened)
    notes += builder.notes[:3]
    if len(builder.notes) > 3:
        notes.append(f"and {len(builder.notes) - 3} more")
    if notes:
        warnings.warn(f"load: {file}: {'; '.join(notes)}", stacklevel=3)
    return value


def _read(data: BinaryIO, size: int, file: str) -> tuple[Builder, Any]:
    beginning = data.read(32)
    data.seek(0)
    if beginning[:4] != b"PK\x03\x04":
        inert, storages = read_legacy(data, size, file, lambda name: allow(name, file, False))
        builder = Builder(storages, CONSTRUCTORS)
        return builder, builder.build(inert)
    archive = Archive(data, size, file)
    if "data.pkl" not in archive:
        archive.refuse(_no_pickle(archive))
    big_endian = _byte_order(archive)
    is_script = "constants.pkl" in archive
    if not is_script:
        inert = _pickle(archive, "data.pkl", is_script)
        builder = Builder(ArchiveStorages(archive, "data/", big_endian), CONSTRUCTORS)
        return builder, builder.build(inert)
    constants = ScriptBuilder(ArchiveStorages(archive, "constants/", big_endian))
    fixed = constants.build(_pickle(archive, "constants.pkl", is_script))
    builder = ScriptBuilder(ArchiveStorages(archive, "data/", big_endian))
    root = builder.build(_pickle(archive, "data.pkl", is_script))
    for name, count in constants.storages.widened.items():
        widened = builder.storages.widened
        widened[name] = widened.get(name, 0) + count
    builder.notes += constants.notes
    return builder, script_archive(builder, root, fixed)


def _pickle(archive: Archive, name: str, is_script: bool) -> Any:
    archive.check(name)
    text = archive.read(name, _MAX_PICKLE)
    file = archive.file
    is_model = b"_parameters" in text and b"_forward_hooks" in text

    def allowed(global_name: str) -> None:
        if is_script:
            allow_script(global_name, file)
        else:
            allow(global_name, file, is_model)

    machine = Machine(io.BytesIO(text), len(text), f"{file}: {name}", allowed)
    value = machine.run()
    if machine.left:
        archive.refuse(f"{name} has {machine.left} bytes behind its end")
    return value


def _byte_order(archive: Archive) -> bool:
    """Return True for big-endian files; files before 2.1 do not say, and are little-endian."""
    if "byteorder" not in archive:
        return False
    order = archive.read("byteorder", 16)
    if order not in (b"little", b"big"):
        archive.refuse(f"byteorder must be little or big, found {order!r}")
    return order == b"big"


def _no_pickle(archive: Archive) -> str:
    """Return the error for an archive without ``data.pkl``."""
    names = list(archive.records)
    if any(name.endswith(".npy") for name in names):
        return "a NumPy .npz file; load it with numpy.load and pyqref.from_numpy"
    if any(name.endswith("model.json") for name in names):
        return (
            "a TorchScript archive of before release 1.1; load it with a newer torch and save it "
            "again"
        )
    return "a zip archive without data.pkl, which torch.save did not write"
