"""The dynamic groups of layers."""

from .linear_relu import LinearReLU as LinearReLU

__all__ = ["LinearReLU"]
