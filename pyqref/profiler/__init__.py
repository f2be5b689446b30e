"""How long each operation takes: :class:`profile` measures, tables and traces show."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from .events import EventList as EventList
from .events import FunctionEvent as FunctionEvent
from .events import FunctionEventAvg as FunctionEventAvg
from .profiling import profile as profile
from .profiling import supported_activities as supported_activities
from .schedules import ProfilerAction as ProfilerAction
from .schedules import ProfilerActivity as ProfilerActivity
from .schedules import schedule as schedule
from .schedules import tensorboard_trace_handler as tensorboard_trace_handler
from .spans import record_function as record_function

__all__ = [
    "EventList",
    "FunctionEvent",
    "FunctionEventAvg",
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {})
