"""Converted models for other systems.

:func:`onnx` writes an ONNX file, :func:`c` a file of C. Read :mod:`.walk` (how a model is run,
operation by operation); then for ONNX :mod:`.to_onnx`, :mod:`.table` and the files of
:mod:`.lowerings`, :mod:`.document` (the file); for C :mod:`.to_c`, :mod:`.plan` (steps on stored
integers), :mod:`.planner` and the files of :mod:`.steps`, :mod:`.memory`, :mod:`.in_c`.
"""

from .problems import Problem as Problem
from .problems import UnsupportedError as UnsupportedError
from .to_c import CProgram as CProgram
from .to_c import c as c
from .to_onnx import onnx as onnx

__all__ = ["CProgram", "Problem", "UnsupportedError", "c", "onnx"]
