"""Faults of every kind that the random caller must find: it is tested with them."""

from __future__ import annotations

import ctypes
import time
import warnings
from typing import Any

import numpy as np

import pyqref
from pyqref._kernels import threads as _limits

__all__ = ["bits", "crash", "hang", "leak", "memory", "raw", "sleep", "sound", "threads"]
__all__ += ["warning", "wrong_class", "zero_point"]


class _Error(Exception):
    pass


def sound(x: Any) -> Any:
    """No fault: it answers, or refuses by a sentence, and may warn in words of its own."""
    if not isinstance(x, pyqref.Tensor):
        raise TypeError(f"x must be a tensor, got {type(x).__name__}")
    warnings.warn("x is a tensor", UserWarning, stacklevel=2)
    return x


def crash(x: Any) -> Any:
    return ctypes.string_at(0)


def hang(x: Any) -> Any:
    while True:
        pass


def sleep(x: Any) -> Any:
    time.sleep(1000)


def bits(x: Any) -> Any:
    return 1.0 if pyqref.kernels.in_use() == "reference" else np.nextafter(1.0, 2.0).item()


def threads(x: Any) -> Any:
    return _limits.limit  # as the kernels do


def raw(x: Any) -> Any:
    return np.ones(3) + np.ones(2)


def wrong_class(x: Any) -> Any:
    raise _Error("no error of Python's own")


def warning(x: Any) -> Any:
    return float(np.float32(1) / np.float32(0))


def memory(x: Any) -> Any:
    return np.ones(2**42)


def zero_point(x: Any) -> Any:
    made = pyqref.make_quantized(
        np.zeros(3, np.uint8), pyqref.PerTensorQuantizer(pyqref.quint8, 0.5, 3)
    )
    object.__setattr__(made._quantizer, "zero_point", 300)
    return made


def leak(x: Any) -> Any:
    return np.float32(3)
