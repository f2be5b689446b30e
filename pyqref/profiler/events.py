"""Measured events: one for each call, sums by name, and the table of both."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg"]

#: Of devices that are not there: torch's names of columns that scripts may sort by.
_ZERO = (
    *("cuda_time", "cuda_time_total", "self_cuda_time_total", "device_time"),
    *("device_time_total", "self_device_time_total", "xpu_time_total", "self_xpu_time_total"),
    *("cpu_memory_usage", "self_cpu_memory_usage", "cuda_memory_usage"),
    *("self_cuda_memory_usage", "device_memory_usage", "self_device_memory_usage"),
)
_SORTABLE = ("count", "cpu_time", "cpu_time_total", "self_cpu_time_total")


class _Times:
    """Base class of events and their sums; times are microseconds of wall time."""

    name: str
    count: int
    cpu_time_total: float
    self_cpu_time_total: float

    @property
    def key(self) -> str:
        """The name."""
        return self.name

    @property
    def cpu_time(self) -> float:
        """Microseconds a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    @property
    def cpu_time_str(self) -> str:
        """:attr:`cpu_time` with a unit."""
        return time_text(self.cpu_time)

    @property
    def cpu_time_total_str(self) -> str:
        """:attr:`cpu_time_total` with a unit."""
        return time_text(self.cpu_time_total)

    @property
    def self_cpu_time_total_str(self) -> str:
        """:attr:`self_cpu_time_total` with a unit."""
        return time_text(self.self_cpu_time_total)

    def __getattr__(self, name: str) -> Any:
        if name in _ZERO:
            return 0
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")


@dataclass(eq=False)
class FunctionEvent(_Times):
    """One call.

    Attributes
    ----------
    name : str
        Such as ``"aten::conv2d"``, ``"quantized::linear"``, ``"Conv2dBackward"``.
    start, end : int
        Nanoseconds.
    thread : int
        Number of the thread.
    input_shapes : list
        Shapes of the tensors among its arguments, if they were asked for.
    cpu_parent : FunctionEvent or None
        The call inside which it was made.
    cpu_children : list of FunctionEvent
        The calls that it made.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.profiler.profile() as prof:
    ...     y = pyqref.ones(2).exp()
    >>> [each.name for each in prof.events() if each.name == "aten::exp"]
    ['aten::exp']
    """

    name: str
    start: int
    thread: int
    input_shapes: list[Any] = field(default_factory=list)
    end: int = 0
    cpu_parent: FunctionEvent | None = field(default=None, repr=False)
    cpu_children: list[FunctionEvent] = field(default_factory=list, repr=False)
    is_user_annotation: bool = False

    @property
    def count(self) -> int:  # type: ignore[override]
        """One."""
        return 1

    @property
    def cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds from its begin to its end."""
        return (self.end - self.start) / 1e3

    @property
    def self_cpu_time_total(self) -> float:  # type: ignore[override]
        """Microseconds outside of the calls that it made."""
        return self.cpu_time_total - sum(each.cpu_time_total for each in self.cpu_children)


@dataclass(eq=False)
class FunctionEventAvg(_Times):
    """Calls of one name, summed.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.profiler.profile() as prof:
    ...     y = pyqref.ones(2).exp().exp()
    >>> [each.count for each in prof.key_averages() if each.key == "aten::exp"]
    [2]
    """

    name: str
    input_shapes: list[Any] = field(default_factory=list)
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0

    def add(self, other: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Count another event, or sum, in."""
        self.count += other.count
        self.cpu_time_total += other.cpu_time_total
        self.self_cpu_time_total += other.self_cpu_time_total
        return self


class EventList(list[Any]):
    """Events, or sums of them.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.profiler.profile() as prof:
    ...     y = pyqref.ones(2, 2) @ pyqref.ones(2, 2)
    >>> [each.key for each in prof.key_averages() if each.key == "aten::matmul"]
    ['aten::matmul']
    """

    def __init__(self, events: Iterable[Any] = (), with_shapes: bool = False) -> None:
        super().__init__(events)
        self._with_shapes = with_shapes

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """Sums by name, and by the shapes of the arguments too if asked for."""
        sums: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shape else []
            key = (event.name, str(shapes))
            sums.setdefault(key, FunctionEventAvg(event.name, shapes)).add(event)
        return EventList(sums.values(), group_by_input_shape)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all. Times of calls within calls count once for each."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds, each counted once."""
        return float(sum(event.self_cpu_time_total for event in self))

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """A table with a line for each.

        Parameters
        ----------
        sort_by
            ``"cpu_time_total"``, ``"self_cpu_time_total"``, ``"cpu_time"`` or ``"count"``; largest
            first. Times and memory of a GPU are 0 for all.
        row_limit
            How many lines at most; -1 for all.
        max_name_column_width, max_shapes_column_width
            Longer texts are cut.
        header
            A line above.
        top_level_events_only
            Leave out calls within calls.
        max_src_column_width, time_unit
            Of no use here.
        """
        rows: list[Any] = list(self)
        if top_level_events_only:
            rows = [each for each in rows if getattr(each, "cpu_parent", None) is None]
        if sort_by is not None:
            if sort_by not in (*_SORTABLE, *_ZERO):
                raise AttributeError(
                    f"table: sort_by must be one of {', '.join(_SORTABLE)}, got {sort_by!r}"
                )
            rows.sort(key=lambda each: getattr(each, sort_by), reverse=True)
        total = self.self_cpu_time_total
        shown = rows if row_limit < 0 else rows[:row_limit]
        lines = _lines(shown, total, self._with_shapes, max_name_column_width)
        return "\n".join(
            [*([header] if header else []), *lines, f"Self CPU time total: {time_text(total)}", ""]
        )

    def export_chrome_trace(self, path: str) -> None:
        """Write the events to a file that ``chrome://tracing`` and Perfetto show."""
        events = [
            {
                "name": each.name,
                "ph": "X",
                "ts": each.start / 1e3,
                "dur": each.cpu_time_total,
                "pid": os.getpid(),
                "tid": each.thread,
                "args": {"Input Dims": each.input_shapes} if each.input_shapes else {},
            }
            for each in self
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events, "displayTimeUnit": "ms"}, file)

    def __str__(self) -> str:
        return self.table()


def time_text(microseconds: float) -> str:
    """A time with the unit that fits.

    Examples
    --------
    >>> time_text(12.5), time_text(12500.0), time_text(2e6)
    ('12.500us', '12.500ms', '2.000s')
    """
    if microseconds >= 1e6:
        return f"{microseconds / 1e6:.3f}s"
    if microseconds >= 1e3:
        return f"{microseconds / 1e3:.3f}ms"
    return f"{microseconds:.3f}us"


def _lines(rows: list[Any], total: float, with_shapes: bool, width: int) -> list[str]:
    """Heads, a line for each row, and lines between."""
    heads = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"]
    heads.append("# of Calls")
    if with_shapes:
        heads.append("Input Shapes")
    cells = []
    for each in rows:
        name = each.name if len(each.name) <= width else f"{each.name[: width - 3]}..."
        row = [
            name,
            _share(each.self_cpu_time_total, total),
            time_text(each.self_cpu_time_total),
            _share(each.cpu_time_total, total),
            time_text(each.cpu_time_total),
            time_text(each.cpu_time),
            str(each.count),
        ]
        cells.append([*row, str(each.input_shapes)] if with_shapes else row)
    widths = [max(12, *(len(row[at]) for row in [heads, *cells])) for at in range(len(heads))]
    rule = "  ".join("-" * each for each in widths)
    table = ["  ".join(f"{c:>{w}}" for c, w in zip(r, widths, strict=True)) for r in cells]
    head = "  ".join(f"{c:>{w}}" for c, w in zip(heads, widths, strict=True))
    return [rule, head, rule, *table, rule]


def _share(part: float, total: float) -> str:
    return f"{100 * part / total if total else 0.0:.2f}%"
