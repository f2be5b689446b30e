"""Smallest and largest number of an array, or of each channel; their averages; histograms."""

from .grids import edge_counts as edge_counts
from .grids import magnitude_sums as magnitude_sums
from .grids import nested_counts as nested_counts
from .grids import staircase_errors as staircase_errors
from .histogram import merge_histogram as merge_histogram
from .ranges import min_max as min_max
from .ranges import min_max_per_channel as min_max_per_channel
from .running import choose_qparams_dynamic as choose_qparams_dynamic
from .running import extremes as extremes
from .running import fused_average as fused_average
from .running import running_range as running_range

__all__ = [
    "choose_qparams_dynamic",
    "extremes",
    "edge_counts",
    "fused_average",
    "magnitude_sums",
    "merge_histogram",
    "min_max",
    "min_max_per_channel",
    "nested_counts",
    "running_range",
    "staircase_errors",
]
