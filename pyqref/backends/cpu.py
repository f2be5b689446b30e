"""Questions of libraries about torch's own code for the processor."""

from __future__ import annotations

__all__ = ["get_cpu_capability"]


def get_cpu_capability() -> str:
    """Always ``"DEFAULT"``: there is none of torch's vector code to choose.

    Which of pyqref's kernels are in use, ``pyqref.kernels.show()`` tells.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.cpu.get_cpu_capability()
    'DEFAULT'
    """
    return "DEFAULT"
