"""Tensors: arrays of numbers with a place in the graph.

Read ``base`` (what a tensor is made of), ``dispatch`` (the one door through
which operations go) and ``tensor`` (the class, a table of contents); then the
functions, family by family, and ``quantized``.
"""

import sys

from pyqref import _lazy

from .callable_package import CallablePackage as _CallablePackage

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)

sys.modules[__name__].__class__ = _CallablePackage
