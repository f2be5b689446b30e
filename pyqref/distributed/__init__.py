"""Training by several processes: there is one.

Scripts ask :func:`is_available`, and train alone; whatever else they call says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._lazy import on_first_use

__all__ = [
    "is_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
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
