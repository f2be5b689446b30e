"""Float images channel by channel, and rows that are added up or normalized.

As in :mod:`pyqref.numerics.channels` and :mod:`pyqref.numerics.float_normalization`.
"""

from .moments import moments_of_channels as moments_of_channels
from .rows import gradient_of_columns as gradient_of_columns
from .rows import gradient_of_rows as gradient_of_rows
from .rows import moments_of_rows as moments_of_rows
from .rows import normalize_rows as normalize_rows
from .rows import totals_of_columns as totals_of_columns
from .rows import totals_of_rows as totals_of_rows
from .scaling import gradient_of_normalized as gradient_of_normalized
from .scaling import scale_channels as scale_channels
from .scaling import sums_of_channels as sums_of_channels

__all__ = [
    "gradient_of_columns",
    "gradient_of_normalized",
    "gradient_of_rows",
    "moments_of_channels",
    "moments_of_rows",
    "normalize_rows",
    "scale_channels",
    "sums_of_channels",
    "totals_of_columns",
    "totals_of_rows",
]
