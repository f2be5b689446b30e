"""Pruning: masks that set elements of a parameter to zero. Begin with :mod:`.base`.

A pruned parameter ``weight`` becomes a parameter ``weight_orig``, a buffer ``weight_mask`` of ones
and zeros, and an attribute ``weight``, their product, which is computed anew before every call.
:func:`remove` makes the zeros permanent; do so before quantization.
"""

from .base import BasePruningMethod as BasePruningMethod
from .base import PruningContainer as PruningContainer
from .functions import custom_from_mask as custom_from_mask
from .functions import global_unstructured as global_unstructured
from .functions import identity as identity
from .functions import is_pruned as is_pruned
from .functions import l1_unstructured as l1_unstructured
from .functions import ln_structured as ln_structured
from .functions import random_structured as random_structured
from .functions import random_unstructured as random_unstructured
from .functions import remove as remove
from .structured import LnStructured as LnStructured
from .structured import RandomStructured as RandomStructured
from .unstructured import CustomFromMask as CustomFromMask
from .unstructured import Identity as Identity
from .unstructured import L1Unstructured as L1Unstructured
from .unstructured import RandomUnstructured as RandomUnstructured

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]
