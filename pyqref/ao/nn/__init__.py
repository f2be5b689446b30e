"""``torch.ao.nn``: another path to the quantization side of :mod:`pyqref.nn`."""

from __future__ import annotations

from pyqref.nn import intrinsic as intrinsic
from pyqref.nn import qat as qat
from pyqref.nn import quantizable as quantizable
from pyqref.nn import quantized as quantized

__all__ = ["intrinsic", "qat", "quantizable", "quantized"]
