"""Tell which library wrote a file, and in which container, as far as the file tells."""

from __future__ import annotations

import json
import os
from typing import BinaryIO

from pyqref.serialization import FileError
from pyqref.serialization.torch_files.archive import Archive

__all__ = ["container"]

_MAX_HEADER = 100_000_000


def container(path: str) -> str:
    """The container and the library of a file that :func:`pyqref.load` reads.

    Returns
    -------
    str
        Such as ``"torch.save, zip container, version 3, little-endian"``. torch writes no
        release number into a file; the version is that of its container.

    Raises
    ------
    FileError
        It is no such file.
    """
    with open(path, "rb") as file:
        begin = file.read(32)
        file.seek(0)
        if begin[:4] == b"PK\x03\x04":
            return _zip(file, os.fstat(file.fileno()).st_size, path)
        if begin[:1] == b"\x80" and begin[8:9] != b"{":
            return "torch.save, legacy container (before release 1.6, or asked for)"
        length = int.from_bytes(file.read(8), "little")
        if length > _MAX_HEADER:
            raise FileError(f"{path}: not a file of torch, safetensors or pyqref")
        header = json.loads(file.read(length))
    metadata = header.get("__metadata__", {})
    if metadata.get("format") == "pyqref":
        return f"pyqref.save, safetensors container, version {metadata.get('pyqref.version')}"
    written = {"pt": "torch", "np": "NumPy", "tf": "TensorFlow", "flax": "Flax", "mlx": "MLX"}
    name = written.get(metadata.get("format", ""), metadata.get("format"))
    return f"safetensors{f', of {name}' if name else ', writer not told'}"


def _zip(file: BinaryIO, size: int, path: str) -> str:
    archive = Archive(file, size, path)

    def text(name: str) -> str:
        return archive.read(name, 64).decode("ascii", "replace").strip() if name in archive else ""

    kind = (
        "torch.jit.save, TorchScript archive"
        if "constants.pkl" in archive
        else ("torch.save, zip container")
    )
    parts = [kind, f"version {text('version') or 'not told'}"]
    if order := text("byteorder"):
        parts.append(f"{order}-endian")
    if form := text(".format_version"):
        parts.append(f"format {form}")
    return ", ".join(parts)
