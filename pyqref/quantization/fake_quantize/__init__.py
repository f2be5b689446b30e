"""Fake quantizers: modules that put the error of quantization into a float model.

Read :mod:`.base`, :mod:`.fake_quantize`, then :mod:`.fused`.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
