"""The older ``profile``, of ``torch.autograd.profiler``."""

from __future__ import annotations

from typing import Any

from ..profiler.events import EventList as EventList
from ..profiler.events import FunctionEvent as FunctionEvent
from ..profiler.events import FunctionEventAvg as FunctionEventAvg
from ..profiler.profiling import warn_of_options
from ..profiler.recorder import Recorder
from ..profiler.spans import record_function as record_function

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "profile", "record_function"]


class profile:
    """Measure the wall time of every operation inside a ``with``.

    As :class:`pyqref.profiler.profile`, without steps; the sums and tables are methods.

    Parameters
    ----------
    enabled
        Whether to measure.
    record_shapes
        Keep the shapes of arguments, for ``key_averages(group_by_input_shape=True)``.
    use_cuda, use_device, with_flops, profile_memory, with_stack, with_modules
        Have no effect.
    use_kineto, use_cpu
        Of no use here.
    **options
        Have no effect.

    Warns
    -----
    NoEffectWarning
        Something is asked for that is not measured.

    Notes
    -----
    Source: documentation of ``torch.autograd.profiler.profile``.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.autograd.profiler.profile() as prof:
    ...     y = pyqref.ones(3, requires_grad=True).exp().sum()
    ...     y.backward()
    >>> {"aten::exp", "ExpBackward"} <= {each.key for each in prof.key_averages()}
    True
    """

    def __init__(
        self,
        enabled: bool = True,
        *,
        use_cuda: bool = False,
        use_device: str | None = None,
        record_shapes: bool = False,
        with_flops: bool = False,
        profile_memory: bool = False,
        with_stack: bool = False,
        with_modules: bool = False,
        use_kineto: bool = True,
        use_cpu: bool = True,
        **options: object,
    ) -> None:
        self.enabled = enabled
        given = {
            "use_cuda": use_cuda,
            "use_device": use_device,
            "with_flops": with_flops,
            "profile_memory": profile_memory,
            "with_stack": with_stack,
            "with_modules": with_modules,
            **{name: value for name, value in options.items() if name != "acc_events"},
        }
        warn_of_options("profile", given)
        self._recorder = Recorder(record_shapes)
        self._events: EventList | None = None

    def __enter__(self) -> profile:  # noqa: PYI034
        if self.enabled:
            self._recorder.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.enabled:
            self._events = self._recorder.stop()

    @property
    def function_events(self) -> EventList:
        """One event for each call.

        Raises
        ------
        RuntimeError
            Nothing has been measured yet.
        """
        if self._events is None:
            raise RuntimeError(
                "Profiler didn't finish running: look at it after the with, and with enabled=True"
            )
        return self._events

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0
    ) -> EventList:
        """Sums by name."""
        return self.function_events.key_averages(group_by_input_shape, group_by_stack_n)

    def table(self, *args: Any, **kwargs: Any) -> str:
        """A table with a line for each call."""
        return self.function_events.table(*args, **kwargs)

    def total_average(self) -> FunctionEventAvg:
        """The sum of all."""
        return self.function_events.total_average()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds, each counted once."""
        return self.function_events.self_cpu_time_total

    def export_chrome_trace(self, path: str) -> None:
        """Write the events to a file that ``chrome://tracing`` and Perfetto show."""
        self.function_events.export_chrome_trace(path)

    def __str__(self) -> str:
        return "<unfinished profile>" if self._events is None else str(self._events)
