"""Converted models for other systems.

Read :mod:`.walk` first: it runs a model operation by operation.

- :func:`onnx` writes an ONNX file: :mod:`.to_onnx`, :mod:`.table` and the files of
  :mod:`.lowerings`, :mod:`.document` (the file).
- :func:`c` writes a program in C: :mod:`.to_c`, :mod:`.plan` (steps on stored integers),
  :mod:`.planner` and the files of :mod:`.steps`, :mod:`.memory`, :mod:`.in_c`.
- :func:`vectors` writes what each layer takes and gives, for hardware and kernels, and
  :func:`verify` compares what those computed: :mod:`.to_vectors` and :mod:`.golden`.
"""

from .golden.problems import GotError as GotError
from .golden.problems import VectorsError as VectorsError
from .golden.verifying import StageDifference as StageDifference
from .golden.verifying import Verification as Verification
from .golden.verifying import verify as verify
from .problems import Problem as Problem
from .problems import UnsupportedError as UnsupportedError
from .to_c import CProgram as CProgram
from .to_c import c as c
from .to_onnx import onnx as onnx
from .to_vectors import vectors as vectors

__all__ = [
    "CProgram",
    "GotError",
    "Problem",
    "StageDifference",
    "UnsupportedError",
    "VectorsError",
    "Verification",
    "c",
    "onnx",
    "vectors",
    "verify",
]
