"""``torch.ao``: another path to :mod:`pyqref.quantization` and its modules.

``pyqref.ao.quantization`` *is* ``pyqref.quantization``, and so are the modules below it:
``from pyqref.ao.quantization.observer import MinMaxObserver`` gives the same class.
"""

from __future__ import annotations

from pyqref import quantization as quantization

from . import nn as nn

__all__ = ["nn", "quantization"]
