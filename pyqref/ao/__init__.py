"""``torch.ao``: another path to :mod:`pyqref.quantization` and its modules.

``pyqref.ao.quantization`` *is* ``pyqref.quantization``, and so are the modules below it:
``from pyqref.ao.quantization.observer import MinMaxObserver`` gives the same class.
"""

from __future__ import annotations

import sys

from pyqref import quantization as quantization
from pyqref.quantization import quantize_fx as _quantize_fx
from pyqref.quantization.fx import custom_config as _custom_config

from . import nn as nn

__all__ = ["nn", "quantization"]


def _alias(name: str, alias: str) -> None:
    """Let every loaded module of a package be imported under another name."""
    for path, module in list(sys.modules.items()):
        if path == name or path.startswith(f"{name}."):
            sys.modules.setdefault(alias + path[len(name) :], module)


_alias(quantization.__name__, f"{__name__}.quantization")
for _package in (nn.intrinsic, nn.qat, nn.quantizable, nn.quantized):
    _alias(_package.__name__, f"{nn.__name__}.{_package.__name__.rpartition('.')[2]}")
