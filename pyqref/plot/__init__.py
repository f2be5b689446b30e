"""Figures that show what quantization does.

Each function draws on the matplotlib ``Axes`` that it is given and returns it. Use
``with theme("light"):`` around, and ``layout="constrained"`` for the figure.
"""

from .bits_sweep import bits_sweep as bits_sweep
from .channel_error import channel_error as channel_error
from .error_histogram import error_histogram as error_histogram
from .image import image as image
from .layer_sqnr import layer_sqnr as layer_sqnr
from .observer_range import observer_range as observer_range
from .style import theme as theme

__all__ = [
    "bits_sweep",
    "channel_error",
    "error_histogram",
    "image",
    "layer_sqnr",
    "observer_range",
    "theme",
]
