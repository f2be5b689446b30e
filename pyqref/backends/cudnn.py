"""Switches of cuDNN, which is not there: they can be set, and change nothing.

What they ask for holds anyway: every operation of pyqref gives the same bits each time.

Examples
--------
>>> import pyqref
>>> pyqref.backends.cudnn.benchmark = True
>>> pyqref.backends.cudnn.benchmark
True
>>> pyqref.backends.cudnn.benchmark = False
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from pyqref._typing import Tensor

from .flags import switched

__all__ = [
    "allow_tf32",
    "benchmark",
    "benchmark_limit",
    "deterministic",
    "enabled",
    "fastest",
    "flags",
    "is_acceptable",
    "is_available",
    "version",
]

enabled = True
benchmark = False
deterministic = False
allow_tf32 = True
benchmark_limit: int | None = None
#: Of old versions of torch.
fastest = False


def is_available() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.cudnn.is_available()
    False
    """
    return False


def is_acceptable(tensor: Tensor) -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.cudnn.is_acceptable(pyqref.ones(1))
    False
    """
    return False


def version() -> None:
    """Return None: there is none.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.cudnn.version()
    """
    return


def flags(
    enabled: bool = False,
    benchmark: bool = False,
    benchmark_limit: int = 10,
    deterministic: bool = False,
    allow_tf32: bool = True,
    fp32_precision: str = "none",
) -> AbstractContextManager[None]:
    """A ``with`` inside which the switches have these values.

    Examples
    --------
    >>> from pyqref.backends import cudnn
    >>> with cudnn.flags(deterministic=True):
    ...     cudnn.deterministic
    True
    >>> cudnn.deterministic
    False
    """
    return switched(
        __name__,
        {
            "enabled": enabled,
            "benchmark": benchmark,
            "benchmark_limit": benchmark_limit,
            "deterministic": deterministic,
            "allow_tf32": allow_tf32,
        },
    )
