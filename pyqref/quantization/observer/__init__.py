"""Observers: modules that look at tensors to find their quantization parameters.

Read :mod:`.base` (what an observer is), :mod:`.uniform` (from a range to scale and zero
point), :mod:`.min_max`, and then any of the others: one class a file.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
