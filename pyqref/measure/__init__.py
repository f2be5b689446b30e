"""How far a quantized model is from its float one, in numbers.

:func:`sqnr` compares two arrays, :func:`layer_sqnr` two models layer by layer,
:func:`channel_error` two weights channel by channel, and :func:`sensitivity` says what each
layer costs by itself. :mod:`pyqref.plot` draws what comes out.
:func:`roofline` says how fast a layer can be at best.
"""

from .annotate import annotate as annotate
from .channels import channel_bound as channel_bound
from .channels import channel_error as channel_error
from .layers import layer_outputs as layer_outputs
from .layers import layer_sqnr as layer_sqnr
from .layers import plain_layers as plain_layers
from .machine import roofline as roofline
from .noise import add_noises as add_noises
from .noise import sqnr as sqnr
from .sensitivity import sensitivity as sensitivity

__all__ = [
    "add_noises",
    "annotate",
    "channel_bound",
    "channel_error",
    "layer_outputs",
    "layer_sqnr",
    "plain_layers",
    "roofline",
    "sensitivity",
    "sqnr",
]
