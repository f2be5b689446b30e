"""An ONNX file as a graph module."""

from __future__ import annotations

import os

from .._typing import GraphModule
from ..export.requirement import require_onnx
from ..tensor.arguments import described
from . import onnx_files as onnx_files
from .onnx_files.importer import Importer
from .onnx_files.source import read
from .problems import Problem, UnsupportedError

__all__ = ["from_onnx"]


def from_onnx(path: str | os.PathLike[str]) -> GraphModule:
    """Make a graph module of a model in an ONNX file.

    Float models have the layers that ``prepare_fx`` quantizes. Of quantized models every rounding
    is the one that ONNX specifies: QuantizeLinear divides by the scale; layers between
    DequantizeLinear and QuantizeLinear compute with real numbers, and are reference layers whose
    weight keeps its grid; QLinearConv, QLinearMatMul and QGemm are quantized layers that
    compute in the arithmetic ``"onnx"`` of :mod:`pyqref.arithmetic`; DynamicQuantizeLinear,
    MatMulInteger and ConvInteger are functions on integers.

    Parameters
    ----------
    path
        The file, as ``pyqref.export.onnx``, ``quantize_static`` and ``quantize_dynamic`` of
        onnxruntime, or exporters of other libraries write it.

    Returns
    -------
    GraphModule
        In evaluation mode. Its layers have the names of the operators as far as these are paths.

    Raises
    ------
    ImportError
        The package ``onnx`` is not installed.
    FileNotFoundError
        There is no such file.
    ValueError
        It holds no valid model.
    UnsupportedError
        Operators have no counterpart. The message lists all of them.

    Notes
    -----
    Sums of real numbers are added in another order than other runtimes add them, so that an integer
    next to a tie may differ.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.interop.from_onnx("no.onnx")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    FileNotFoundError: interop.from_onnx: there is no file 'no.onnx'
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"interop.from_onnx: path must be a path, got {described(path)}")
    if not os.path.isfile(path):
        raise FileNotFoundError(f"interop.from_onnx: there is no file {os.fspath(path)!r}")
    importer = Importer(read(require_onnx("interop.from_onnx"), path))
    made = importer.made()
    if importer.problems:
        problems = tuple(Problem(*each) for each in importer.problems)
        raise UnsupportedError(problems, "from_onnx")
    return made.eval()
