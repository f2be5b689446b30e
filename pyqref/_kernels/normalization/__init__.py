"""Layer and group norm of bytes: as in :mod:`pyqref.numerics.normalization`."""

from .rows import group_norm as group_norm
from .rows import layer_norm as layer_norm

__all__ = ["group_norm", "layer_norm"]
