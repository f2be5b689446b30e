"""Smallest and largest number of an array, or of each channel; their averages; histograms."""

from .histogram import batch_histogram as batch_histogram
from .ranges import min_max as min_max
from .ranges import min_max_per_channel as min_max_per_channel
from .running import are_finite as are_finite
from .running import average_range as average_range
from .running import choose_qparams_dynamic as choose_qparams_dynamic
from .running import extreme_range as extreme_range
from .running import extremes as extremes
from .running import fused_average as fused_average

__all__ = [
    "are_finite",
    "average_range",
    "batch_histogram",
    "choose_qparams_dynamic",
    "extreme_range",
    "extremes",
    "fused_average",
    "min_max",
    "min_max_per_channel",
]
