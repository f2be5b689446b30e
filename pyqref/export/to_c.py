"""Writing a converted model as C."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .._typing import Tensor
from ..autograd import no_grad
from ..backends import quantized as settings
from ..explaining.progress import Progress
from ..fx.node import map_aggregate
from ..nn import quantized as nnq
from ..nn.modules import Module
from ..serialization.atomic import write_atomically
from ..tensor.arguments import described
from ..tensor.creation import zeros
from . import steps as steps
from .in_c.literals import KEYWORDS
from .in_c.source import written
from .inputs import inputs_of
from .memory import place
from .plan import Plan, Value
from .planner import Planner
from .problems import Problem, Unsupported, UnsupportedError
from .walk import Walk, traced
from .wire import Wire

__all__ = ["CProgram", "c"]

NAME = "pyqref.export.c"
STYLES = ("integer", "float-multiplier")
#: Bytes of constants that compilers take in acceptable time.
LARGEST = 2**28


@dataclass(frozen=True)
class CProgram:
    """Result of :func:`c`.

    Attributes
    ----------
    source, header : str
        Paths of the two files.
    function : str
        The function that runs the model.
    style : str
        ``"integer"`` or ``"float-multiplier"``.
    engine : str
        The engine that the model was converted for.
    steps : int
        Operations that it runs.
    constants : int
        Bytes of weights, tables and other constants.
    peak : int
        Bytes of memory between the steps.
    least : int
        Bytes that this order of steps needs at least. If ``peak`` equals it, no smaller plan of
        buffers exists.

    Examples
    --------
    >>> CProgram("m.c", "m.h", "m_run", "integer", "fbgemm", 9, 5000, 300, 300).function
    'm_run'
    """

    source: str
    header: str
    function: str
    style: str
    engine: str
    steps: int
    constants: int
    peak: int
    least: int


def c(
    model: Module,
    path: str | os.PathLike[str],
    style: str = "integer",
    *,
    example_inputs: Tensor | Sequence[Tensor] | None = None,
    name: str | None = None,
    progress: bool | None = None,
) -> CProgram:
    """Write a converted model as one self-contained C99 file and a header.

    The function ``int NAME_run(const uint8_t *in, uint8_t *out)`` takes and gives the integers of
    quantized tensors. Quantizing the inputs is left to the caller, and so are the real numbers for
    which the outputs stand; the header has the scales and zero points. Several inputs and outputs
    are ``in``, ``in_1``, ..., ``out``, ``out_1``, ... The file includes ``<stdint.h>`` and nothing
    else, and allocates nothing.

    Parameters
    ----------
    model
        Converted by ``convert`` or ``convert_fx``, with static ranges and quint8 activations.
    path
        The file, which ends with ``.c``; the header beside it ends with ``.h``. Both are written as
        a whole or not at all.
    style
        ``"integer"``: no real numbers at all. Multipliers are 31-bit integers and shifts, as in
        the arithmetic ``"tflite"`` of :mod:`pyqref.arithmetic`. ``"float-multiplier"``: every bit
        as the engine that the model was converted for, fbgemm or qnnpack.
    example_inputs
        What the model is called with: a tensor, or a tuple of tensors. Their shapes, batch
        included, are those of the C function. None for a model that begins with a linear layer.
    name
        What the names in the header begin with; None for the name of the file.
    progress
        Whether to show a progress bar; None for a terminal only.

    Returns
    -------
    CProgram
        Where the files are, and how much memory the program needs.

    Raises
    ------
    UnsupportedError
        Parts of the model have no form in C, are not converted, or decide by values of tensors;
        the name is no C identifier; the constants are too many. The message lists all of it.
    ValueError
        ``style`` is none of the two, or ``example_inputs`` are needed.
    TypeError
        ``example_inputs`` are no tensors, or the model takes another number of them.

    Examples
    --------
    >>> import os, tempfile, pyqref
    >>> from pyqref import nn, quantization
    >>> model = quantization.QuantWrapper(nn.Linear(2, 1)).eval()
    >>> model.qconfig = quantization.get_default_qconfig("fbgemm")
    >>> prepared = quantization.prepare(model)
    >>> _ = prepared(pyqref.randn(16, 2))
    >>> path = os.path.join(tempfile.mkdtemp(), "model.c")
    >>> made = pyqref.export.c(quantization.convert(prepared), path)
    >>> made.function, made.steps, made.peak
    ('model_run', 1, 0)
    """
    if not isinstance(model, Module):
        raise TypeError(f"{NAME}: model must be a Module, got {described(model)}")
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"{NAME}: path must be a path, got {described(path)}; give tensors as example_inputs"
        )
    if style not in STYLES:
        raise ValueError(
            f"{NAME}: style must be 'integer' or 'float-multiplier', got {described(style)}"
        )
    file = os.fspath(path)
    base, ending = os.path.splitext(file)
    name = os.path.basename(base) if name is None else name
    if not isinstance(name, str):
        raise TypeError(f"{NAME}: name must be a string, got {described(name)}")
    problems = list(_problems_of_name(name, ending))
    inputs = _inputs(model, example_inputs)
    plan, found = planned(model, inputs, style, progress)
    problems += found
    if plan is None:
        raise UnsupportedError(tuple(problems), NAME)
    made = written(plan, name, type(model).__name__, style == "integer")
    problems += made.problems
    if made.constants > LARGEST:
        reason = (
            f"its constants have {made.constants / 2**20:.0f} MiB, more than {LARGEST >> 20}: "
            "export its parts one by one"
        )
        problems.append(Problem("", type(model).__name__, reason))
    if problems:
        raise UnsupportedError(tuple(problems), NAME)
    _write(base + ".h", made.header, file, made.source)
    return CProgram(
        source=file,
        header=base + ".h",
        function=f"{name}_run",
        style=style,
        engine=plan.engine,
        steps=len(plan.steps),
        constants=made.constants,
        peak=plan.peak,
        least=plan.least,
    )


def _problems_of_name(name: str, ending: str) -> Iterator[Problem]:
    if ending != ".c":
        yield Problem("path", "file", f"it ends with {ending!r}, not '.c'")
    if not re.fullmatch("[A-Za-z][A-Za-z0-9_]*", name):
        reason = f"{described(name)} is no identifier of C: give name="
        yield Problem("name", "identifier", reason)
    elif name in KEYWORDS:
        yield Problem("name", "identifier", f"{name!r} is a word of C itself: give name=")


def _inputs(model: Module, given: Any) -> tuple[Any, ...]:
    if given is None:
        first = next((each for each in model.modules() if hasattr(each, "_packed_params")), None)
        if not isinstance(first, nnq.Linear):
            raise ValueError(
                f"{NAME}: the shapes of the inputs are not known; give example_inputs=, a tensor "
                "or a tuple of tensors"
            )
        return (zeros(1, first.in_features),)
    return inputs_of(model, given, NAME, "example_inputs")


@contextmanager
def _engine(name: str) -> Iterator[None]:
    before = settings.engine
    settings.engine = name
    try:
        yield
    finally:
        settings.engine = before


def planned(
    model: Module, inputs: tuple[Any, ...], style: str, progress: bool | None
) -> tuple[Plan | None, list[Problem]]:
    """The steps of a model with all buffers in their places, or None and what stands against it."""
    engine = settings.engine
    for _ in range(2):  # a second time where the layers have another engine
        with no_grad(), _engine(engine), traced(model, NAME):
            planner = Planner("tflite" if style == "integer" else None)
            walk = Walk(planner.lower)
            with Progress(NAME, walk.count(model), progress) as bar:
                walk.step = bar.step
                wires = tuple(planner.input(n, each) for n, each in enumerate(inputs))
                result = walk.run(model, wires)
        engines = [step.data["packed"].engine for step in planner.steps if "packed" in step.data]
        if not engines or engines[0] == engine:
            break
        engine = engines[0]
    kind = "qnnpack" if engine == "qnnpack" else "fbgemm"
    problems = list(walk.problems)
    for step in planner.steps:
        packed = step.data.get("packed")
        if packed is not None and (packed.engine == "qnnpack") != (kind == "qnnpack"):
            reason = f"its engine is {packed.engine}, not {engine}: convert all layers for one"
            problems.append(Problem(step.path, step.title, reason))
    if problems:
        return None, problems
    ends, problems = _ends(planner, wires, result)
    if problems:
        return None, problems
    plan = Plan(planner.steps, [planner.values[each.name] for each in wires], ends, kind)
    place(plan)
    return plan, []


def _ends(
    planner: Planner, wires: tuple[Wire, ...], result: Any
) -> tuple[list[Value], list[Problem]]:
    """The results of the model, and inputs and results that are no integers."""
    found: list[Any] = []
    map_aggregate(result, lambda each: None if each is None else found.append(each))
    ends, problems = list[Value](), list[Problem]()
    for n, each in enumerate(found):
        path = f"output_{n}" if n else "output"
        try:
            ends.append(planner.value(each))
        except Unsupported as error:
            problems.append(Problem(path, "output", str(error)))
    if not found:
        problems.append(Problem("output", "output", "the model gives no tensor"))
    for each in wires:
        if not planner.values[each.name].buffer.size:
            problems.append(Problem(each.name, "input", "its example has no elements"))
        if planner.values[each.name].grid is None:
            reason = "nothing quantizes it: begin the model with a QuantStub, or use prepare_fx"
            problems.append(Problem(each.name, "input", reason))
    return ends, problems


def _write(header_path: str, header: str, source_path: str, source: str) -> None:
    """Write both files, or neither: all is on disk before the first takes its name."""
    before = Path(header_path).read_bytes() if os.path.isfile(header_path) else None

    def write(part: str) -> None:
        Path(part).write_bytes(source.encode())
        write_atomically(header_path, write_header)

    def write_header(part: str) -> None:
        Path(part).write_bytes(header.encode())

    try:
        write_atomically(source_path, write)
    except BaseException:
        if before is None:
            with contextlib.suppress(OSError):
                os.unlink(header_path)
        else:
            with contextlib.suppress(OSError):
                Path(header_path).write_bytes(before)
        raise
