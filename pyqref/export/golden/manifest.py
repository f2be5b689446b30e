"""``manifest.json``: what the arrays are. Its form has a version, :data:`SCHEMA`.

A manifest is an object with

``kind``
    :data:`KIND`.
``schema``
    1. A reader refuses a number that it does not know; new members may come without a new number.
``pyqref``
    The version that wrote it.
``arithmetic``, ``engine``, ``by_engine``
    What gave the integers: a name of :func:`pyqref.arithmetic.names`, or, where ``by_engine`` is
    true, the engine; and the engine that was set.
``inputs``
    Arrays that the model was called with.
``layers``
    In the order in which they ran, each an object with ``path``, ``node``, ``name``,
    ``operation``, ``arithmetic``, ``inputs``, ``output``, ``parameters``, ``stages``, ``clamp``,
    ``geometry`` and ``note``, as :class:`~pyqref.export.golden.vectors.Layer` says. ``parameters``
    and ``stages`` are objects of arrays by role, such as ``"weight"`` and ``"accumulator"``.
``skipped``
    Operations on real numbers, by path.
``files``
    The SHA-256 of every file beside the manifest, by name.

An array is an object with ``array`` (its name in ``vectors.npz``), ``type`` (``"uint8"``,
``"int8"``, ``"int32"``, ``"int64"``, ``"float32"`` or another type of NumPy), ``shape``,
``sha256`` (of its little-endian bytes, last axis fastest), ``files`` (by format, the file that has
it; for C the name of the array) and, if it holds stored integers, its grid: ``dtype``, ``scale``,
``zero_point``, ``quant_min``, ``quant_max``, and ``axis`` where there is a scale for each channel.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np

from ...version import __version__
from .vectors import Layer, Stored

__all__ = [
    "KIND",
    "MANIFEST",
    "SCHEMA",
    "bytes_of",
    "checksum_of",
    "checksum_of_array",
    "manifest_of",
]

KIND = "pyqref vectors"
MANIFEST = "manifest.json"
SCHEMA = 1


def bytes_of(array: np.ndarray) -> bytes:
    """The bytes of an array, little-endian, its last axis fastest."""
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def checksum_of_array(array: np.ndarray) -> str:
    """The SHA-256 of :func:`bytes_of` an array."""
    return hashlib.sha256(bytes_of(array)).hexdigest()


def _described(each: Stored, files: dict[str, str]) -> dict[str, Any]:
    """An array as a manifest has it."""
    return {
        "array": each.name,
        "type": each.array.dtype.name,
        "shape": list(each.array.shape),
        "sha256": checksum_of_array(each.array),
        "files": files,
        **each.grid,
    }


def manifest_of(
    layers: list[Layer],
    inputs: list[Stored],
    skipped: dict[str, str],
    settings: dict[str, Any],
    files_of: dict[str, dict[str, str]],
) -> dict[str, Any]:
    """The manifest, but for the checksums of files.

    Parameters
    ----------
    layers, inputs, skipped
        What was taken down.
    settings
        ``arithmetic``, ``engine`` and ``by_engine``.
    files_of
        For each array the names of its files, by format.
    """

    def told(each: Stored) -> dict[str, Any]:
        return _described(each, files_of.get(each.name, {}))

    def by_role(many: list[Stored]) -> dict[str, Any]:
        return {each.name.rpartition("/")[2]: told(each) for each in many}

    return {
        "kind": KIND,
        "schema": SCHEMA,
        "pyqref": __version__,
        **settings,
        "inputs": [told(each) for each in inputs],
        "layers": [
            {
                "path": layer.path,
                "node": layer.node,
                "name": layer.name,
                "operation": layer.operation,
                "arithmetic": layer.arithmetic,
                "inputs": [told(each) for each in layer.inputs],
                "output": told(layer.output),
                "parameters": by_role(layer.parameters),
                "stages": by_role(layer.stages),
                "clamp": None if layer.clamp is None else list(layer.clamp),
                "geometry": layer.geometry,
                "note": layer.note,
            }
            for layer in layers
        ],
        "skipped": skipped,
    }


def checksum_of(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
