"""Training by several processes: there is one.

Scripts ask :func:`is_available`, and train alone; whatever else they call says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import on_first_use
from .uninitialized import all_gather as all_gather
from .uninitialized import all_reduce as all_reduce
from .uninitialized import barrier as barrier
from .uninitialized import broadcast as broadcast
from .uninitialized import destroy_process_group as destroy_process_group
from .uninitialized import get_rank as get_rank
from .uninitialized import get_world_size as get_world_size
from .uninitialized import init_process_group as init_process_group
from .uninitialized import reduce as reduce

__all__ = [
    "all_gather",
    "all_reduce",
    "barrier",
    "broadcast",
    "destroy_process_group",
    "get_rank",
    "get_world_size",
    "init_process_group",
    "is_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
    "reduce",
]

if not TYPE_CHECKING:  # a type checker knows the names that are there
    __getattr__ = on_first_use(__name__, {})


def is_available() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.is_available()
    False
    """
    return False


def is_initialized() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.is_initialized()
    False
    """
    return False


def is_nccl_available() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.is_nccl_available()
    False
    """
    return False


def is_gloo_available() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.is_gloo_available()
    False
    """
    return False


def is_mpi_available() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.is_mpi_available()
    False
    """
    return False


def is_torchelastic_launched() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.distributed.is_torchelastic_launched()
    False
    """
    return False
