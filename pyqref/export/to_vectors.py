"""Writing what every quantized layer takes and gives, for hardware and kernels."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import jit
from ..explaining.progress import Progress
from ..fx import GraphModule, TraceError
from ..nn.modules import Module, Sequential
from ..nn.quantized import QFunctional
from ..tensor.arguments import described
from .golden.c_header import c_names, to_c
from .golden.folder import check_destination, new_folder
from .golden.hexadecimal import to_ihex, to_readmemh
from .golden.manifest import MANIFEST, SCHEMA, checksum_of, checksum_of_array, manifest_of
from .golden.problems import Problem, VectorsError
from .golden.taking import Taker, arithmetic_of
from .golden.vectors import Stored
from .inputs import inputs_of
from .table import title
from .walk import LayerTracer

__all__ = ["vectors"]

FORMATS = ("npz", "c", "readmemh", "ihex")
ARRAYS, HEADER, MODEL = "vectors.npz", "vectors.h", "model.pyqref"
#: Of formats with a file for each array: how it ends, and what writes it.
_TEXTS: dict[str, tuple[str, Callable[..., str]]] = {
    "readmemh": (".hex", to_readmemh),
    "ihex": (".ihex", to_ihex),
}


def vectors(
    model: Module,
    x: Any,
    folder: str | os.PathLike[str],
    format: str | Iterable[str] = "npz",
    *,
    arithmetic: str | None = None,
    progress: bool | None = None,
) -> None:
    """Write golden vectors of every quantized layer of a converted model.

    The model runs once. Of each quantized operation its input and output are kept as stored
    integers with scale and zero point; of products (linear layers, convolutions, transposed ones),
    sums, element-wise products and means also the weight, the bias and everything between:
    accumulators, multipliers and shifts, the values before and after rounding. A manifest says
    what each array is, with a checksum. :func:`verify`, or ``pyqref verify`` on the command line,
    compares what a device computed.

    Parameters
    ----------
    model
        Converted by ``convert`` or ``convert_fx``.
    x
        What it is called with; a tuple stands for several tensors.
    folder
        Is made, with all files or not at all. Vectors that are there already are replaced.
    format
        ``"npz"``: the arrays in ``vectors.npz``, which are always written. Beside them, ``"c"``: a
        header ``vectors.h``; ``"readmemh"``: a text for each array as Verilog reads it;
        ``"ihex"``: the same as Intel hex. One of these, or several.
    arithmetic
        What computes, a name of :func:`pyqref.arithmetic.names`: ``"tflite"`` has integer
        multipliers and shifts. None for the one in use, or else the engine of the model.
    progress
        Whether to show a progress bar; None for a terminal only.

    Raises
    ------
    VectorsError
        The model is not converted, has no quantized operation, or decides by values of tensors.
        The message lists all parts with their paths.
    ValueError
        ``format`` or ``arithmetic`` is none that there is, or the folder holds other files.
    TypeError
        ``model`` is no module, or ``x`` not the tensors that it takes.

    Warns
    -----
    NoEffectWarning
        The arithmetic does not define an operation, which keeps the numbers of the engine; the
        manifest says so, too.

    Notes
    -----
    Paths of layers are those of :func:`pyqref.explain_diff`: of modules, or names of nodes in a
    graph. Beside the arrays the model itself is kept in ``model.pyqref``, as a graph, for
    :func:`verify`. :doc:`/vectors` has the form of all files.

    Examples
    --------
    >>> import json, os, tempfile
    >>> import numpy as np
    >>> import pyqref
    >>> layer = pyqref.nn.quantized.Linear(2, 1)
    >>> x = pyqref.quantize_per_tensor(pyqref.ones(1, 2), 0.5, 0, pyqref.quint8)
    >>> folder = os.path.join(tempfile.mkdtemp(), "vectors")
    >>> pyqref.export.vectors(pyqref.nn.Sequential(layer), x, folder, arithmetic="tflite")
    >>> sorted(os.listdir(folder))
    ['manifest.json', 'model.pyqref', 'vectors.npz']
    >>> with np.load(os.path.join(folder, "vectors.npz")) as arrays:
    ...     print(arrays["0/accumulator"], arrays["0/output"])
    [[0]] [[0]]
    """
    formats = _formats(format)
    if not isinstance(model, Module):
        raise TypeError(f"pyqref.export.vectors: model must be a Module, got {described(model)}")
    inputs = inputs_of(model, x, "pyqref.export.vectors", "x")
    name = arithmetic_of(arithmetic)
    try:
        path = Path(os.fsdecode(folder)).absolute()
    except TypeError:
        raise TypeError(
            f"pyqref.export.vectors: folder must be a path, got {described(folder)}"
        ) from None
    check_destination(path)
    graph, paths = as_graph(model)
    with Progress("pyqref.export.vectors", len(graph.graph.nodes), progress) as bar:
        taker = Taker(name, paths, bar.step)
        taker.run(graph, inputs)
        if not taker.layers:
            raise VectorsError((Problem("", type(model).__name__, _NOTHING),))
        with new_folder(path) as unfinished:
            _write(unfinished, taker, graph, formats)


_NOTHING = "no operation of it is quantized: convert the model first"


def _formats(given: Any) -> tuple[str, ...]:
    several = (given,) if isinstance(given, str) else given
    if not isinstance(several, Iterable):
        several = (given,)
    several = tuple(several)
    wrong = [each for each in several if each not in FORMATS]
    if wrong:
        choices = ", ".join(map(repr, FORMATS))
        raise ValueError(
            f"pyqref.export.vectors: format must be one or several of {choices}, got "
            f"{described(wrong[0])}"
        )
    return several


def as_graph(model: Module) -> tuple[GraphModule, dict[str, str]]:
    """A model as a graph that can be saved; and paths of operations that are others there.

    Raises
    ------
    VectorsError
        It is not converted, or its code decides by values of tensors.
    """
    problems = tuple(_unconverted(model))
    if problems:
        raise VectorsError(problems)
    if isinstance(model, GraphModule):
        return model, {}
    paths = {}
    if LayerTracer().is_leaf_module(model, ""):  # a layer alone has no path
        paths["0"] = title(model)
        model = Sequential(model)
    try:
        graph = LayerTracer().trace(model)
    except TraceError as error:
        reason = f"its code decides by values of tensors: {error}".splitlines()[0]
        raise VectorsError((Problem("", type(model).__name__, reason),)) from error
    for node in graph.nodes:  # an operation of a QFunctional has the path of that
        for user in node.users if node.op == "call_function" else ():
            if user.op == "call_module" and user.target.endswith(".activation_post_process"):
                owner = user.target.rpartition(".")[0]
                if isinstance(model.get_submodule(owner), QFunctional):
                    paths[node.name] = owner
    return GraphModule(model, graph), paths


def _unconverted(model: Module) -> Iterator[Problem]:
    """The parts of a model that ``convert`` would have replaced."""
    for path, module in model.named_modules():
        home, kind = type(module).__module__, type(module).__name__
        if ".observer" in home or ".fake_quantize" in home:
            reason = "the model is prepared, not converted: call convert or convert_fx first"
            yield Problem(path, kind, reason)
        elif ".qat" in home or kind in ("QuantStub", "DeQuantStub"):
            yield Problem(path, kind, "the model is not converted: call convert first")


def _write(folder: Path, taker: Taker, graph: GraphModule, formats: tuple[str, ...]) -> None:
    try:
        scripted: Any = jit.script(graph)
        jit.save(scripted, folder / MODEL)
    except TypeError as error:
        raise VectorsError((Problem("", "graph", str(error).splitlines()[0]),)) from error
    arrays = [*taker.inputs, *(each for layer in taker.layers for each in layer.stored)]
    np.savez(folder / ARRAYS, **{each.name: each.array for each in arrays})  # type: ignore[arg-type]
    told: dict[str, Any] = {
        "arithmetic": taker.arithmetic or taker.engine,
        "engine": taker.engine,
        "by_engine": taker.arithmetic is None,
    }
    in_c = c_names(each.name for each in arrays)
    files_of: dict[str, dict[str, str]] = {each.name: {} for each in arrays}
    for number, each in enumerate(arrays):
        for kind in formats:
            if kind in _TEXTS:
                files_of[each.name][kind] = _text(folder, kind, number, each, told)
            elif kind == "c":
                files_of[each.name][kind] = in_c[each.name]
    if "c" in formats:
        with open(folder / HEADER, "w", encoding="ascii", newline="\n") as file:
            file.writelines(to_c(taker.layers, taker.inputs, told["arithmetic"], in_c))
    manifest = manifest_of(taker.layers, taker.inputs, taker.skipped, told, files_of)
    manifest["files"] = {p.name: checksum_of(p) for p in sorted(folder.iterdir())}
    text = json.dumps(manifest, indent=1, allow_nan=False)
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def _text(folder: Path, kind: str, number: int, each: Stored, told: dict[str, Any]) -> str:
    """Write the file of one array; return its name."""
    ending, write = _TEXTS[kind]
    name = f"{number:04d}_{each.name.replace('/', '.')}{ending}"
    checksum = checksum_of_array(each.array)
    shape = " x ".join(map(str, each.array.shape)) or "one number"
    note = f"{each.name}: {each.array.dtype.name}, {shape}; pyqref vectors, schema {SCHEMA}, "
    note += f"arithmetic {told['arithmetic']}; SHA-256 {checksum}"
    text = write(each.array, note) if kind == "readmemh" else write(each.array)
    (folder / name).write_text(text, encoding="ascii", newline="\n")
    return name
