"""Time that a statement takes: ``Timer`` measures, ``Compare`` shows several in a table."""

from typing import TYPE_CHECKING

from ..._lazy import on_first_use
from .compare import Compare as Compare
from .measurement import Measurement as Measurement
from .timer import Timer as Timer

__all__ = ["Compare", "Measurement", "Timer"]

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__)
