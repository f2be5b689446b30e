"""Layers that belong together: containers such as convolution, batch norm and ReLU.

Quantizing a group at once keeps the values between its layers exact and costs one
rounding instead of several. The float containers stand here; :mod:`.qat` holds their
versions for quantization-aware training, :mod:`.quantized` those that run on integers.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
