from .portable import dequantize_per_channel as dequantize_per_channel
from .portable import dequantize_per_tensor as dequantize_per_tensor
from .portable import quantize_per_channel as quantize_per_channel
from .portable import quantize_per_tensor as quantize_per_tensor
