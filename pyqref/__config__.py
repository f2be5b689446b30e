"""Facts about the build of this pyqref and the machine that it runs on."""

from __future__ import annotations

import os

import numpy as np

from . import kernels
from ._kernels import get_num_threads
from .version import __version__

__all__ = ["parallel_info", "show"]


def show() -> str:
    """Version, NumPy and kernels, as text.

    Examples
    --------
    >>> import pyqref
    >>> print(pyqref.__config__.show())  # doctest: +ELLIPSIS
    pyqref ... built with:
      - NumPy ...
      - kernels ...
    """
    lines = [
        f"pyqref {__version__} built with:",
        f"  - NumPy {np.__version__}",
        f"  - kernels {kernels.in_use()}",
    ]
    return "\n".join(lines) + "\n"


def parallel_info() -> str:
    """Return a text about the number of threads that compute.

    Examples
    --------
    >>> import pyqref
    >>> print(pyqref.__config__.parallel_info())  # doctest: +ELLIPSIS
    Threads of kernels:
        pyqref.get_num_threads() : ...
    Processors: ...
    Environment variables:
        OMP_NUM_THREADS : ...
    """
    threads = os.environ.get("OMP_NUM_THREADS", "[not set]")
    lines = [
        "Threads of kernels:",
        f"    pyqref.get_num_threads() : {get_num_threads()}",
        f"Processors: {os.cpu_count()}",
        "Environment variables:",
        f"    OMP_NUM_THREADS : {threads}",
    ]
    return "\n".join(lines) + "\n"
