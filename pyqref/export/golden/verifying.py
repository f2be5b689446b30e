"""Compare the results of a device with the vectors of a model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np

from ... import jit
from ...arithmetic import get
from ...explaining import Differences, explain_diff
from ...tensor import from_numpy
from ...tensor.quantized import make_per_channel, make_per_tensor
from .hexadecimal import from_ihex, from_readmemh
from .problems import GotError, Problem
from .reading import read_manifest
from .resembling import resembling
from .taking import computing
from .ties import on_ties

__all__ = ["StageDifference", "Verification", "verify"]

Array = np.ndarray[Any, Any]
_READERS = {"readmemh": from_readmemh, "ihex": from_ihex}


class StageDifference(NamedTuple):
    """How an array between input and output of a layer differs.

    Attributes
    ----------
    layer, stage : str
        Such as ``"fc"`` and ``"accumulator"``.
    elements, differing : int
        How many there are, and how many differ.
    place : tuple of int
        Of the first that differs.
    expected, got : int or float
        What stands there.

    Examples
    --------
    >>> print(StageDifference("fc", "accumulator", 8, 1, (0, 3), 505, 249))
    fc accumulator: 1 of 8 differ, first accumulator[0, 3]: 505 expected, got 249
    """

    layer: str
    stage: str
    elements: int
    differing: int
    place: tuple[int, ...] = ()
    expected: Any = None
    got: Any = None

    def __str__(self) -> str:
        head = f"{self.layer} {self.stage}: {self.differing} of {self.elements} differ"
        if not self.differing:
            return head
        place = "" if not self.place else str(list(self.place))
        return f"{head}, first {self.stage}{place}: {self.expected} expected, got {self.got}"


class Verification:
    """Result of :func:`verify`.

    Attributes
    ----------
    differences : Differences
        Of the outputs of layers: the first layer where both part, counts and causes.
    stages : tuple of StageDifference
        Of other arrays that were given, such as inputs, weights and accumulators, in the order of
        computation.
    resembling : tuple of str
        The arithmetics in which the first layer that differs gives just what was got.
    ties : int or None
        How many of the outputs that differ there lie on a tie of the last rounding; None where
        the stages of the layer do not tell.

    Examples
    --------
    >>> stage = StageDifference("fc", "accumulator", 8, 0)
    >>> found = Verification(Differences(()), (stage,))
    >>> found.ok, found
    (True, The one array inside a layer is the same.)
    """

    def __init__(
        self,
        differences: Differences,
        stages: tuple[StageDifference, ...],
        resembling: tuple[str, ...] = (),
        ties: int | None = None,
    ) -> None:
        self.differences = differences
        self.stages = stages
        self.resembling = resembling
        self.ties = ties

    @property
    def ok(self) -> bool:
        """True if nothing differs."""
        return self.differences.first is None and not any(each.differing for each in self.stages)

    def __str__(self) -> str:
        lines = []
        parted = [each for each in self.stages if each.differing]
        if self.stages and not parted:
            count = len(self.stages)
            many = f"All {count} arrays inside layers are the same."
            lines = [many if count > 1 else "The one array inside a layer is the same."]
        elif parted:
            lines = ["Inside layers, in the order of computation:", *map(str, parted), ""]
        first = self.differences.first
        if first is not None and self.resembling:
            lines.append(f"{first.layer}: all outputs are those of another arithmetic:")
            lines += [f"  {name}: {get(name).summary}" for name in self.resembling]
        if first is not None and self.ties is not None:
            lines.append(
                f"{first.layer}: {self.ties} of the {first.count} outputs that differ lie on a tie "
                "of the last rounding."
            )
        if self.differences.layers:
            lines.append(str(self.differences))
        return "\n".join(lines).strip()

    __repr__ = __str__


def verify(
    folder: str | os.PathLike[str], got: Any, *, progress: bool | None = None
) -> Verification:
    """Compare what a device computed with the vectors that it was given.

    Parameters
    ----------
    folder
        Written by :func:`vectors`.
    got
        A mapping from names of arrays to arrays, the path of an ``.npz`` file of them, or a folder
        with files of the names that the vectors have in the formats ``"readmemh"`` and
        ``"ihex"``. The output of a layer has the path of the layer as its name, or, as in
        ``vectors.npz``, ``path/output``; stages are ``path/accumulator`` and so on. There need not
        be all of them.
    progress
        Whether to show a progress bar; None for a terminal only.

    Returns
    -------
    Verification
        Prints as a table. Every layer is given what came before it on the device
        (:func:`pyqref.explain_diff`), so that each is judged alone.

    Raises
    ------
    GotError
        Arrays have names, shapes or numbers that the model has not; all of them are listed.
    FileError
        The folder holds no vectors, or they were changed.
    ValueError
        Nothing was given.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import pyqref
    >>> layer = pyqref.nn.quantized.Linear(2, 1)
    >>> x = pyqref.quantize_per_tensor(pyqref.ones(1, 2), 0.5, 0, pyqref.quint8)
    >>> folder = os.path.join(tempfile.mkdtemp(), "vectors")
    >>> pyqref.export.vectors(pyqref.nn.Sequential(layer), x, folder)
    >>> pyqref.export.verify(folder, {"0": np.uint8([[0]]), "0/accumulator": np.int32([[0]])})
    The one array inside a layer is the same.
    The one layer gives the same.
    >>> found = pyqref.export.verify(folder, {"0": np.uint8([[1]])})
    >>> found.ok, found.differences.first
    (False, LayerDifference('0', 1 of 1, {'clamp range': 1}))
    """
    where = Path(os.fsdecode(folder)).absolute()
    manifest = read_manifest(where)
    expected = _Expected(manifest)
    given = expected.fitting(_arrays(got, expected))
    with np.load(where / "vectors.npz", allow_pickle=False) as file:
        inputs = tuple(_tensor(each, file[each["array"]]) for each in manifest["inputs"])
        stages = tuple(
            _stage(*expected.stages[name], file[name], array)
            for name, array in given.items()
            if name in expected.stages
        )
    outputs: Any = {expected.nodes[n]: array for n, array in given.items() if n in expected.nodes}
    if not outputs:
        return Verification(Differences(()), stages)
    model = jit.load(where / "model.pyqref")._model
    name = None if manifest["by_engine"] else manifest["arithmetic"]
    engine = manifest["engine"]

    def context() -> Any:
        return computing(name, engine)

    found = explain_diff(model, outputs, inputs, contexts=(context, None), progress=progress)
    for each in found.layers:
        each.layer = expected.paths.get(each.layer, each.layer)
    if found.first is None:
        return Verification(found, stages)
    node = expected.node_of[found.first.layer]
    with context():
        same = resembling(model, inputs, node, outputs[node])
    return Verification(found, stages, same, _ties(where, manifest, node, outputs[node]))


class _Expected:
    """Names of arrays, and what must stand under them.

    Attributes
    ----------
    arrays : dict
        Descriptions by name, in the order of computation.
    nodes : dict
        By name of an output: the layer's path in the graph.
    stages : dict
        By name of another array: layer and stage.
    paths, node_of : dict
        By path in the graph: the path in the model; and the other way.
    """

    def __init__(self, manifest: dict[str, Any]) -> None:
        self.arrays: dict[str, dict[str, Any]] = {}
        self.nodes: dict[str, str] = {}
        self.stages: dict[str, tuple[str, str]] = {}
        self.paths: dict[str, str] = {}
        self.node_of: dict[str, str] = {}
        self._outputs: dict[str, str] = {}
        for each in manifest["inputs"]:
            self._inside("model", "input", each)
        for layer in manifest["layers"]:
            for each in layer["inputs"]:
                if each["array"] not in self.arrays:  # else another layer gave it
                    self._inside(layer["path"], "input", each)
            for stage, each in (*layer["parameters"].items(), *layer["stages"].items()):
                self._inside(layer["path"], stage, each)
            name = layer["output"]["array"]
            self.arrays[name] = layer["output"]
            self.nodes[name] = layer["node"]
            self.paths[layer["node"]] = layer["path"]
            self.node_of[layer["path"]] = layer["node"]
            self._outputs[layer["path"]] = name

    def _inside(self, layer: str, stage: str, each: dict[str, Any]) -> None:
        """Enter an array that is no output."""
        self.arrays[each["array"]] = each
        self.stages[each["array"]] = layer, stage

    def fitting(self, given: dict[str, Any]) -> dict[str, Array]:
        """The arrays that were given, by their names in the vectors, in their order."""
        problems: list[Problem] = []
        found: dict[str, Array] = {}
        for key, value in given.items():
            name = self._outputs.get(key, key)
            reason, array = self._checked(name, value)
            if reason:
                problems.append(Problem(str(key), type(value).__name__, reason))
            else:
                found[name] = array
        if problems:
            raise GotError(tuple(problems))
        if not found:
            raise ValueError(
                "verify: got holds no array; give outputs of layers, such as "
                f"{[*self._outputs][:3]}"
            )
        return {name: found[name] for name in self.arrays if name in found}

    def _checked(self, name: Any, value: Any) -> tuple[str, Array]:
        array = np.asarray(value)
        if name not in self.arrays:
            return f"no layer has it; there are {[*self._outputs][:3]} and others", array
        like = self.arrays[name]
        if array.dtype.kind not in "biuf":
            return f"it must hold numbers, got {array.dtype}", array
        if array.shape != tuple(like["shape"]):
            return f"its shape must be {tuple(like['shape'])}, got {array.shape}", array
        if name in self.nodes and "quant_min" in like and array.size:
            low, high = like["quant_min"], like["quant_max"]
            if array.dtype.kind == "f":
                return f"it must hold stored integers, got {array.dtype}", array
            if not low <= array.min() <= array.max() <= high:
                least, most = array.min(), array.max()
                return f"its integers must be in [{low}, {high}], got {least} to {most}", array
        return "", array


def _arrays(got: Any, expected: _Expected) -> dict[str, Any]:
    """Return the arrays of a device, from wherever they lie."""
    if isinstance(got, Mapping):
        return dict(got)
    try:
        path = Path(os.fsdecode(got))
    except TypeError:
        raise TypeError(
            "verify: got must be a mapping from names to arrays, an .npz file or a folder, got a "
            f"{type(got).__name__}"
        ) from None
    if path.is_dir():
        return _from_texts(path, expected)
    if not path.exists():
        raise FileNotFoundError(f"verify: got: there is no file or folder {str(path)!r}")
    try:
        with open(path, "rb") as file:
            arrays = np.load(file, allow_pickle=False)
            if isinstance(arrays, np.ndarray):
                raise ValueError("one array without a name")
            return {name: arrays[name] for name in arrays.files}
    except (ValueError, EOFError, OSError, BadZipFile) as error:
        raise ValueError(f"verify: {str(path)!r} is no .npz file of named arrays") from error


def _from_texts(folder: Path, expected: _Expected) -> dict[str, Any]:
    """Arrays from files that have the names of those of the vectors."""
    found: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, each in expected.arrays.items():
        for kind, read in _READERS.items():
            path = folder / each["files"].get(kind, "")
            if not path.is_file():
                continue
            like = np.empty(each["shape"], each["type"])
            try:
                found[name] = read(path.read_text(encoding="ascii", errors="replace"), like)
            except ValueError as error:
                problems.append(Problem(name, path.name, str(error)))
    if problems:
        raise GotError(tuple(problems))
    return found


def _ties(folder: Path, manifest: dict[str, Any], node: str, got: Array) -> int | None:
    """How many outputs of a layer that differ lie on a tie."""
    layer = next(each for each in manifest["layers"] if each["node"] == node)
    with np.load(folder / "vectors.npz", allow_pickle=False) as file:
        stages = {name: file[each["array"]] for name, each in layer["stages"].items()}
        mask = on_ties(stages, got.shape)
        differs = file[layer["output"]["array"]] != got
    return None if mask is None else int(np.count_nonzero(mask & differs))


def _tensor(each: dict[str, Any], array: Array) -> Any:
    """An input of the model."""
    if "scale" not in each:
        return from_numpy(array)
    from ... import dtypes

    kind = getattr(dtypes, each["dtype"])
    if "axis" not in each:
        return make_per_tensor(array, each["scale"], each["zero_point"], kind)
    grid = np.asarray(each["scale"]), np.asarray(each["zero_point"])
    return make_per_channel(array, *grid, each["axis"], kind)


def _stage(layer: str, stage: str, expected: Array, got: Array) -> StageDifference:
    differs = ~((expected == got) | ((expected != expected) & (got != got)))
    count = int(np.count_nonzero(differs))
    if not count:
        return StageDifference(layer, stage, expected.size, 0)
    place = tuple(map(int, np.argwhere(differs)[0]))
    numbers = expected[place].item(), got[place].item()
    return StageDifference(layer, stage, expected.size, count, place, *numbers)
