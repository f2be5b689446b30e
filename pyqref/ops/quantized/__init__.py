"""The functions of ``torch.ops.quantized``, on quantized tensors and packed weights.

Each checks its arguments and calls an equation of :mod:`pyqref.numerics`, or the kernel
that computes the same integers. :mod:`.float_operations` says what the functions of
``nn.functional`` do with quantized tensors.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
