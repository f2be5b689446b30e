"""Quantized tensors: integers with a scale and a zero point.

Read :mod:`.quantizer` (what the integers mean), :mod:`.tensor` (the class),
:mod:`.create` (quantize and dequantize), :mod:`.views`, :mod:`.operations`, :mod:`.joining`,
:mod:`.moments` and :mod:`.sorting` (what the functions of ordinary tensors do with quantized ones).
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
