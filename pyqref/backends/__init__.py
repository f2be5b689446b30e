"""Settings of the back ends, at their ``torch`` paths."""

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from . import quantized as quantized

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {})

__all__ = ["quantized"]
