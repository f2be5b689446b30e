"""Resizing of images of bytes: the same arguments and results as in ``numerics.interpolate``."""

from .images import bilinear as bilinear
from .images import nearest as nearest

__all__ = ["bilinear", "nearest"]
