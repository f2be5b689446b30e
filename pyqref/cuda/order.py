"""Order and time of work: here each operation ends before the next begins.

So an event that is recorded has happened, and there is one stream. Scripts that measure with two
events get the wall time between them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from .._typing import Device

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "stream",
    "synchronize",
]


def synchronize(device: Device = None) -> None:
    """All work is done when an operation returns, so there is nothing to wait for.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.synchronize()
    """


class Event:
    """A point in time.

    Parameters
    ----------
    enable_timing
        Whether :meth:`elapsed_time` may be asked.
    blocking, interprocess
        Of no use here.

    Examples
    --------
    >>> import pyqref
    >>> start, end = (pyqref.cuda.Event(enable_timing=True) for _ in range(2))
    >>> start.record()
    >>> y = pyqref.randn(10, 10) @ pyqref.randn(10, 10)
    >>> end.record()
    >>> pyqref.cuda.synchronize()
    >>> start.elapsed_time(end) > 0  # milliseconds
    True
    """

    def __init__(
        self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.enable_timing = enable_timing
        self._time: float | None = None

    def record(self, stream: object = None) -> None:
        """Remember the time now."""
        self._time = time.perf_counter()

    def query(self) -> bool:
        """Always true: all work is done."""
        return True

    def synchronize(self) -> None:
        """Return at once: there is nothing to wait for."""

    def wait(self, stream: object = None) -> None:
        """Return at once: there is nothing to wait for."""

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds of wall time from this event to another.

        Raises
        ------
        ValueError
            One of the two was made without ``enable_timing=True``, or has not been recorded.
        """
        if not (self.enable_timing and end_event.enable_timing):
            raise ValueError("elapsed_time: make both events with Event(enable_timing=True)")
        if self._time is None or end_event._time is None:
            raise ValueError("elapsed_time: call record() on both events before")
        return (end_event._time - self._time) * 1e3


class Stream:
    """The order in which work is done: that of the script, in every stream.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.current_stream().synchronize()
    """

    def __init__(self, device: Device = None, priority: int = 0, **kwargs: object) -> None:
        self.priority = priority

    def synchronize(self) -> None:
        """Return at once: there is nothing to wait for."""

    def query(self) -> bool:
        """Always true: all work is done."""
        return True

    def wait_stream(self, stream: Stream) -> None:
        """Return at once: there is nothing to wait for."""

    def wait_event(self, event: Event) -> None:
        """Return at once: there is nothing to wait for."""

    def record_event(self, event: Event | None = None) -> Event:
        """An event, recorded now."""
        event = Event() if event is None else event
        event.record()
        return event


_STREAM = Stream()


def current_stream(device: Device = None) -> Stream:
    """The one stream.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.current_stream() is pyqref.cuda.default_stream()
    True
    """
    return _STREAM


def default_stream(device: Device = None) -> Stream:
    """The one stream.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.cuda.default_stream().query()
    True
    """
    return _STREAM


class StreamContext(nullcontext[Any]):
    """Inside, work is done in the one stream.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.cuda.StreamContext(pyqref.cuda.current_stream()):
    ...     pyqref.ones(1).item()
    1.0
    """


@contextmanager
def stream(stream: Stream | None) -> Iterator[None]:
    """A ``with`` inside which work is done in the order of the script, as outside.

    Examples
    --------
    >>> import pyqref
    >>> with pyqref.cuda.stream(pyqref.cuda.Stream()):
    ...     pass
    """
    yield
