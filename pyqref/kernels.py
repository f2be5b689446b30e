"""Kernels of this installation, and the one in use: how fast the numbers come out.

The kernels give the same bits, whichever is in use and however many threads run; see
``docs/design/kernels``. The best that this machine can run is chosen at import. The
environment variable ``PYQREF_KERNEL`` forces one before the import, :func:`use` after it.
"""

from __future__ import annotations

import os

from ._kernels.registry import built as built
from ._kernels.registry import in_use as in_use
from ._kernels.registry import supported as supported
from ._kernels.registry import usable as usable
from ._kernels.registry import use as use
from ._kernels.table import KERNELS
from ._kernels.threads import get_num_threads, has_openmp

__all__ = ["built", "in_use", "show", "summary", "supported", "usable", "use"]

_PACKAGE = os.path.dirname(os.path.abspath(__file__))


def summary() -> str:
    """Table of the kernels: which are built, which this machine supports, which is in use.

    Examples
    --------
    >>> from pyqref import kernels
    >>> print(kernels.summary().splitlines()[0])
    kernel        built  supported  in use  what it is
    """
    lines = ["kernel        built  supported  in use  what it is"]
    for name, kernel in KERNELS.items():
        is_built = "yes" if name in built() else "no"
        is_supported = "yes" if name in supported() else "no"
        mark = "*" if name == in_use() else ""
        lines.append(f"{name:<14}{is_built:<7}{is_supported:<11}{mark:<8}{kernel.summary}")
    n_threads = get_num_threads()
    openmp = "yes" if has_openmp() else "no: built without it, one thread is used"
    lines += ["", f"OpenMP: {openmp}", f"threads: {n_threads}", f"loaded from: {_PACKAGE}"]
    return "\n".join(lines)


def show() -> None:
    """Print :func:`summary`."""
    print(summary())  # noqa: T201  (printing is what it is for)
