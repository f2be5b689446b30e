"""``torch.profiler.profile``."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ..nn.diagnostics import NoEffectWarning, warn
from .events import EventList, FunctionEvent, FunctionEventAvg
from .recorder import Recorder, begin_span, end_span
from .schedules import ProfilerAction, ProfilerActivity

__all__ = ["profile", "supported_activities", "warn_of_options"]

_RECORDING = (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)


def supported_activities() -> set[ProfilerActivity]:
    """Return the activities that can be measured: the CPU.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


def warn_of_options(what: str, options: dict[str, Any]) -> None:
    """Warn of options that were given and have no effect."""
    for name, value in options.items():
        if value:
            warn(
                f"{what}: {name} has no effect: wall times of operations on the CPU, and shapes, "
                "are what is measured; leave it out",
                NoEffectWarning,
            )


class profile:
    """Measure the wall time of every operation inside a ``with``.

    Operations are listed as ``aten::conv2d`` or ``quantized::linear``, steps of the backward pass
    as ``Conv2dBackward``. Without a profiler operations take no longer than ever; with
    one, each Python call takes some tenths of a microsecond more.

    Parameters
    ----------
    activities
        What to measure; the CPU is.
    schedule
        From the number of a step to what to do, see :func:`schedule`; then call :meth:`step` at
        the end of each.
    on_trace_ready
        Called with the profiler when a measurement is complete.
    record_shapes
        Keep the shapes of arguments, for ``key_averages(group_by_input_shape=True)``.
    profile_memory, with_stack, with_flops, with_modules
        Have no effect.
    **options
        Have no effect.

    Warns
    -----
    NoEffectWarning
        Something is asked for that is not measured.

    Notes
    -----
    Source: documentation of ``torch.profiler.profile``.

    Examples
    --------
    >>> import pyqref
    >>> from pyqref.profiler import profile
    >>> layer = pyqref.nn.Linear(4, 4)
    >>> with profile(record_shapes=True) as prof:
    ...     y = layer(pyqref.ones(2, 4))
    >>> print(prof.key_averages().table(sort_by="cpu_time_total"))  # doctest: +ELLIPSIS
    -----...
            Name    Self CPU %      Self CPU   CPU total %     CPU total  ...
    ...
    aten::linear ...
    """

    def __init__(
        self,
        *,
        activities: Iterable[ProfilerActivity] | None = None,
        schedule: Callable[[int], ProfilerAction] | None = None,
        on_trace_ready: Callable[[Any], Any] | None = None,
        record_shapes: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_flops: bool = False,
        with_modules: bool = False,
        **options: object,
    ) -> None:
        asked = set(activities) if activities is not None else {ProfilerActivity.CPU}
        absent = {f"activity {each.name}": True for each in asked - supported_activities()}
        given = {
            **absent,
            "profile_memory": profile_memory,
            "with_stack": with_stack,
            "with_flops": with_flops,
            "with_modules": with_modules,
            **{name: value for name, value in options.items() if name != "acc_events"},
        }
        warn_of_options("profile", given)
        self.schedule = schedule
        self.on_trace_ready = on_trace_ready
        self.record_shapes = record_shapes
        self.step_num = 0
        self.current_action = self._action()
        self._recorder: Recorder | None = None
        self._events = EventList()
        self._span: FunctionEvent | None = None

    def _action(self) -> ProfilerAction:
        return ProfilerAction.RECORD if self.schedule is None else self.schedule(self.step_num)

    def start(self) -> None:
        """Begin."""
        self._begin()

    def stop(self) -> None:
        """End; what was measured is there."""
        if self._finish() and self.on_trace_ready is not None:
            self.on_trace_ready(self)

    def step(self) -> None:
        """Say that a step of the loop is over."""
        is_complete = self.current_action is ProfilerAction.RECORD_AND_SAVE
        end_span(self._span)
        if is_complete:
            self.stop()
        self.step_num += 1
        self.current_action = self._action()
        self._begin()

    def _begin(self) -> None:
        if self.current_action in _RECORDING:
            if self._recorder is None:
                self._recorder = Recorder(self.record_shapes)
                self._recorder.start()
            if self.schedule is not None:
                self._span = begin_span(f"ProfilerStep#{self.step_num}")

    def _finish(self) -> bool:
        if self._recorder is None:
            return False
        self._events = self._recorder.stop()
        self._recorder = None
        return True

    def __enter__(self) -> profile:  # noqa: PYI034
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def events(self) -> EventList:
        """One event for each call."""
        return self._events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """Sums by name."""
        return self._events.key_averages(group_by_input_shape, group_by_stack_n)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all."""
        return self._events.total_average()

    def export_chrome_trace(self, path: str) -> None:
        """Write the events to a file that ``chrome://tracing`` and Perfetto show."""
        self._events.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Refused: stacks are not recorded."""
        raise RuntimeError(
            "profile: export_stacks: stacks are not recorded; write the times of operations with "
            "export_chrome_trace(path), or measure Python functions with the module cProfile"
        )
