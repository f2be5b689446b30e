"""Read a file, and say what is wrong with how that went."""

from __future__ import annotations

import io
import sys
import traceback
import warnings
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from bad_input.engine import ALLOWED, PACKAGE, _of_result

import pyqref

from .bits import frozen
from .formats import Format, load, model
from .judge import Fault

#: What a process does that runs code, or that touches more than the file.
_RUNS = ("os.", "subprocess.", "socket.", "ctypes.", "shutil.", "pickle.", "marshal.", "code.")
_HARMLESS = frozenset({"os.listdir", "os.scandir"})


def addresses() -> int:
    """Bytes of addresses that this process has now."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[0]) * 4096
    except OSError:
        return 4 * 2**30


#: What ran since reading began; None while nothing is read.
_events: list[str] | None = None


@lru_cache(None)
def _listen() -> None:
    sys.addaudithook(_noticed)  # for good: there is no way back


def _noticed(event: str, given: Any) -> None:
    if _events is None:
        return
    runs = event.startswith(_RUNS) and event not in _HARMLESS
    if event in ("exec", "compile"):  # a module that is imported now is none of the file's
        name = getattr(given[0], "co_filename", "") if event == "exec" else given[1]
        runs = not str(name).endswith(".py") and not str(name).startswith("<frozen")
    if event == "open":
        runs = isinstance(given[1], str) and any(mark in given[1] for mark in "wax+")
    if runs:
        _events.append(f"{event} {given!r}"[:200])


class Reader:
    """Reads files of a format, and loads what was in them into a model."""

    def __init__(self, format_of: Format) -> None:
        self.format = format_of
        _listen()
        self.model = model()
        self.state = frozen(self.model)
        for data in format_of.good():  # also imports what reading needs
            answered, faults = self.judged(data)
            if faults or not answered:
                raise SystemExit(f"a good file of {format_of.name} is not read: {faults}")

    def judged(self, data: bytes) -> tuple[bool, list[Fault]]:
        """Return whether a file was read, and its faults."""
        global _events
        found: list[Fault] = []
        value, refused = None, True
        events: list[str] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _events = events
            try:
                value, refused = self.format.load(data), False
            except self.format.refuses as error:
                if type(error) is not self.format.refuses:  # some other error of a class below
                    found.append(_fault("wrong class", error))
            except MemoryError as error:
                found.append(_fault("memory", error))
            except BaseException as error:
                found.append(_fault("wrong class", error))
            _events = None
            if not refused:
                found += self._of_value(value)
        for each in caught:
            if not issubclass(each.category, UserWarning):
                place = f"{each.filename.removeprefix(PACKAGE)}:{each.lineno}"
                found.append(Fault("warning", place, f"{each.category.__name__}: {each.message}"))
        found += [Fault("ran", each.split()[0], each) for each in events]
        return not refused, found

    def _of_value(self, value: Any) -> list[Fault]:
        try:
            said = unsound(value)
            if said:
                return [Fault("result", "load", said)]
            if self.format.load is load and not _same_again(value):
                return [Fault("result", "save", "what was read is another after saving")]
        except BaseException as error:
            return [_fault("result", error)]
        return self._into_model(value) if isinstance(value, dict) else []

    def _into_model(self, value: Any) -> list[Fault]:
        try:
            self.model.load_state_dict(value)
        except ALLOWED as error:
            if frozen(self.model) != self.state:
                self.model = model()
                return [Fault("changed model", "load_state_dict", str(error)[:300])]
            last = list(traceback.walk_tb(error.__traceback__))[-1][0]
            if not last.f_code.co_filename.startswith(PACKAGE):
                return [_fault("raw", error)]
            return []
        except BaseException as error:
            self.model = model()
            return [_fault("wrong class", error)]
        said = unsound(dict(self.model.state_dict()))
        self.model = model()
        return [Fault("result", "load_state_dict", said)] if said else []


def unsound(value: Any) -> str:
    """Return the fault of a value that was read, or an empty text if it is sound."""
    if isinstance(value, dict):
        return next((said for each in value.items() if (said := unsound(each))), "")
    if isinstance(value, tuple | list | set | frozenset):
        return next((said for each in value if (said := unsound(each))), "")
    if not isinstance(value, pyqref.Tensor):
        package = type(value).__module__.partition(".")[0]
        known = package in ("argparse", "builtins", "collections", "numpy", "pyqref")
        return "" if known else f"a {package}.{type(value).__name__}"
    array = value._array
    if not value.is_quantized:
        ok = array.dtype.kind in "fiub"
        bools = array.view(np.uint8) if array.dtype == np.bool_ and array.size else None
        if bools is not None and bools.max() > 1:
            return "a bool that is neither 0 nor 1"
        return "" if ok else f"a tensor of {array.dtype}"
    if value.qscheme().is_per_channel:
        scales = value.q_per_channel_scales()._array
        if not ((scales > 0) & np.isfinite(scales)).all() or value.q_per_channel_axis() < 0:
            return "scales or axis of channels that are not allowed"
        if len(scales) != array.shape[value.q_per_channel_axis()]:
            return "other scales than channels"
    low, high = value.dtype.quant_min, value.dtype.quant_max
    if array.size and not (low <= array.min() and array.max() <= high):
        return f"integers beyond those of {value.dtype}"
    return _of_result(value)


def _same_again(value: Any) -> bool:
    file = io.BytesIO()
    try:
        pyqref.save(value, file)
    except (TypeError, ValueError) as error:
        if str(error).startswith("save: "):  # files of torch hold more than ours can
            return True
        raise
    return bool(frozen(load(file.getvalue())) == frozen(value))


def _fault(kind: str, error: BaseException) -> Fault:
    frame, number = list(traceback.walk_tb(error.__traceback__))[-1]
    place = f"{frame.f_code.co_filename.removeprefix(PACKAGE)}:{number}"
    return Fault(kind, place, f"{type(error).__name__}: {error}"[:300])
