"""Two switches that are read everywhere: the engine's numbers, and the conventions.

``engine``
    ``"fbgemm"``, ``"qnnpack"``, ``"x86"`` or ``"onednn"``. The engines differ in
    how they treat the bias and in how they round when a result is requantized;
    each difference is one function in :mod:`pyqref.numerics`. ``x86`` and
    ``onednn`` give the numbers of ``fbgemm``.
``conventions``
    ``"documented"`` (the default) follows the documentation of ``torch.quantization``
    where ``torch`` itself departs from it, ``"torch"`` follows ``torch`` 2.13.

Assigning anything else raises and changes nothing. The arithmetic of other systems is chosen with
:func:`pyqref.arithmetic.use`.

Examples
--------
>>> import pyqref
>>> pyqref.backends.quantized.engine
'x86'
>>> pyqref.backends.quantized.engine = "tpu"
Traceback (most recent call last):
...
RuntimeError: engine must be one of 'qnnpack', 'onednn', 'x86', 'fbgemm', got 'tpu'
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

__all__ = ["conventions", "engine", "supported_engines"]

supported_engines = ["qnnpack", "onednn", "x86", "fbgemm"]
_CONVENTIONS = ("documented", "torch")
#: Arithmetics that are no engines: what to do instead is said of these.
_MODELLED = (
    "cmsis-nn",
    "float64",
    "onednn-saturating",
    "onnx",
    "onnx-qdq",
    "onnx-saturating",
    "tensorrt",
    "tflite",
    "tflite-ruy",
    "tflite-single",
    "tflite-xnnpack",
    "x86-saturating",
)

engine: str = "x86"
conventions: str = "documented"
#: The model that ``pyqref.arithmetic.use`` has put in place of the engine's products, or None.
arithmetic: Any = None
#: Told of each operation that this model leaves to the engine, and which method would define it.
kept: Callable[[str, str | None], None] | None = None


class _Settings(ModuleType):
    """Type of this module: checks what is assigned to its two switches."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "engine" and value not in supported_engines:
            _refuse("engine", supported_engines, value)
        if name == "conventions" and value not in _CONVENTIONS:
            _refuse("conventions", _CONVENTIONS, value)
        super().__setattr__(name, value)


def _refuse(name: str, allowed: list[str] | tuple[str, ...], value: object) -> None:
    choices = ", ".join(repr(each) for each in allowed)
    remedy = ""
    if name == "engine" and value in _MODELLED:
        remedy = f"; run the model inside 'with pyqref.arithmetic.use({value!r}):' instead"
    raise RuntimeError(f"{name} must be one of {choices}, got {value!r}{remedy}")


sys.modules[__name__].__class__ = _Settings
