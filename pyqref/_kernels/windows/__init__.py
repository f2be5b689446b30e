"""Windows of float images as rows of a matrix: as in :mod:`pyqref.numerics.windows`."""

from .columns import multiply_columns as multiply_columns
from .float_convolution import convolution as convolution
from .float_convolution import convolution_gradient as convolution_gradient
from .float_convolution import convolution_weight_gradient as convolution_weight_gradient
from .float_depthwise import depthwise as depthwise
from .float_depthwise import depthwise_gradient as depthwise_gradient
from .float_depthwise import depthwise_weight_gradient as depthwise_weight_gradient
from .maxima import gradient_of_largest as gradient_of_largest
from .maxima import largest as largest
from .products import gradients_of_products as gradients_of_products
from .products import multiply_windows as multiply_windows
from .rows import channels_first as channels_first
from .rows import channels_last as channels_last
from .rows import fold_rows as fold_rows
from .rows import unfold_rows as unfold_rows

__all__ = [
    "channels_first",
    "channels_last",
    "convolution",
    "convolution_gradient",
    "convolution_weight_gradient",
    "depthwise",
    "depthwise_gradient",
    "depthwise_weight_gradient",
    "fold_rows",
    "gradient_of_largest",
    "gradients_of_products",
    "largest",
    "multiply_columns",
    "multiply_windows",
    "unfold_rows",
]
