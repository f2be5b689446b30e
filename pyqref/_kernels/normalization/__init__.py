"""Batch, layer and group norm of bytes: as in :mod:`pyqref.numerics.normalization`."""

from .channels import batch_norm as batch_norm
from .channels import batch_norm_coefficients as batch_norm_coefficients
from .rows import group_norm as group_norm
from .rows import layer_norm as layer_norm
from .rows import layer_norm_of_row as layer_norm_of_row

__all__ = ["batch_norm", "batch_norm_coefficients", "group_norm", "layer_norm", "layer_norm_of_row"]
