"""Converted models for other systems.

:func:`onnx` writes an ONNX file. Read :mod:`.to_onnx`, then :mod:`.walk` (how a model becomes a
list of operators), :mod:`.table` and the files of :mod:`.lowerings`, :mod:`.document` (the file).
"""

from .problems import Problem as Problem
from .problems import UnsupportedError as UnsupportedError
from .to_onnx import onnx as onnx

__all__ = ["Problem", "UnsupportedError", "onnx"]
