"""Sums, products, bounds and tables of bytes, element by element.

The same arguments and results as in :mod:`pyqref.numerics.elementwise`.
"""

from .arithmetic import add as add
from .arithmetic import mul as mul
from .bounds import clamp as clamp
from .bounds import relu as relu
from .bounds import relu6 as relu6
from .padding import bordered as bordered
from .padding import pad as pad
from .table import cat as cat
from .table import join as join
from .table import look_up as look_up

__all__ = ["add", "bordered", "cat", "clamp", "join", "look_up", "mul", "pad", "relu", "relu6"]
