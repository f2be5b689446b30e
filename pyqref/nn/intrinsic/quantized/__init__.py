"""Groups of layers that run on integers, ReLU included.

Batch norm does not appear: it is folded into the convolution before.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
