"""Writing a converted model to an ONNX file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from types import ModuleType
from typing import Any

from .._typing import Tensor
from ..autograd import no_grad
from ..explaining.progress import Progress
from ..fx.node import map_aggregate
from ..nn.modules import Module
from ..serialization.atomic import write_atomically
from ..tensor import cat
from ..tensor.arguments import described
from . import lowerings as lowerings
from .document import checked, document, finished
from .inputs import inputs_of
from .lower import lower
from .maker import Maker
from .problems import Problem, Unsupported, UnsupportedError
from .requirement import require_onnx
from .walk import Shapes, Walk, traced
from .wire import Wire

__all__ = ["onnx"]

NAME = "pyqref.export.onnx"
STYLES = ("qdq", "qoperator", "exact")


def onnx(
    model: Module,
    example_inputs: Tensor | Sequence[Tensor],
    path: str | os.PathLike[str],
    style: str = "qdq",
    *,
    dynamic_batch: bool = False,
    progress: bool | None = None,
) -> None:
    """Write a converted model to an ONNX file.

    Parameters
    ----------
    model
        Converted by ``convert`` or ``convert_fx``, static or dynamic, after training or not, or a
        reference model of ``convert_to_reference_fx``.
    example_inputs
        What the model is called with: a tensor, or a tuple of tensors. Their shapes are those of
        the exported model.
    path
        The file. It is written as a whole or not at all.
    style
        ``"qdq"``: operators on real numbers between QuantizeLinear and DequantizeLinear, which
        runtimes fuse. ``"qoperator"``: QLinearConv, QLinearMatMul and MatMulInteger; what has no
        such operator stays as in ``"qdq"``. ``"exact"``: operators with which every runtime gives
        the integers of the arithmetic ``"onnx"``; no runtime fuses them.
    dynamic_batch
        The first axis of every input may have any length.
    progress
        Whether to show a progress bar; None for a terminal only.

    Raises
    ------
    ImportError
        The package ``onnx`` is not installed.
    UnsupportedError
        Parts of the model have no operator, are not converted, or decide by values of tensors. The
        message lists all of them with their paths.
    ValueError
        ``style`` is none of the three, or the model is too large for one file.
    TypeError
        ``example_inputs`` are no tensors, or the model takes another number of them.

    Notes
    -----
    The names of operators and tensors are the paths of modules, or the names of the nodes in a
    graph, as :func:`pyqref.explain_diff` has them. Operator set 21, for onnxruntime 1.18 or newer.
    The bias of a quantized layer is rounded to the unit of its accumulator, as ONNX wants it.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref import nn, quantization
    >>> model = quantization.QuantWrapper(nn.Linear(2, 1)).eval()
    >>> model.qconfig = quantization.get_default_qconfig("fbgemm")
    >>> prepared = quantization.prepare(model)
    >>> x = pyqref.ones(1, 2)
    >>> _ = prepared(x)
    >>> pyqref.export.onnx(quantization.convert(prepared), x, "model.onnx")  # doctest: +SKIP
    """
    package = require_onnx(NAME)
    if not isinstance(model, Module):
        raise TypeError(f"{NAME}: model must be a Module, got {described(model)}")
    if style not in STYLES:
        raise ValueError(
            f"{NAME}: style must be 'qdq', 'qoperator' or 'exact', got {described(style)}"
        )
    inputs = inputs_of(model, example_inputs, NAME, "example_inputs")
    exported = converted(package, model, inputs, style, dynamic_batch, progress)
    content = exported.SerializeToString()

    def write(part: str) -> None:
        with open(part, "wb") as file:
            file.write(content)

    write_atomically(os.fspath(path), write)


def converted(
    package: ModuleType,
    model: Module,
    inputs: tuple[Any, ...],
    style: str,
    dynamic_batch: bool,
    progress: bool | None,
) -> Any:
    """The model as the package ``onnx`` has it."""
    with no_grad():
        longer = None
        if dynamic_batch:
            longer = _shapes(model, tuple(cat([each, each[:1]], 0) for each in inputs))
        maker = Maker(style)
        walk = Walk(partial(lower, maker), longer)
        with Progress(NAME, _counted(walk, model), progress) as bar:
            walk.step = bar.step
            dynamic = (0,) if dynamic_batch else ()
            wires = [_placed(maker, model, n, each, dynamic) for n, each in enumerate(inputs)]
            result = _walked(walk, model, tuple(wires))
    if walk.problems:
        raise UnsupportedError(tuple(walk.problems), NAME)
    found: list[Any] = []
    map_aggregate(result, found.append)
    outputs = finished(maker, [each for each in found if isinstance(each, Wire)], wires)
    try:
        made = document(package, maker, wires, outputs, type(model).__name__)
    except Unsupported as error:
        raise UnsupportedError((Problem("output", "tensor", str(error)),), NAME) from error
    return checked(package, made)


def _shapes(model: Module, inputs: tuple[Any, ...]) -> Shapes:
    walk = Walk()
    _walked(walk, model, inputs)
    return walk.shapes


def _counted(walk: Walk, model: Module) -> int:
    with traced(model, NAME):
        return walk.count(model)


def _walked(walk: Walk, model: Module, inputs: tuple[Any, ...]) -> Any:
    with traced(model, NAME):
        return walk.run(model, inputs)


def _placed(maker: Maker, model: Module, n: int, value: Any, dynamic: tuple[int, ...]) -> Wire:
    """An input of the graph."""
    maker.path = f"input_{n}" if n else "input"
    wire = Wire(maker.fresh(maker.path), value, dynamic)
    if value.is_quantized:
        wire.scale, wire.zero_point = maker.grid(value._quantizer)
    return wire
