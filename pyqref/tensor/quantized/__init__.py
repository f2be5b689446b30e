"""Quantized tensors: integers with a scale and a zero point.

Read :mod:`.quantizer` (what the integers mean), :mod:`.tensor` (the class),
:mod:`.create` (quantize and dequantize), :mod:`.views`, :mod:`.operations`, :mod:`.joining`,
:mod:`.moments` and :mod:`.sorting` (what the functions of ordinary tensors do with quantized ones).
"""

from . import joining as joining
from . import moments as moments
from . import operations as operations
from . import sorting as sorting
from . import views as views
from .create import dequantize as dequantize
from .create import int_repr as int_repr
from .create import q_per_channel_axis as q_per_channel_axis
from .create import q_per_channel_scales as q_per_channel_scales
from .create import q_per_channel_zero_points as q_per_channel_zero_points
from .create import q_scale as q_scale
from .create import q_zero_point as q_zero_point
from .create import quantize_per_channel as quantize_per_channel
from .create import quantize_per_tensor as quantize_per_tensor
from .create import quantize_per_tensor_dynamic as quantize_per_tensor_dynamic
from .quantizer import PerChannelQuantizer as PerChannelQuantizer
from .quantizer import PerTensorQuantizer as PerTensorQuantizer
from .quantizer import per_tensor_quantizer as per_tensor_quantizer
from .tensor import QuantizedTensor as QuantizedTensor
from .tensor import make_per_channel as make_per_channel
from .tensor import make_per_tensor as make_per_tensor
from .tensor import make_quantized as make_quantized

__all__ = [
    "PerChannelQuantizer",
    "PerTensorQuantizer",
    "QuantizedTensor",
    "dequantize",
    "int_repr",
    "make_per_channel",
    "make_per_tensor",
    "make_quantized",
    "per_tensor_quantizer",
    "q_per_channel_axis",
    "q_per_channel_scales",
    "q_per_channel_zero_points",
    "q_scale",
    "q_zero_point",
    "quantize_per_channel",
    "quantize_per_tensor",
    "quantize_per_tensor_dynamic",
]
