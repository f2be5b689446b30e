"""Activations of float32 and softmax.

As in :mod:`pyqref.numerics.float_activation` and :mod:`pyqref.numerics.float_softmax`.
"""

from .pointwise import activation as activation
from .pointwise import activation_gradient as activation_gradient
from .pointwise import glu as glu
from .pointwise import glu_gradient as glu_gradient
from .pointwise import prelu as prelu
from .probabilities import softmax as softmax
from .probabilities import softmax_gradient as softmax_gradient

__all__ = [
    "activation",
    "activation_gradient",
    "glu",
    "glu_gradient",
    "prelu",
    "softmax",
    "softmax_gradient",
]
