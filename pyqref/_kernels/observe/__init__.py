"""Smallest and largest number of an array, or of each of its channels; histograms."""

from .histogram import batch_histogram as batch_histogram
from .ranges import min_max as min_max
from .ranges import min_max_per_channel as min_max_per_channel

__all__ = ["batch_histogram", "min_max", "min_max_per_channel"]
