"""Figures that show what quantization does, of your own model and data.

Each function takes what was measured, draws it on the matplotlib axes ``ax`` (a new figure
if there is none) and returns those axes. :mod:`pyqref.measure` measures. For the colours of
the tutorials, put ``plt.style.use(plot.settings())`` at the head of a script, or
``with plot.theme("dark"):`` around a figure; in figures of your own choose
``layout="constrained"``.
"""

from .bits_sweep import bits_sweep as bits_sweep
from .channel_error import channel_error as channel_error
from .error_histogram import error_histogram as error_histogram
from .graph import graph as graph
from .image import image as image
from .layer_sqnr import layer_sqnr as layer_sqnr
from .observer_range import observer_range as observer_range
from .quantization_grid import quantization_grid as quantization_grid
from .sensitivity import sensitivity as sensitivity
from .style import settings as settings
from .style import theme as theme
from .waterfall import waterfall as waterfall
from .weights_and_scales import weights_and_scales as weights_and_scales

__all__ = [
    "bits_sweep",
    "channel_error",
    "error_histogram",
    "graph",
    "image",
    "layer_sqnr",
    "observer_range",
    "quantization_grid",
    "sensitivity",
    "settings",
    "theme",
    "waterfall",
    "weights_and_scales",
]
