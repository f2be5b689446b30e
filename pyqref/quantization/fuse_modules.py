"""Fusion of layers, at its path in ``torch``."""

from __future__ import annotations

from .eager.fuse import fuse_known_modules as fuse_known_modules
from .eager.fuse import fuse_modules as fuse_modules
from .eager.fuse import fuse_modules_qat as fuse_modules_qat
from .fuser_method_mappings import get_fuser_method as get_fuser_method

__all__ = ["fuse_known_modules", "fuse_modules", "fuse_modules_qat", "get_fuser_method"]
