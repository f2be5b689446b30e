"""Smallest and largest number of an array, or of each channel; their averages; histograms."""

from pyqref import _lazy

__getattr__, __dir__, __all__ = _lazy.attach_stub(__name__)
