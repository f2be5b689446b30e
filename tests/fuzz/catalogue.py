"""Every public function, method and layer with the texts of valid arguments."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from bad_input import codes_table, functional_table, modules_table, ops_table, steps_table

from . import planted
from .values import text_of

#: Their results hold what the memory held, or where it is.
UNSET = frozenset(
    {
        *("empty", "empty_like", "empty_strided", "new_empty", "resize_", "resize_as_", "data_ptr"),
        *("numpy", "__array__", "set_"),
    }
)
#: Calls that change the state of the process.
_LEFT_OUT = frozenset({"share_memory_", "register_hook", "typename"})
#: Functions that take no tensor: valid calls.
_MAKERS: dict[str, tuple[tuple[str, ...], ...]] = {
    "can_cast": (("pyqref.float32", "pyqref.int64"),),
    "promote_types": (("pyqref.float32", "pyqref.int64"),),
    **dict.fromkeys(("empty", "zeros", "ones", "rand", "randn"), (("2", "3"), ("(2, 3)",))),
    "empty_strided": (("(2, 3)", "(3, 1)"),),
    "eye": (("3",), ("3", "4")),
    "logspace": (("0.0", "2.0", "5"),),
    "arange": (("0", "5", "1"), ("5.0",)),
    "linspace": (("0.0", "2.0", "5"),),
    "randint": (("5", "(2, 3)"), ("-3", "5", "(2, 3)")),
    "randperm": (("5",),),
    **dict.fromkeys(("tril_indices", "triu_indices"), (("3", "4"), ("3", "4", "1"))),
    "full": (("(2, 3)", "0.5"),),
}


@dataclass(frozen=True)
class Target:
    """Something to call: the text before its arguments, and valid arguments.

    ``style`` is ``method`` where the first argument is the object. ``extra`` are names of
    parameters that the valid calls leave at their defaults, with the texts of these.
    """

    name: str
    text: str
    calls: tuple[tuple[tuple[str, ...], dict[str, str]], ...]
    style: str = "function"
    extra: dict[str, str] = field(default_factory=dict)

    @property
    def short(self) -> str:
        return self.name.rsplit(".", 1)[-1]


def _extra(function: Any) -> dict[str, str]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return {}
    return {
        each.name: repr(each.default)
        for each in parameters
        if isinstance(each.default, int | float | str | None)
        and each.name not in ("out", "device", "generator")
    }


def _of_codes() -> list[Target]:
    found = []
    walked = {**codes_table.functions(), **codes_table.methods()}
    for name, function in walked.items():
        if name.rsplit(".", 1)[-1] in _LEFT_OUT:
            continue
        calls = tuple(
            (
                tuple(text_of(each) for each in call.args),
                {key: text_of(each) for key, each in call.kwargs.items()},
            )
            for call in codes_table.calls_of(name)
        )
        if isinstance(function, str):
            extra = _extra(getattr(codes_table.Tensor, function))
            found.append(Target(name, f".{function}", calls, "method", extra))
        else:
            found.append(Target(name, name, calls, extra=_extra(function)))
    for name, many in _MAKERS.items():
        function = getattr(codes_table.pyqref, name)
        calls = tuple((call, {}) for call in many)
        found.append(Target(f"pyqref.{name}", f"pyqref.{name}", calls, extra=_extra(function)))
    return found


def _keywords(name: str, text: str, valid: Any) -> Target:
    return Target(name, text, (((), {key: text_of(each) for key, each in valid.items()}),))


def _of_entries() -> list[Target]:
    found = []
    for prefix, entries in (
        ("pyqref.ops.", ops_table.ENTRIES),
        ("pyqref.nn.quantized.", functional_table.ENTRIES),
    ):
        found += [_keywords(prefix + e.name, prefix + e.name, e.valid) for e in entries]
    found += [
        _keywords(f"pyqref.{each.name}", f"pyqref.{each.name}", each.valid)
        for each in modules_table.constructors()
    ]
    for number, each in enumerate(steps_table.ENTRIES):
        if not each.name.endswith(("set_weight_bias", "load_state_dict")):
            found.append(_keywords(f"step {number} {each.name}", f"step({number})", each.valid))
    return found


def _of_layers() -> list[Target]:
    found = []
    for entry in modules_table.forwards():
        name = entry.name.rpartition(".")[0]
        given = tuple(text_of(each) for each in entry.valid.values())
        for training in ("", ", True") if ".qat" in name or ".quantizable" in name else ("",):
            found.append(Target(f"{name}()", f"layer({name!r}{training})", ((given, {}),)))
    for entry in modules_table.setters():
        name = entry.name.rpartition(".")[0]
        found.append(_keywords(entry.name, f"layer({name!r}).set_weight_bias", entry.valid))
    for entry in modules_table.states():
        name = entry.name.rpartition(".")[0]
        valid = {key.replace("__", "."): each for key, each in entry.valid.items()}
        text = f"layer({name!r}).load_state_dict"
        found.append(
            Target(entry.name, text, (((), {k: text_of(e) for k, e in valid.items()}),), "state")
        )
    return found


@lru_cache(None)
def targets() -> tuple[Target, ...]:
    """All of them, in an order that is always the same."""
    return (*_of_codes(), *_of_entries(), *_of_layers())


def chosen(only: str) -> tuple[Target, ...]:
    """Return targets whose name is or ends in ``only``; ``planted.x`` are faults of the tests."""
    if only.startswith("planted"):
        every = tuple(
            Target(f"planted.{each}", f"planted.{each}", ((("T((3,))",), {}),))
            for each in planted.__all__
        )
    else:
        every = targets()
    if not only or only == "planted":
        return every
    found = tuple(t for t in every if t.name == only or t.name.endswith("." + only))
    if not found:
        raise SystemExit(f"--only: no public function, method or layer is called {only!r}")
    return found
