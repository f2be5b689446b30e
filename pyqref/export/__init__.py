"""Converted models for other systems.

:func:`onnx` writes an ONNX file. Read :mod:`.to_onnx`, then :mod:`.walk` (how a model becomes a
list of operators), :mod:`.table` and the files of :mod:`.lowerings`, :mod:`.document` (the file).
:func:`vectors` writes what each layer takes and gives, for hardware and kernels, and :func:`verify`
compares what those computed. Read :mod:`.to_vectors` and :mod:`.golden`.
"""

from .golden.problems import GotError as GotError
from .golden.problems import VectorsError as VectorsError
from .golden.verifying import StageDifference as StageDifference
from .golden.verifying import Verification as Verification
from .golden.verifying import verify as verify
from .problems import Problem as Problem
from .problems import UnsupportedError as UnsupportedError
from .to_onnx import onnx as onnx
from .to_vectors import vectors as vectors

__all__ = [
    "GotError",
    "Problem",
    "StageDifference",
    "UnsupportedError",
    "VectorsError",
    "Verification",
    "onnx",
    "vectors",
    "verify",
]
