"""Layers that run on integers.

``convert`` puts them in the place of observed float layers, through ``from_float``.
:mod:`.functional` holds their functional forms, :mod:`.dynamic` the layers that
quantize their input while running.
"""

from . import dynamic as dynamic
from . import functional as functional
from .modules import Conv1d as Conv1d
from .modules import Conv2d as Conv2d
from .modules import Conv3d as Conv3d
from .modules import DeQuantize as DeQuantize
from .modules import FloatFunctional as FloatFunctional
from .modules import FXFloatFunctional as FXFloatFunctional
from .modules import Linear as Linear
from .modules import QFunctional as QFunctional
from .modules import Quantize as Quantize
from .modules import ReLU as ReLU
from .modules import ReLU6 as ReLU6

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "DeQuantize",
    "FXFloatFunctional",
    "FloatFunctional",
    "Linear",
    "QFunctional",
    "Quantize",
    "ReLU",
    "ReLU6",
    "dynamic",
    "functional",
]
