from . import joining as joining  # not in __all__
from . import moments as moments  # not in __all__
from . import operations as operations  # not in __all__
from . import sorting as sorting  # not in __all__
from . import views as views  # not in __all__
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
