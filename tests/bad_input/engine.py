"""Throw every kind of wrong value at every argument of a call, and judge what comes back.

An :class:`Entry` is a callable with valid arguments. Each argument has a kind, read off its
valid value; each kind has values that must be refused. Everything else in :data:`HOSTILE`
may be answered or refused. What is refused must be refused by a ``raise`` statement of
pyqref (never by NumPy or Python in passing) whose message names the argument or the operation
and what came.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

import pyqref
from pyqref.ops import quantized as ops

PACKAGE = str(Path(pyqref.__file__).parent)
ALLOWED = (TypeError, ValueError, RuntimeError, IndexError, KeyError, NotImplementedError)
PACKED = (ops.PackedLinear, ops.PackedConv, ops.PackedEmbedding, ops.PackedLinearFloat16)


class Unrelated:
    """An object of the user's own."""

    def __repr__(self) -> str:
        return "Unrelated()"


def floats(*shape: int) -> Any:
    return pyqref.linspace(-1, 1, int(np.prod(shape))).reshape(shape)


def quint8(*shape: int, scale: float = 0.25, zero_point: int = 4) -> Any:
    return pyqref.quantize_per_tensor(floats(*shape), scale, zero_point, pyqref.quint8)


def qint8(*shape: int, scale: float = 0.25) -> Any:
    return pyqref.quantize_per_tensor(floats(*shape), scale, 0, pyqref.qint8)


def per_channel(*shape: int, axis: int = 0) -> Any:
    channels = shape[axis]
    scales, zero_points = pyqref.full((channels,), 0.5), pyqref.zeros(channels, dtype=pyqref.int64)
    return pyqref.quantize_per_channel(floats(*shape), scales, zero_points, axis, pyqref.qint8)


HOSTILE: dict[str, Any] = {
    "None": None,
    "True": True,
    "empty text": "",
    "text": "wrong",
    "text of a number": "0.5",
    "bytes": b"1",
    "nan": float("nan"),
    "infinity": float("inf"),
    "minus infinity": float("-inf"),
    "zero": 0,
    "minus one": -1,
    "minus a half": -0.5,
    "three": 3,
    "300": 300,
    "1e-320": 1e-320,
    "1e39": 1e39,
    "1e400 as int": 10**400,
    "complex": 1j,
    "2**31": 2**31,
    "2**40": 2**40,
    "2**63": 2**63,
    "-2**63": -(2**63),
    "empty list": [],
    "empty tuple": (),
    "list of text": ["a", "b"],
    "list of None": [None, None],
    "many ones": [1] * 9,
    "zeros": (0, 0),
    "negative pair": (-1, -1),
    "huge pair": (2**40, 2**40),
    "floats": (1.5, 1.5),
    "dict": {"a": 1},
    "set": {1},
    "object": Unrelated(),
    "class": Unrelated,
    "function": len,
    "array": np.ones((2, 3), np.float32),
    "ragged": [[1.0], [1.0, 2.0]],
    "dtype": pyqref.qint8,
    "float dtype": pyqref.float32,
    "float scalar": floats(1).reshape(()),
    "float vector": floats(3),
    "float matrix": floats(2, 3),
    "float 5-D": floats(1, 2, 1, 2, 1),
    "empty floats": floats(0),
    "floats without rows": floats(0, 3),
    "doubles": floats(2, 3).double(),
    "nan tensor": pyqref.full((2, 3), float("nan")),
    "negative tensor": pyqref.full((2,), -1.0),
    "integers": pyqref.ones(2, 3, dtype=pyqref.int64),
    "integer vector": pyqref.tensor([0, 1]),
    "huge integers": pyqref.tensor([2**62, -(2**62)]),
    "bytes tensor": pyqref.ones(2, 3, dtype=pyqref.uint8),
    "bools": pyqref.ones(2, 3, dtype=pyqref.bool),
    "strided": floats(4, 6)[::2, ::2],
    "quint8 scalar": quint8(1).reshape(()),
    "quint8 vector": quint8(3),
    "quint8": quint8(2, 3),
    "quint8 4-D": quint8(1, 2, 3, 3),
    "empty quint8": quint8(0),
    "qint8": qint8(2, 3),
    "qint32": pyqref.quantize_per_tensor(floats(2, 3), 0.5, 0, pyqref.qint32),
    "per channel": per_channel(2, 3),
    "per channel, other axis": per_channel(2, 3, axis=1),
    "strided quint8": quint8(4, 6)[::2, ::2],
    "module": pyqref.nn.ReLU(),
    "linear": pyqref.nn.Linear(3, 2),
}

_OBJECTS = {"text", "object", "dict", "function", "class", "bytes", "list of text"}
_NOT_NUMBERS = _OBJECTS | {"text of a number", "list of None", "complex", "dtype", "module", "set"}
_FLOATS = {each for each in HOSTILE if each.startswith(("float ", "doubles", "bools"))}
_QUANTIZED = {each for each in HOSTILE if "quint8" in each or "channel" in each} | {
    "qint8",
    "qint32",
}
_TEXTS = {"text", "empty text", "text of a number"}
_WEIRD = {"nan", "infinity", "minus infinity"}

#: What an argument whose valid value is of a kind must refuse.
REFUSED: dict[str, set[str]] = {
    "quantized": _OBJECTS | _FLOATS - {"float dtype"} | {"None", "integers", "module", "array"},
    "tensor": _OBJECTS | {"module", "dtype"},
    "packed": _OBJECTS | _FLOATS | _QUANTIZED | {"None", "three", "module", "empty list"},
    "number": _NOT_NUMBERS | {"empty list", "1e400 as int", "float matrix", "quint8"},
    "scale": _NOT_NUMBERS
    | _WEIRD
    | {"empty list", "zero", "minus one", "1e-320", "1e39", "1e400 as int", "float matrix"},
    "zero_point": _NOT_NUMBERS
    | _WEIRD
    | {"empty list", "minus a half", "2**40", "2**63", "-2**63", "1e400 as int", "float matrix"},
    "int": _NOT_NUMBERS | _WEIRD | {"empty list", "minus a half", "float matrix", "2**63"},
    "sizes": _NOT_NUMBERS | _WEIRD | {"minus a half", "minus one", "floats", "negative pair"},
    "dtype": set(HOSTILE) - {"dtype", "float dtype", "None"},
    "word": set(HOSTILE) - {"text", "empty text", "None"},
    "module": _OBJECTS | {"three", "float matrix", "None"},
    "name": set(HOSTILE) - _TEXTS,
    "class": set(HOSTILE) - {"class"},
    "operation": set(HOSTILE) - _TEXTS - {"class", "function"},
    "operations": set(HOSTILE) - _TEXTS - {"class", "function", "empty tuple", "None"},
    "names": set(HOSTILE) - {"empty list", "empty tuple", "list of text"},
    "classes": set(HOSTILE) - {"empty list", "empty tuple"},
    "config": set(HOSTILE) - {"None", "dict"},
    "indexes": set(HOSTILE) - {"empty list", "empty tuple", "many ones", "zeros", "huge pair"},
    "flag": _NOT_NUMBERS | {"nan", "minus one", "300", "empty list", "float matrix"},
    "any": set(),
}
_OF_NAME = {"scale": "scale", "zero_point": "zero_point"}


def kind_of(name: str, value: Any) -> str:
    """The kind of an argument, from its name and a valid value."""
    for part in ("zero_point", "scale"):
        if name.lower().endswith((part, part + "_i")) and isinstance(value, int | float):
            return part
    if isinstance(value, pyqref.Tensor):
        return "quantized" if value.is_quantized else "tensor"
    kinds: tuple[tuple[Any, str], ...] = (
        (PACKED, "packed"),
        (bool, "flag"),
        (int, "int"),
        (float, "number"),
        (str, "word"),
        (pyqref.dtype, "dtype"),
        (pyqref.nn.Module, "module"),
    )
    for of, kind in kinds:
        if isinstance(value, of):
            return kind
    if isinstance(value, tuple | list) and value and all(type(each) is int for each in value):
        return "sizes"
    return "any"


@dataclass
class Entry:
    """A callable and valid arguments by name.

    ``optional`` arguments may be None; ``kinds`` overrides the kind of an argument;
    ``says`` lists what else a message may call the arguments.
    """

    name: str
    call: Callable[..., Any]
    valid: Mapping[str, Any]
    optional: frozenset[str] = frozenset()
    kinds: Mapping[str, str] = field(default_factory=dict)
    lenient: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()
    plain: bool = False

    def kind(self, argument: str) -> str:
        return self.kinds.get(argument) or kind_of(argument, self.valid[argument])

    def must_refuse(self, argument: str, hostile: str) -> bool:
        if hostile in self.lenient or (argument in self.optional and hostile == "None"):
            return False
        return hostile in REFUSED[self.kind(argument)]

    def cases(self) -> Iterator[tuple[str, str, str]]:
        """Every argument with every hostile value, and what was wrong with the outcome."""
        for argument in self.valid:
            for label in (each for each in HOSTILE if each not in self.skipped):
                value = HOSTILE[label]
                wrong = judge(self, {argument: value})
                if not wrong and self.must_refuse(argument, label):
                    wrong = "" if refused(self, {argument: value}) else "accepted"
                if wrong:
                    yield argument, label, wrong


def entry(name: str, call: Callable[..., Any], /, **valid: Any) -> Entry:
    """An :class:`Entry` whose arguments with a valid None or ``_optional`` may be None."""
    optional = frozenset(valid.pop("_optional", ()))
    kinds = valid.pop("_kinds", {})
    lenient = frozenset(valid.pop("_lenient", ()))
    plain = name.startswith("Tensor.") or name in ("cat", "equal")
    return Entry(name, call, valid, optional, kinds, lenient, plain=plain)


def refused(of: Entry, wrong: Mapping[str, Any]) -> bool:
    try:
        of.call(**{**of.valid, **wrong})
    except Exception:
        return True
    return False


def judge(of: Entry, wrong: Mapping[str, Any]) -> str:
    """Return the fault in the outcome of a call with wrong arguments, or an empty text."""
    try:
        result = of.call(**{**of.valid, **wrong})
    except ALLOWED as error:
        return _of_error(of, wrong, error)
    except BaseException as error:
        last = _innermost(error.__traceback__)
        place = f"{last.tb_frame.f_code.co_filename.removeprefix(PACKAGE)}:{last.tb_lineno}"
        return f"{type(error).__name__} at {place}: {error}"
    return _of_result(result)


def _of_result(result: Any) -> str:
    """A quantized result must have parameters that its dtype allows."""
    if isinstance(result, tuple | list):
        return next((found for each in result if (found := _of_result(each))), "")
    if not (isinstance(result, pyqref.Tensor) and result.is_quantized):
        return ""
    if result._array.dtype != result.dtype.numpy_dtype:
        return f"integers of {result._array.dtype} in a tensor of {result.dtype}"
    if not result.qscheme().is_per_channel:
        zero_point = result.q_zero_point()
        if not result.dtype.quant_min <= zero_point <= result.dtype.quant_max:
            return f"zero point {zero_point} in a result of {result.dtype}"
        if not 0 < result.q_scale() < np.inf:
            return f"scale {result.q_scale()} in a result"
    return ""


def _of_error(of: Entry, wrong: Mapping[str, Any], error: BaseException) -> str:
    said = str(error)
    if type(error).__module__ != "builtins":
        return f"{type(error).__name__} of {type(error).__module__}: {said}"
    last = _innermost(error.__traceback__)
    code = last.tb_frame.f_code
    line = linecache.getline(code.co_filename, last.tb_lineno).strip()
    bound = "argument" in said and code is judge.__code__
    if not bound and (not code.co_filename.startswith(PACKAGE) or not line.startswith("raise")):
        place = f"{code.co_filename.removeprefix(PACKAGE)}:{last.tb_lineno}"
        return f"raw {type(error).__name__} at {place}: {said}"
    if "but this machine's memory has" in said or "but this process may have" in said:
        return ""  # the shape that it names holds the argument
    if of.plain:
        return ""  # ordinary functions and layers speak torch's words
    names = [
        *(each.rpartition("__")[2] for each in of.valid),
        *(["qaccum"] if "extra_input" in of.valid else []),
        *(["input"] if wrong.keys() & {"X", "qx", "self", "x"} else []),
        of.name.rpartition(".")[2],
        of.name.split(".")[-2] if "." in of.name else "",
    ]
    if not any(_mentions(said, each) for each in names if each):
        return f"does not name the argument: {said}"
    if not any(_shows(said, value) for value in wrong.values()):
        return f"does not say what it got: {said}"
    return ""


def _innermost(traceback: TracebackType | None) -> TracebackType:
    assert traceback is not None
    while traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def _mentions(said: str, name: str) -> bool:
    return name.lower().replace("_", " ") in said.lower().replace("_", " ")


def _shows(said: str, value: Any) -> bool:
    """Return True if a message shows what came: the value, its type, shape, dtype or kind."""
    if any(
        word in said
        for word in ("got", "found", "holds", "in the state dict", "not ", "but ", "is ")
    ):
        return True
    plain = isinstance(value, int | float | str) and str(value)[:20] in said
    return plain or type(value).__name__ in said
