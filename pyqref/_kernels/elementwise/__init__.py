"""Sums, products and tables of bytes, element by element.

The same arguments and results as in :mod:`pyqref.numerics.elementwise`.
"""

from .arithmetic import add as add
from .arithmetic import mul as mul
from .table import cat as cat
from .table import look_up as look_up

__all__ = ["add", "cat", "look_up", "mul"]
