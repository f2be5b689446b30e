"""``torch.ao.nn``: another path to the quantization side of :mod:`pyqref.nn`."""

from __future__ import annotations

from ...nn import intrinsic as intrinsic
from ...nn import qat as qat
from ...nn import quantized as quantized

__all__ = ["intrinsic", "qat", "quantized"]
