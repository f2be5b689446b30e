"""Float layers that hold the grid of their weight: a model's form before it is lowered.

Each computes with its weight quantized and dequantized, so that it shows in float what the
quantized layer will do, and carries what that layer needs: ``get_quantized_weight``. The
layers of :mod:`pyqref.nn.quantized` are made from them by ``from_reference``.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
