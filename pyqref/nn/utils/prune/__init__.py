"""Pruning: masks that set elements of a parameter to zero. Begin with :mod:`.base`.

A pruned parameter ``weight`` becomes a parameter ``weight_orig``, a buffer ``weight_mask`` of ones
and zeros, and an attribute ``weight``, their product, which is computed anew before every call.
:func:`remove` makes the zeros permanent; do so before quantization.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
