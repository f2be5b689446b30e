"""``save`` and ``load`` of whole models."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from .._typing import FileLike
from ..devices import device, require_cpu
from ..nn.modules.module import Module
from ..serialization.atomic import write_atomically
from ..serialization.container import pack, pack_into, parse_json, unpack
from ..serialization.errors import FileError
from ..serialization.files import _opened
from .building import ModuleBuilder
from .references import passed
from .script_module import RecursiveScriptModule, write_with
from .taking_apart import ModuleFlattener, require_scripted

__all__ = ["load", "save"]

_FORMAT = "pyqref"
_VERSION = "1"
_EXTRA = "extra file: "


def save(m: Module, f: FileLike, _extra_files: dict[str, Any] | None = None) -> None:
    """Write a scripted or traced model, structure and tensors, to a safetensors file.

    The file names the classes of the modules; no code lies in it. Integers of quantized weights
    take a byte each.

    Parameters
    ----------
    m
        What :func:`script` or :func:`trace` returned.
    f
        Path, or a file object with ``write``. A file at a path is replaced only when the
        new one is complete.
    _extra_files
        Texts or bytes to keep along, by name.

    Raises
    ------
    TypeError
        ``m`` has not been scripted, has hooks of its own, or a graph calls a function without
        a name.

    Warns
    -----
    NoEffectWarning
        An attribute is left out, since a file cannot hold it.

    Examples
    --------
    >>> import io, pyqref
    >>> from pyqref import nn
    >>> file = io.BytesIO()
    >>> pyqref.jit.save(pyqref.jit.script(nn.Linear(2, 1)), file)
    >>> _ = file.seek(0)
    >>> pyqref.jit.load(file).original_name
    'Linear'
    """
    require_scripted(m)
    flattener = ModuleFlattener()
    structure = json.dumps(flattener.flatten(m), allow_nan=False)
    flattener.warn_of_left_out()
    texts = {"format": _FORMAT, "pyqref.version": _VERSION, "pyqref.module": structure}
    for name, content in (_extra_files or {}).items():
        data = content.encode() if isinstance(content, str) else content
        if not isinstance(data, (bytes, bytearray)):
            raise TypeError(
                f"jit.save: _extra_files[{name!r}] must be text or bytes, "
                f"got {type(content).__name__}"
            )
        flattener.arrays[_EXTRA + str(name)] = np.frombuffer(bytes(data), np.uint8)
    if hasattr(f, "write"):
        f.write(pack(flattener.arrays, texts))
    else:
        path = os.fsdecode(os.fspath(f))
        write_atomically(path, lambda part: pack_into(part, flattener.arrays, texts))


def load(
    f: FileLike,
    map_location: object = None,
    _extra_files: dict[str, Any] | None = None,
    _restore_shapes: bool = False,
    *,
    classes: Iterable[Any] = (),
) -> RecursiveScriptModule:
    """Read a model that :func:`save` wrote. Nothing is imported, no code in the file is run.

    The classes of the model are looked for among those passed, in pyqref, and in modules that
    the program has imported. Graph modules need no class.

    Parameters
    ----------
    f
        Path, or a file object with ``read``.
    map_location
        None or ``"cpu"``.
    _extra_files
        A dict whose keys name texts that were kept along; their bytes are put into it.
    _restore_shapes
        Of no use here.
    classes
        Classes and functions of the model that stand in no module that is imported.

    Raises
    ------
    FileError
        The file is truncated, damaged, or of another kind, or a class is not found.

    Examples
    --------
    >>> import io, pyqref
    >>> pyqref.jit.load(io.BytesIO(b"no model"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    pyqref.serialization.errors.FileError: the file object: not a safetensors file: the ...
    """
    if isinstance(map_location, (str, device)):
        require_cpu(map_location, "jit.load: map_location: ", "use map_location='cpu'")
    given = passed(classes)
    if not hasattr(f, "read") and not os.path.exists(os.fspath(f)):
        raise ValueError(f"The provided filename {os.fspath(f)} does not exist")
    with _opened(f) as (data, size, name):
        arrays, metadata = unpack(data, size, name)
    if "pyqref.module" not in metadata:
        raise FileError(
            f"{name}: holds tensors, no model; read them with pyqref.load(f) and give them to a "
            "model with model.load_state_dict(...)"
        )
    if metadata.get("pyqref.version") != _VERSION:
        raise FileError(
            f"{name}: written in version {metadata.get('pyqref.version')!r} of the format, "
            f"this release reads version {_VERSION!r}; use a newer release of pyqref"
        )
    builder = ModuleBuilder(arrays, name, given)
    structure = parse_json(metadata["pyqref.module"].encode(), f"{name}: pyqref.module")
    model = builder.build(structure)
    extra = {each: arrays[each] for each in arrays if each.startswith(_EXTRA)}
    unused = sorted(set(arrays) - builder.used - set(extra))
    if unused:
        raise FileError(f"{name}: the structure does not say where {unused[0]!r} belongs")
    if not isinstance(model, Module):
        raise FileError(f"{name}: the model is a {type(model).__name__}")
    for key in _extra_files if _extra_files is not None else ():
        if _EXTRA + key in extra:
            _extra_files[key] = extra[_EXTRA + key].tobytes()  # type: ignore[index]
    return model if isinstance(model, RecursiveScriptModule) else RecursiveScriptModule(model)


write_with(save)
