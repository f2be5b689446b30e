"""The quantized layers, one family a file."""

from .activation import ReLU as ReLU
from .activation import ReLU6 as ReLU6
from .conv import Conv1d as Conv1d
from .conv import Conv2d as Conv2d
from .conv import Conv3d as Conv3d
from .functional_modules import FloatFunctional as FloatFunctional
from .functional_modules import FXFloatFunctional as FXFloatFunctional
from .functional_modules import QFunctional as QFunctional
from .linear import Linear as Linear
from .linear import LinearPackedParams as LinearPackedParams
from .quantize import DeQuantize as DeQuantize
from .quantize import Quantize as Quantize

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "DeQuantize",
    "FXFloatFunctional",
    "FloatFunctional",
    "Linear",
    "LinearPackedParams",
    "QFunctional",
    "Quantize",
    "ReLU",
    "ReLU6",
]
