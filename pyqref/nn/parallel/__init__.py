"""Wrappers that run a model on several devices: here on the one that is there."""

from typing import TYPE_CHECKING

from ..._lazy import on_first_use
from .data_parallel import DataParallel as DataParallel
from .distributed import DistributedDataParallel as DistributedDataParallel

__all__ = ["DataParallel", "DistributedDataParallel"]

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__)
