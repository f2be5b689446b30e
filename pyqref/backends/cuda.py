"""Switches of CUDA, which is not there: they can be set, and change nothing.

Examples
--------
>>> import pyqref
>>> pyqref.backends.cuda.matmul.allow_tf32 = True
>>> pyqref.backends.cuda.is_built()
False
"""

from __future__ import annotations

from types import SimpleNamespace

__all__ = ["is_built", "matmul"]

#: Of products of float32: on the CPU all bits are kept.
matmul = SimpleNamespace(
    allow_tf32=False,
    allow_fp16_reduced_precision_reduction=True,
    allow_bf16_reduced_precision_reduction=True,
)


def is_built() -> bool:
    """Always false.

    Examples
    --------
    >>> import pyqref
    >>> pyqref.backends.cuda.is_built()
    False
    """
    return False
