"""Resizing of images: the same arguments and results as in ``numerics``."""

from .images import bilinear as bilinear
from .images import nearest as nearest
from .reals import resample as resample

__all__ = ["bilinear", "nearest", "resample"]
