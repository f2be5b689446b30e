"""Attention: as in :mod:`pyqref.numerics.attention`."""

from .heads import attend as attend
from .heads import is_attention_covered as is_attention_covered

__all__ = ["attend", "is_attention_covered"]
