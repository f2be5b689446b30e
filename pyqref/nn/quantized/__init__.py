"""Layers that run on integers.

``convert`` puts them in the place of observed float layers, through ``from_float``.
:mod:`.functional` holds their functional forms, :mod:`.dynamic` the layers that
quantize their input while running.
"""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
