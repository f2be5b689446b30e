"""Float images channel by channel, for training: as in :mod:`pyqref.numerics.channels`."""

from .moments import moments_of_channels as moments_of_channels
from .scaling import gradient_of_normalized as gradient_of_normalized
from .scaling import scale_channels as scale_channels
from .scaling import sums_of_channels as sums_of_channels

__all__ = [
    "gradient_of_normalized",
    "moments_of_channels",
    "scale_channels",
    "sums_of_channels",
]
