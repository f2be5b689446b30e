"""Converted models for other systems.

Read :mod:`.walk` first: it runs a model operation by operation.

- :func:`onnx` writes an ONNX file: :mod:`.to_onnx`, :mod:`.table` and the files of
  :mod:`.lowerings`, :mod:`.document` (the file).
- :func:`c` writes a program in C: :mod:`.to_c`, :mod:`.plan` (steps on stored integers),
  :mod:`.planner` and the files of :mod:`.steps`, :mod:`.memory`, :mod:`.in_c`.
- :func:`vectors` writes what each layer takes and gives, for hardware and kernels, and
  :func:`verify` compares what those computed: :mod:`.to_vectors` and :mod:`.golden`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
