"""Activations of float32: as in :mod:`pyqref.numerics.float_activation`."""

from .pointwise import activation as activation
from .pointwise import activation_gradient as activation_gradient
from .pointwise import glu as glu
from .pointwise import glu_gradient as glu_gradient
from .pointwise import prelu as prelu

__all__ = ["activation", "activation_gradient", "glu", "glu_gradient", "prelu"]
