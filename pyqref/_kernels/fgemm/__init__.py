"""Products of float32 matrices: as in :mod:`pyqref.numerics.float_product`."""

from .matrices import float_product as float_product
from .matrices import multiplies_floats as multiplies_floats

__all__ = ["float_product", "multiplies_floats"]
