"""Measuring operations: Python itself tells when a function is entered and left.

While a recorder runs, it is the profile function of the interpreter (``sys.setprofile``), which is
called at each entry and exit of a Python function. Those that are operations of pyqref, and
backward functions of the tape, become events. Nothing is wrapped, so without a recorder
operations take no longer; with one, every Python call takes some tenths of a microsecond more.
"""

from __future__ import annotations

import importlib
import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FrameType, FunctionType
from typing import Any

from ..tape import Operation
from ..tensor.base import TensorBase
from .events import EventList, FunctionEvent

__all__ = ["Recorder", "begin_span", "end_span"]

_SPACES = (
    ("pyqref.tensor", "aten::"),
    ("pyqref.nn.functional", "aten::"),
    ("pyqref.ops.quantized", "quantized::"),
)
#: Modules whose functions ask, or show, and compute nothing.
_NO_OPERATIONS = (
    *("base", "description", "queries", "printing", "html", "protocols", "dispatch", "generator"),
)
_PRIVATE = ("is_tensor", "typename")


@cache
def _names() -> dict[CodeType, str]:
    """Return the names of pyqref's operations, by the code that they run."""
    found: dict[CodeType, set[str]] = {}
    for home, prefix in _SPACES:
        module = importlib.import_module(home)
        spaces = [module]
        if prefix == "aten::" and home == "pyqref.tensor":
            spaces += [module.Tensor, module.QuantizedTensor]
        for space in spaces:
            for name in getattr(space, "__all__", dir(space)):
                function = inspect.unwrap(getattr(space, name, None))  # type: ignore[arg-type]
                if isinstance(function, FunctionType) and _computes(function, name):
                    found.setdefault(function.__code__, set()).add(prefix + name)
    return {code: _best(code, names) for code, names in found.items()}


def _computes(function: FunctionType, name: str) -> bool:
    home = function.__module__ or ""
    return (
        home.startswith("pyqref.")
        and home.rpartition(".")[2] not in _NO_OPERATIONS
        and name not in _PRIVATE
        and not name.startswith(("set_", "get_", "manual_seed"))
    )


def _best(code: CodeType, names: set[str]) -> str:
    """The name that the function has where it is defined, else the plainest."""
    for name in names:
        if name.partition("::")[2] == code.co_name:
            return name
    return min(names, key=lambda each: (each.count("_"), each))


def _codes_of_operations() -> dict[CodeType, str]:
    """Map the code of the tape's steps to the names by which they are counted.

    A backward function gets ``""``: it is called after the class of its node. A forward function
    counts where no function has its name, as in recurrent layers.
    """
    plain = {name.partition("::")[2].replace("_", "") for name in _names().values()}
    found: dict[CodeType, str] = {}
    left = [Operation]
    while left:
        kind = left.pop()
        left += kind.__subclasses__()
        backward, forward = vars(kind).get("backward"), vars(kind).get("forward")
        name = kind.__name__.lower().removesuffix("layer")
        if isinstance(backward, FunctionType):
            found[backward.__code__] = ""
        if isinstance(forward, FunctionType) and name not in plain:
            found.setdefault(forward.__code__, f"aten::{name}")
    return found


class Recorder:
    """Collects events between :meth:`start` and :meth:`stop`.

    Parameters
    ----------
    record_shapes
        Whether to keep the shapes of the tensors among the arguments.

    Raises
    ------
    RuntimeError
        :meth:`start`, while another one runs.
    """

    running: Recorder | None = None

    def __init__(self, record_shapes: bool = False) -> None:
        self.record_shapes = record_shapes
        self.events: list[FunctionEvent] = []
        self._open: dict[int, list[tuple[FrameType | None, FunctionEvent]]] = {}
        self._before: Callable[..., Any] | None = None
        self._codes = {**_codes_of_operations(), **_names()}

    def start(self) -> None:
        """Begin."""
        if Recorder.running is not None:
            raise RuntimeError(
                "profile: another profiler is running; leave its with block, or call its stop(), "
                "first"
            )
        Recorder.running = self
        self._before = sys.getprofile()
        threading.setprofile(self._tell)
        sys.setprofile(self._tell)

    def stop(self) -> EventList:
        """End, and return what happened."""
        sys.setprofile(self._before)
        threading.setprofile(None)
        Recorder.running = None
        now = time.perf_counter_ns()
        for opened in self._open.values():
            for _, event in opened:
                event.end = now
            opened.clear()
        return EventList(self.events, self.record_shapes)

    def _tell(self, frame: FrameType, what: str, arg: Any) -> None:
        """Called by the interpreter."""
        if what == "call":
            name = self._codes.get(frame.f_code)
            if name is not None:
                if not name:
                    name = f"{type(frame.f_locals.get('self')).__name__}Backward"
                shapes = _shapes(frame) if self.record_shapes else []
                self.enter(name, frame, shapes)
        elif what == "return":
            opened = self._open.get(threading.get_ident())
            if opened and opened[-1][0] is frame:
                self.leave()

    def enter(self, name: str, frame: FrameType | None, shapes: list[Any]) -> FunctionEvent:
        """Open an event in this thread."""
        thread = threading.get_ident()
        opened = self._open.setdefault(thread, [])
        event = FunctionEvent(name, time.perf_counter_ns(), thread, shapes)
        if opened:
            event.cpu_parent = opened[-1][1]
            event.cpu_parent.cpu_children.append(event)
        opened.append((frame, event))
        self.events.append(event)
        return event

    def leave(self, event: FunctionEvent | None = None) -> None:
        """Close the newest event of this thread, or all down to ``event``."""
        opened = self._open.get(threading.get_ident(), [])
        now = time.perf_counter_ns()
        while opened:
            _, closed = opened.pop()
            closed.end = now
            if event is None or closed is event:
                return


def _shapes(frame: FrameType) -> list[Any]:
    """Shapes of the tensors among a function's arguments."""
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    values = [frame.f_locals.get(name) for name in names]
    return [list(found) for found in _each_shape(values)]


def _each_shape(values: list[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, TensorBase):
            yield value._array.shape
        elif isinstance(value, (list, tuple)) and len(value) < 100:
            yield from _each_shape(list(value))


def begin_span(name: str) -> FunctionEvent | None:
    """Open an event of the user's, if a recorder runs."""
    recorder = Recorder.running
    if recorder is None:
        return None
    event = recorder.enter(name, None, [])
    event.is_user_annotation = True
    return event


def end_span(event: FunctionEvent | None) -> None:
    """Close what :func:`begin_span` opened."""
    if event is not None and Recorder.running is not None and not event.end:
        Recorder.running.leave(event)
