"""Quantization: observers, fake quantizers, qconfigs, and the workflows of eager mode.

Read :mod:`.observer`, :mod:`.fake_quantize`, :mod:`.qconfig`, :mod:`.stubs`, then
:mod:`.eager`. The modules ``quantize`` and ``fuse_modules`` hold the names that ``torch`` has
there.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
