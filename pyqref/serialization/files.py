"""``save`` and ``load``."""

from __future__ import annotations

import io
import json
import os
import stat
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from .._typing import FileLike, Tensor
from ..devices import device, require_cpu
from .atomic import write_atomically
from .container import pack, pack_into, parse_json, unpack
from .errors import FileError
from .structure import Builder, Flattener
from .torch_files import begins_like_torch, read_torch

__all__ = ["load", "save"]

_FORMAT = "pyqref"
_VERSION = "1"


def save(obj: Mapping[str, Any] | Tensor, f: FileLike) -> None:
    """Write a state dict, or other nested values, to a safetensors file.

    The tensors lie in the file under their keys. How they hang together, and the scales
    and zero points of the quantized ones, is JSON in its metadata.

    Parameters
    ----------
    obj
        Tensors (quantized per tensor or per channel too), numbers, strings, None, dtypes,
        and dictionaries, lists and tuples of them, such as ``state_dict()`` of a module
        or of an optimiser.
    f
        Path, or a file object with ``write``. A file at a path is replaced only when the
        new one is complete.

    Raises
    ------
    TypeError
        ``obj`` holds something else; the message says where.

    Notes
    -----
    ``torch.save`` pickles any object; a pickle runs code when it is loaded, so there is
    none here.

    Examples
    --------
    >>> import io, pyqref
    >>> file = io.BytesIO()
    >>> pyqref.save({"weight": pyqref.tensor([1.0, 2.0]), "epoch": 3}, file)
    >>> _ = file.seek(0)
    >>> pyqref.load(file)
    {'weight': tensor([1., 2.]), 'epoch': 3}
    """
    flattener = Flattener()
    structure = json.dumps(flattener.flatten(obj), allow_nan=False)
    texts = {"format": _FORMAT, "pyqref.version": _VERSION, "pyqref.structure": structure}
    if hasattr(f, "write"):
        f.write(pack(flattener.arrays, texts))
    else:
        path = os.fsdecode(os.fspath(f))
        write_atomically(path, lambda part: pack_into(part, flattener.arrays, texts))


def load(
    f: FileLike,
    map_location: Any = None,
    pickle_module: object = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: object,
) -> Any:
    r"""Read what :func:`save` wrote, a safetensors file, or a file of torch.

    No code in the file is run, whatever it holds. Files that ``torch.save`` wrote (``.pt``,
    ``.pth``, ``.bin``; the zip container and the one from before release 1.6) are pickles; they are
    read by a machine that knows a list of names, makes tensors and plain values, and refuses
    everything else by its name. torch is not needed.

    Parameters
    ----------
    f
        Path, or a file object with ``read``.
    map_location
        None or ``"cpu"``. A function or dictionary, by which ``torch`` finds another
        device, is accepted: everything is on the CPU.
    pickle_module, mmap, **pickle_load_args
        Accepted as in ``torch``; they have no effect, and warn where they are given.
    weights_only
        Accepted as in ``torch``; nothing but weights and plain values is ever read here, so
        that False warns.

    Returns
    -------
    object
        What was saved: of ``torch.save`` dictionaries, lists, numbers, NumPy arrays of numbers,
        and tensors, quantized ones too; packed weights as pairs of weight and bias, as
        ``load_state_dict`` takes them. Tensors that share memory in the file share it here. A
        safetensors file that another program wrote gives a dictionary of tensors, an archive of
        ``torch.jit.save`` a :class:`~pyqref.serialization.ScriptArchive`.

    Warns
    -----
    UserWarning
        Tensors are of a dtype that pyqref does not have: bfloat16 and 8-bit floats are read as
        float32, uint16 as int32, uint32 as int64, each of which holds all of their values.

    Raises
    ------
    FileError
        The file is truncated, damaged, of another kind, or holds something else than tensors
        and plain values, such as a model that was saved as a whole.

    Notes
    -----
    Each tensor is read into its own memory, piece by piece: no more is held than the file has,
    or twice that where a file object is given instead of a path.

    Examples
    --------
    >>> import io, pyqref
    >>> pyqref.load(io.BytesIO(b"PK\x03\x04"))
    Traceback (most recent call last):
    ...
    pyqref.serialization.errors.FileError: the file object: truncated: a zip archive begins ...
    """
    if isinstance(map_location, str | device):
        require_cpu(map_location, "load: map_location: ", "use map_location='cpu'")
    elif not (map_location is None or callable(map_location) or isinstance(map_location, dict)):
        raise TypeError(f"load: map_location must be a device, got {type(map_location).__name__}")
    if weights_only is False:
        warnings.warn(
            "load: weights_only=False has no effect: weights and plain values are read only",
            stacklevel=2,
        )
    given = {"pickle_module": pickle_module, "mmap": mmap or None, **pickle_load_args}
    for option, value in given.items():
        if value is not None:
            warnings.warn(f"load: {option} has no effect: no pickle is run here", stacklevel=2)
    with _opened(f) as (data, size, name):
        beginning = data.read(32)
        data.seek(0)
        if begins_like_torch(beginning):
            return read_torch(data, size, name)
        arrays, metadata = unpack(data, size, name)
    builder = Builder(arrays, name)
    if metadata.get("format") != _FORMAT:
        return {key: builder.build(["tensor", key, False, None]) for key in arrays}
    if metadata.get("pyqref.version") != _VERSION:
        raise FileError(
            f"{name}: written in version {metadata.get('pyqref.version')!r} of the format, "
            f"this release reads version {_VERSION!r}; use a newer release of pyqref"
        )
    if "pyqref.module" in metadata:
        raise FileError(f"{name}: a whole model; read it with pyqref.jit.load(f)")
    structure = metadata.get("pyqref.structure", "").encode()
    value = builder.build(parse_json(structure, f"{name}: pyqref.structure"))
    unused = sorted(set(arrays) - builder.used)
    if unused:
        raise FileError(f"{name}: the structure does not say where {unused[0]!r} belongs")
    return value


@contextmanager
def _opened(f: Any) -> Iterator[tuple[BinaryIO, int, str]]:
    """A file to read from, how many bytes it still has, and what to call it in errors."""
    if hasattr(f, "read"):
        name = getattr(f, "name", None)
        data = f.read()
        if not isinstance(data, bytes | bytearray):
            raise TypeError(
                f"load: the file object must be opened in binary mode, got {type(data).__name__}"
            )
        yield io.BytesIO(data), len(data), name if isinstance(name, str) else "the file object"
        return
    path = os.fsdecode(os.fspath(f))
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise FileError(f"{path}: not a regular file")
    with open(path, "rb") as file:
        yield file, os.fstat(file.fileno()).st_size, path
