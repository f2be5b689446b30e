"""Quantize and dequantize between plain tensors: reals on one side, int8 and its like on the other.

Graphs of torch's export write quantization in this form. The product with the reciprocal of the
scale is rounded to float32 and to an integer, and only then the zero point is added;
:func:`pyqref.quantize_per_tensor` rounds once, after the sum. A number halfway between two integers
may therefore go to the other one.

Each operation is also its own overloads ``default``, ``tensor`` and ``tensor2``.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
