"""Layers trained with fake-quantized weights that become dynamic ones."""

from .modules import Linear as Linear

__all__ = ["Linear"]
