"""What torch offers as ``torch.ops.quantized``: functions of quantized tensors and packed weights.

Each checks its arguments and calls an equation of :mod:`pyqref.numerics`, or the kernel
that computes the same integers. :mod:`.float_operations` says what the functions of
``nn.functional`` do with quantized tensors.
"""

from . import float_operations as float_operations
from .activation import clamp as clamp
from .activation import leaky_relu as leaky_relu
from .activation import relu as relu
from .activation import relu6 as relu6
from .arithmetic import add as add
from .arithmetic import add_relu as add_relu
from .arithmetic import add_scalar as add_scalar
from .arithmetic import add_scalar_relu as add_scalar_relu
from .arithmetic import cat as cat
from .arithmetic import cat_relu as cat_relu
from .arithmetic import matmul as matmul
from .arithmetic import mul as mul
from .arithmetic import mul_relu as mul_relu
from .arithmetic import mul_scalar as mul_scalar
from .arithmetic import mul_scalar_relu as mul_scalar_relu
from .checks import require_output_parameters as require_output_parameters
from .checks import require_per_tensor as require_per_tensor
from .checks import tuple_of as tuple_of
from .convolution import conv1d as conv1d
from .convolution import conv1d_prepack as conv1d_prepack
from .convolution import conv1d_relu as conv1d_relu
from .convolution import conv1d_unpack as conv1d_unpack
from .convolution import conv2d as conv2d
from .convolution import conv2d_prepack as conv2d_prepack
from .convolution import conv2d_relu as conv2d_relu
from .convolution import conv2d_unpack as conv2d_unpack
from .convolution import conv3d as conv3d
from .convolution import conv3d_prepack as conv3d_prepack
from .convolution import conv3d_relu as conv3d_relu
from .convolution import conv3d_unpack as conv3d_unpack
from .linear import linear as linear
from .linear import linear_prepack as linear_prepack
from .linear import linear_relu as linear_relu
from .linear import linear_unpack as linear_unpack
from .linear_dynamic import PackedLinearFloat16 as PackedLinearFloat16
from .linear_dynamic import linear_dynamic as linear_dynamic
from .linear_dynamic import linear_dynamic_fp16 as linear_dynamic_fp16
from .linear_dynamic import linear_prepack_fp16 as linear_prepack_fp16
from .linear_dynamic import linear_relu_dynamic as linear_relu_dynamic
from .linear_dynamic import linear_relu_dynamic_fp16 as linear_relu_dynamic_fp16
from .linear_dynamic import linear_unpack_fp16 as linear_unpack_fp16
from .linear_dynamic import run_dynamic as run_dynamic
from .packed import PackedConv as PackedConv
from .packed import PackedLinear as PackedLinear
from .pooling import max_pool1d as max_pool1d
from .pooling import max_pool2d as max_pool2d

__all__ = [
    "add",
    "add_relu",
    "add_scalar",
    "add_scalar_relu",
    "cat",
    "cat_relu",
    "clamp",
    "conv1d",
    "conv1d_prepack",
    "conv1d_relu",
    "conv1d_unpack",
    "conv2d",
    "conv2d_prepack",
    "conv2d_relu",
    "conv2d_unpack",
    "conv3d",
    "conv3d_prepack",
    "conv3d_relu",
    "conv3d_unpack",
    "leaky_relu",
    "linear",
    "linear_dynamic",
    "linear_dynamic_fp16",
    "linear_prepack",
    "linear_prepack_fp16",
    "linear_relu",
    "linear_relu_dynamic",
    "linear_relu_dynamic_fp16",
    "linear_unpack",
    "linear_unpack_fp16",
    "matmul",
    "max_pool1d",
    "max_pool2d",
    "mul",
    "mul_relu",
    "mul_scalar",
    "mul_scalar_relu",
    "relu",
    "relu6",
]
