"""Ways of training in several processes: there are none."""

from __future__ import annotations

__all__ = [
    "is_available",
    "is_gloo_available",
    "is_initialized",
    "is_mpi_available",
    "is_nccl_available",
    "is_torchelastic_launched",
]


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
