"""Wrong arguments of every public function and of every method of tensors.

The valid calls are those of ``codes_table``. Every argument in turn, also those that a call leaves
at their defaults, is replaced by every wrong value of the engine.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from bad_input.codes_table import Call, c, calls_of, functions, methods
from bad_input.engine import HOSTILE, Entry, judge

import pyqref
from pyqref import Tensor

#: Calls of what takes no tensor.
WITHOUT_TENSORS: dict[str, tuple[Call, ...]] = {
    **dict.fromkeys(("empty", "ones", "rand", "randn", "zeros"), (c(2, 3), c((2, 3)))),
    **dict.fromkeys(("tril_indices", "triu_indices"), (c(2, 3, 0),)),
    "can_cast": (c(pyqref.int32, pyqref.float32),),
    "promote_types": (c(pyqref.int32, pyqref.float32),),
    "empty_strided": (c((2, 3), (3, 1)),),
    "eye": (c(2, 3),),
    "logspace": (c(0.0, 1.0, 3, 10.0),),
    "randint": (c(0, 5, (2, 3)),),
    "randperm": (c(5),),
    "manual_seed": (c(0),),
    "frombuffer": (c(b"abcd", dtype=pyqref.int8, count=2, offset=1),),
}

#: One wrong value of each sort: a type, a number, a list, a dtype, a shape.
WRONG = (
    "None", "True", "text", "bytes", "nan", "infinity", "zero", "minus one", "minus a half",
    "three", "1e400 as int", "complex", "2**63", "-2**63", "empty list", "list of text",
    "list of None", "many ones", "floats", "dict", "object", "class", "array", "ragged", "dtype",
    "float scalar", "float vector", "float 5-D", "empty floats", "integers", "huge integers",
    "bools", "quint8", "module",
)  # fmt: skip

FUNCTIONS: dict[str, Any] = {
    **functions(),
    **methods(),
    **{f"pyqref.{name}": getattr(pyqref, name) for name in WITHOUT_TENSORS},
}


def fresh(value: Any) -> Any:
    """A copy of arguments, since some calls change them."""
    if isinstance(value, Tensor):
        return value.clone()
    if type(value) in (list, tuple):
        return type(value)(fresh(each) for each in value)
    return value


def called(name: str) -> Callable[..., Any]:
    function = FUNCTIONS[name]
    return getattr(Tensor, function) if isinstance(function, str) else function


def entries(name: str) -> Iterator[Entry]:
    """An entry for each valid call, whose arguments are named as the signature names them."""
    function = called(name)
    parameters = inspect.signature(function).parameters
    for call in WITHOUT_TENSORS.get(name.rpartition(".")[2], ()) or calls_of(name):
        names = [
            each.name for each in parameters.values() if each.kind is each.POSITIONAL_OR_KEYWORD
        ]
        positional = [
            names[place] if place < len(names) else f"argument {place}"
            for place in range(len(call.args))
        ]
        valid = dict(zip(positional, call.args, strict=True)) | call.kwargs
        defaults = {
            each.name: each.default
            for each in parameters.values()
            if each.name not in valid and each.default is not each.empty
        }

        def run(positional: list[str] = positional, **given: Any) -> Any:
            args = [fresh(given.pop(each)) for each in positional]
            return function(*args, **{key: fresh(each) for key, each in given.items()})

        yield Entry(name, run, {**valid, **defaults}, plain=True)


def wrong_outcome(of: Entry, argument: str, value: Any) -> str:
    """Return the fault, or an empty text if there is none.

    Python itself names an argument that a function does not have.
    """
    wrong = judge(of, {argument: value})
    return "" if "unexpected keyword argument" in wrong else wrong


def complaints(name: str) -> Iterator[tuple[str, str, str]]:
    """Every argument with a wrong value that raised an error that pyqref did not phrase."""
    is_method = name.startswith("Tensor.")
    for of in entries(name):
        for place, argument in enumerate(of.valid):
            if is_method and place == 0:
                continue
            plain = Entry(name, of.call, _given(of, argument), plain=True)
            for label in WRONG:
                value = HOSTILE[label]
                if argument == "decimals" and type(value) is int and abs(value) > 1000:
                    continue  # 10 to that power
                wrong = wrong_outcome(plain, argument, value)
                if wrong:
                    yield argument, label, wrong
                if type(of.valid[argument]) in (list, tuple) and of.valid[argument]:
                    several = type(of.valid[argument])((*of.valid[argument][:-1], value))
                    wrong = wrong_outcome(plain, argument, several)
                    if wrong:
                        yield f"an element of {argument}", label, wrong


def _given(of: Entry, argument: str) -> dict[str, Any]:
    """The arguments that the call passes: the positional ones, and the one that is replaced."""
    positional = of.call.__defaults__[0]  # type: ignore[attr-defined]
    return {
        name: value
        for name, value in of.valid.items()
        if name in positional or name == argument or value is not None
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_one_wrong_argument(name: str) -> None:
    """A wrong argument is answered, or refused by an error that pyqref raises itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert [] == list(complaints(name))
