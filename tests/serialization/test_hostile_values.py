"""Tensors and values of a pickle are checked before they are made."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from serialization.torch_writer import (
    Global,
    Reduce,
    Storage,
    ordered,
    quantized,
    save,
    save_legacy,
    script_object,
    tensor,
)

import pyqref
from pyqref.serialization import FileError


def load(data: bytes) -> Any:
    return pyqref.load(io.BytesIO(data))


def made(name: str, *args: Any, state: Any = None) -> Reduce:
    return Reduce(name, args, state)


FLOATS = Storage(np.zeros(4, np.float32))
REBUILD = "torch._utils._rebuild_tensor_v2"
HOOKS = ordered({})


def rebuilt(offset: Any = 0, size: Any = (2, 2), stride: Any = (2, 1), **more: Any) -> Reduce:
    given = {"storage": FLOATS, "grad": False, "hooks": HOOKS, **more}
    return made(REBUILD, given["storage"], offset, size, stride, given["grad"], given["hooks"])


def q(*quantizer: Any, kind: str = "QInt8Storage", dtype: type = np.int8) -> Reduce:
    return quantized(np.ones((2, 2), dtype), kind, *quantizer)


PER_TENSOR, PER_CHANNEL = Global("torch.per_tensor_affine"), Global("torch.per_channel_affine")
DTYPE = made("numpy.dtype", "f8", False, True)
OBJECTS = made("numpy.dtype", "O8", False, True)

VALUES = {
    "a view behind the end": (rebuilt(1), "reach element 4 of a storage that has 4"),
    "a large size": (rebuilt(0, (2**40, 2**40), (1, 1)), "reach element"),
    "a size that repeats": (rebuilt(0, (2**40,), (0,)), "repeats the 4 elements"),
    "an empty large size": (rebuilt(0, (0, 2**60), (1, 1)), "is too large"),
    "a negative size": (rebuilt(0, (-1,), (1,)), "size must be integers >= 0"),
    "a negative stride": (rebuilt(3, (2,), (-1,)), "stride must be integers >= 0"),
    "a negative offset": (rebuilt(-1), "offset"),
    "a large integer": (rebuilt(2**400), "offset"),
    "too many dimensions": (rebuilt(0, (1,) * 99, (1,) * 99), "at most 32 dimensions"),
    "other ranks": (rebuilt(0, (2,), (1, 1)), "must be those of"),
    "a size of booleans": (rebuilt(0, (True,), (1,)), "size must be integers"),
    "a size that is a text": (rebuilt(0, "22", (1, 1)), "size must be integers"),
    "no storage": (rebuilt(storage=3), "has no storage"),
    "a gradient of 2": (rebuilt(grad=2), "has requires_grad 2"),
    "hooks": (rebuilt(hooks=ordered({"a": 1})), "backward hooks"),
    "too few arguments": (made(REBUILD, FLOATS), "with 1 arguments"),
    "no arguments": (made(REBUILD), "with 0 arguments"),
    "a gradient of integers": (
        rebuilt(storage=Storage(np.zeros(4, np.int64)), grad=True),
        "cannot require a gradient",
    ),
    "quantized without a scale": (
        rebuilt(storage=Storage(np.zeros(4, np.int8), "torch.QInt8Storage")),
        "neither scale nor zero point",
    ),
    "complex numbers": (
        rebuilt(storage=Storage(np.zeros(4, np.float32), "torch.ComplexFloatStorage")),
        "refused: it holds a ComplexFloatStorage",
    ),
    "a dtype for the class of a storage": (
        rebuilt(storage=Storage(np.zeros(4, np.float32), "torch.qint8")),
        "a storage has the class 'torch.qint8'",
    ),
    "a storage alone": (FLOATS, "is a storage without a tensor"),
    "a function alone": (Global(REBUILD), "is torch._utils._rebuild_tensor_v2 itself"),
    "a parameter of a number": (made("torch._utils._rebuild_parameter", 3, False, HOOKS), "of 3"),
    "a subclass of a tensor": (
        made(
            "torch._tensor._rebuild_from_type_v2", Global(REBUILD), Global("torch.Size"), (), None
        ),
        "of another class",
    ),
    "a sparse tensor": (
        made("torch._utils._rebuild_sparse_tensor", 1),
        "sparse tensor; save a dense one",
    ),
    "a scale of 0": (q(PER_TENSOR, 0.0, 0), "scale must be positive"),
    "a scale of nan": (q(PER_TENSOR, float("nan"), 0), "scale must be"),
    "a scale that is a text": (q(PER_TENSOR, "1", 0), "must be numbers"),
    "a zero point out of range": (q(PER_TENSOR, 0.5, 300), "zero_point must be in"),
    "one scale for two channels": (
        q(PER_CHANNEL, tensor(np.float64([1])), tensor(np.int64([0])), 0),
        "scales",
    ),
    "an axis that is not there": (
        q(PER_CHANNEL, tensor(np.float64([1, 1])), tensor(np.int64([0, 0])), 7),
        "axis",
    ),
    "scales of two dimensions": (
        q(PER_CHANNEL, tensor(np.ones((2, 1))), tensor(np.int64([0, 0])), 0),
        "has scales",
    ),
    "a quantizer of one": (q(PER_TENSOR), "the quantizer"),
    "a scheme that is none": (q(Global("torch.qint8"), 1.0, 0), "the quantizer"),
    "a float storage with a quantizer": (
        q(PER_TENSOR, 1.0, 0, kind="FloatStorage", dtype=np.float32),
        "has elements of float32 and the quantizer",
    ),
    "another script object": (
        script_object("os.System", (1,)),
        r"class __torch__.torch.classes.os",
    ),
    "a script object without a state": (made("torch.ScriptObject"), "the state None"),
    "a packed weight of nothing": (
        script_object("quantized.LinearPackedParamsBase", (None, None)),
        "0 packed weights",
    ),
    "a packed weight of two": (
        script_object("quantized.Conv2dPackedParamsBase", [q(PER_TENSOR, 1.0, 0)] * 2),
        "2 packed weights",
    ),
    "a cell of numbers": (script_object("rnn.CellParamsBase", (1, 2, 3, 4, 5)), "packed products"),
    "another encoding": (made("_codecs.encode", "a", "rot13"), "only latin1 is read"),
    "bytes that are none": (made("_codecs.encode", "\u20ac", "latin1"), "bytes that are none"),
    "objects of NumPy": (
        made(
            "numpy._core.multiarray._reconstruct",
            Global("numpy.ndarray"),
            (0,),
            "b",
            state=(1, (1,), OBJECTS, False, made("_codecs.encode", "12345678", "latin1")),
        ),
        "NumPy dtype 'O8'; numbers are read",
    ),
    "an array of another class": (
        made("numpy._core.multiarray._reconstruct", Global("numpy.dtype"), (0,), "b"),
        "another class than numpy.ndarray",
    ),
    "an array without a state": (
        made("numpy._core.multiarray._reconstruct", Global("numpy.ndarray"), (0,), "b"),
        "the state None",
    ),
    "an array with too few bytes": (
        made(
            "numpy._core.multiarray._reconstruct",
            Global("numpy.ndarray"),
            (0,),
            "b",
            state=(1, (2**50,), DTYPE, False, made("_codecs.encode", "12345678", "latin1")),
        ),
        "in 8 bytes",
    ),
    "a number with too few bytes": (
        made("numpy._core.multiarray.scalar", DTYPE, made("_codecs.encode", "1", "latin1")),
        "the NumPy number",
    ),
    "a dtype with fields": (
        made("numpy.dtype", "f8", False, True, state=(3, "<", None, ("a",), {}, -1, -1, 0)),
        "with the state",
    ),
    "a size of texts": (made("torch.Size", ("a",)), "is a torch.Size of"),
    "a device of a number": (made("torch.device", 3), "is a torch.device of 3"),
    "a sparse layout": (made("torch.serialization._get_layout", "torch.sparse_coo"), "the layout"),
    "a set of lists": (made("builtins.set", [[1]]), "is a set of"),
    "a bytearray of a number": (made("builtins.bytearray", 2**40), "is a bytearray of"),
    "a complex text": (made("builtins.complex", "1"), "is a complex number of"),
    "a namespace with slots": (
        Reduce("argparse.Namespace", (), {"__class__": 1}, new=True),
        "is an argparse.Namespace of",
    ),
    "a namespace of arguments": (made("argparse.Namespace", {"a": 1}), "with 1 arguments"),
    "a key that is a list": (b"}(]Nu", "has the key"),
    "a key that may collide": ({2**200: 1}, "has the key"),
    "a key that is a tensor": (b"}(" + b"}Nu", "has the key"),
    "metadata that is none": (
        made("collections.OrderedDict", state={"_metadata": 3}),
        "has the _metadata 3",
    ),
    "an ordered dict of three": (
        made("collections.OrderedDict", [("a", 1, 2)]),
        "makes a dictionary of an object that is not a list of pairs",
    ),
    "an ordered dict of a number": (made("collections.OrderedDict", 3), "not a list of pairs"),
    "an ordered dict of two": (made("collections.OrderedDict", [], []), "not a list of pairs"),
    "a state that is a text": (made("collections.OrderedDict", state="a"), "has a state 'a'"),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_are_checked(name: str) -> None:
    """Sizes, grids and states are checked before a tensor is made of them, in both containers."""
    value, message = VALUES[name]
    for write in (save, save_legacy):
        with pytest.raises(FileError, match=message):
            load(write({"x": value}))
