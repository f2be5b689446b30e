"""NumPy's dtypes, numbers and arrays in a pickle: of numbers only, never of objects."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np

from ..._typing import Array
from .inert import Call, Named, short
from .storages import is_count
from .values import Builder

__all__ = ["numpy_array", "numpy_buffer", "numpy_dtype", "numpy_scalar"]

_CODE = re.compile(r"(b1|[iu][1248]|f[248]|c8|c16)")


def numpy_dtype(builder: Builder, call: Call, where: str) -> np.dtype[Any]:
    """``dtype("f8", False, True)`` with the state ``(3, "<", None, None, None, -1, -1, 0)``."""
    code = call.args[0] if len(call.args) in (1, 3) else None
    if type(code) is not str or not _CODE.fullmatch(code):
        builder.refuse(where, f"has the NumPy dtype {short(code)}; numbers are read, no objects")
    order = "="
    if call.state is not None:
        state = call.state
        if not isinstance(state, tuple) or len(state) not in (8, 9) or state[2:5] != (None,) * 3:
            builder.refuse(where, f"has the NumPy dtype {code} with the state {short(state)}")
        order = state[1]
    if order not in ("<", ">", "|", "="):
        builder.refuse(where, f"has the NumPy dtype {code} in the order {short(order)}")
    return np.dtype(code).newbyteorder(">" if order == ">" else "<")


def numpy_scalar(builder: Builder, call: Call, where: str) -> np.generic:
    """``scalar(dtype, bytes)``."""
    dtype, data = (
        (builder.build(each, where, 1) for each in call.args)
        if (len(call.args) == 2)
        else (None, None)
    )
    if not isinstance(dtype, np.dtype) or type(data) is not bytes or len(data) != dtype.itemsize:
        builder.refuse(where, f"has the NumPy number {short(call.args)}")
    return np.frombuffer(data, dtype).astype(dtype.newbyteorder("="))[0]


def numpy_array(builder: Builder, call: Call, where: str) -> Array | Named | Call:
    """``_reconstruct(ndarray, (0,), b"b")`` with the state ``(1, shape, dtype, order, bytes)``."""
    kind, state = call.args[0] if call.args else None, call.state
    if not isinstance(kind, Named) or kind.text != "numpy.ndarray":
        builder.refuse(where, "is an array of another class than numpy.ndarray")
    if not isinstance(state, tuple) or len(state) != 5:
        builder.refuse(where, f"is a NumPy array with the state {short(state)}")
    _, shape, dtype, fortran, data = (builder.build(each, where, 1) for each in state)
    return _array(builder, shape, dtype, "F" if fortran is True else "C", data, where)


def numpy_buffer(builder: Builder, call: Call, where: str) -> Array:
    """``_frombuffer(bytes, dtype, shape, order)``, which protocol 5 writes."""
    if len(call.args) != 4:
        builder.refuse(where, f"calls {call.name} with {len(call.args)} arguments")
    data, dtype, shape, order = (builder.build(each, where, 1) for each in call.args)
    data = bytes(data) if type(data) is bytearray else data
    return _array(builder, shape, dtype, order, data, where)


def _array(builder: Builder, shape: Any, dtype: Any, order: Any, data: Any, where: str) -> Any:
    if not isinstance(dtype, np.dtype) or type(data) is not bytes:
        builder.refuse(where, f"is a NumPy array of {short(dtype)} with {type(data).__name__}")
    if not isinstance(shape, tuple) or len(shape) > 32 or not all(map(is_count, shape)):
        builder.refuse(where, f"is a NumPy array of shape {short(shape)}")
    if math.prod(shape) * dtype.itemsize != len(data):
        builder.refuse(where, f"is a NumPy array of shape {short(shape)} in {len(data)} bytes")
    if not data and math.prod(max(each, 1) for each in shape) >= 2**48:
        builder.refuse(where, f"is a NumPy array of shape {short(shape)}")
    if order not in ("C", "F"):
        builder.refuse(where, f"is a NumPy array in the order {short(order)}")
    flat = np.frombuffer(data, dtype).astype(dtype.newbyteorder("="))
    return flat.reshape(shape, order=order)
