"""The equations of :mod:`pyqref.numerics`, fast.

Every function here gives the bits of its twin in ``numerics``, whatever kernel and
however many threads run it. Reading order: :mod:`.registry` (which kernel), ``simd/``
(what an instruction set must offer), ``quantize/`` (the simplest operation), ``qgemm/``
and ``qconv/`` (the ones that matter). Arguments are taken as valid; the layers above check.

Each operation is imported when it is first used: many scripts need few of them.
"""

from typing import TYPE_CHECKING

from pyqref._lazy import on_first_use

from .threads import get_num_threads as get_num_threads
from .threads import set_num_threads as set_num_threads
from .threads import together as together

if TYPE_CHECKING:
    from .activations import activation as activation
    from .activations import activation_gradient as activation_gradient
    from .activations import glu as glu
    from .activations import glu_gradient as glu_gradient
    from .activations import prelu as prelu
    from .activations import softmax as softmax
    from .activations import softmax_gradient as softmax_gradient
    from .attention import attend as attend
    from .attention import is_attention_covered as is_attention_covered
    from .channels import gradient_of_columns as gradient_of_columns
    from .channels import gradient_of_normalized as gradient_of_normalized
    from .channels import gradient_of_rows as gradient_of_rows
    from .channels import moments_of_channels as moments_of_channels
    from .channels import moments_of_rows as moments_of_rows
    from .channels import normalize_rows as normalize_rows
    from .channels import scale_channels as scale_channels
    from .channels import sums_of_channels as sums_of_channels
    from .channels import totals_of_columns as totals_of_columns
    from .channels import totals_of_rows as totals_of_rows
    from .elementwise import add as add
    from .elementwise import cat as cat
    from .elementwise import clamp as clamp
    from .elementwise import join as join
    from .elementwise import look_up as look_up
    from .elementwise import mul as mul
    from .elementwise import pad as pad
    from .elementwise import relu as relu
    from .elementwise import relu6 as relu6
    from .fake_quantize import fake_quantize_per_channel as fake_quantize_per_channel
    from .fake_quantize import fake_quantize_per_tensor as fake_quantize_per_tensor
    from .fake_quantize import is_grid as is_grid
    from .fake_quantize import straight_through as straight_through
    from .normalization import batch_norm as batch_norm
    from .normalization import group_norm as group_norm
    from .normalization import layer_norm as layer_norm
    from .normalization import layer_norm_of_row as layer_norm_of_row
    from .observe import choose_qparams_dynamic as choose_qparams_dynamic
    from .observe import extremes as extremes
    from .observe import fused_average as fused_average
    from .observe import merge_histogram as merge_histogram
    from .observe import min_max as min_max
    from .observe import min_max_per_channel as min_max_per_channel
    from .observe import running_range as running_range
    from .order import in_c_order as in_c_order
    from .pooling import adaptive_avg_pool as adaptive_avg_pool
    from .pooling import avg_pool as avg_pool
    from .pooling import max_pool as max_pool
    from .qconv import PackedConv as PackedConv
    from .qconv import PackedConvTranspose as PackedConvTranspose
    from .qconv import conv1d as conv1d
    from .qconv import conv2d as conv2d
    from .qconv import conv3d as conv3d
    from .qconv import conv_add as conv_add
    from .qconv import conv_sums as conv_sums
    from .qconv import conv_transpose as conv_transpose
    from .qconv import pack_conv1d as pack_conv1d
    from .qconv import pack_conv2d as pack_conv2d
    from .qconv import pack_conv3d as pack_conv3d
    from .qconv import pack_conv_transpose as pack_conv_transpose
    from .qconv import prepare_conv as prepare_conv
    from .qconv import prepare_conv_add as prepare_conv_add
    from .qconv import prepare_conv_transpose as prepare_conv_transpose
    from .qgemm import PackedLinear as PackedLinear
    from .qgemm import Projection as Projection
    from .qgemm import linear_accumulator as linear_accumulator
    from .qgemm import linear_dynamic as linear_dynamic
    from .qgemm import linear_float as linear_float
    from .qgemm import pack_linear as pack_linear
    from .qgemm import quantized_matmul as quantized_matmul
    from .qgemm.linear import linear as linear
    from .quantize import dequantize_per_channel as dequantize_per_channel
    from .quantize import dequantize_per_tensor as dequantize_per_tensor
    from .quantize import quantize_per_channel as quantize_per_channel
    from .quantize import quantize_per_tensor as quantize_per_tensor
    from .recurrent import NoGridError as NoGridError
    from .recurrent import gru_step as gru_step
    from .recurrent import lstm_step as lstm_step
    from .recurrent import recurrent_cell as recurrent_cell
    from .recurrent import recurrent_floats as recurrent_floats
    from .recurrent import recurrent_layer as recurrent_layer
    from .recurrent import recurrent_loop as recurrent_loop
    from .recurrent import rnn_step as rnn_step
    from .resize import bilinear as bilinear
    from .resize import nearest as nearest
    from .resize import resample as resample
    from .tables import embedding_bag as embedding_bag
    from .tables import embedding_rows as embedding_rows
    from .tables import float_bag as float_bag
    from .tables import float_rows as float_rows
    from .windows import convolution as convolution
    from .windows import convolution_gradient as convolution_gradient
    from .windows import convolution_weight_gradient as convolution_weight_gradient
    from .windows import depthwise as depthwise
    from .windows import depthwise_gradient as depthwise_gradient
    from .windows import depthwise_weight_gradient as depthwise_weight_gradient
    from .windows import gradient_of_largest as gradient_of_largest
    from .windows import largest as largest

__getattr__ = on_first_use(
    __name__,
    {
        ".activations": (
            "activation",
            "activation_gradient",
            "glu",
            "glu_gradient",
            "prelu",
            "softmax",
            "softmax_gradient",
        ),
        ".attention": ("attend", "is_attention_covered"),
        ".channels": (
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
        ),
        ".elementwise": ("add", "cat", "clamp", "join", "look_up", "mul", "pad", "relu", "relu6"),
        ".fake_quantize": (
            "fake_quantize_per_channel",
            "fake_quantize_per_tensor",
            "is_grid",
            "straight_through",
        ),
        ".normalization": ("batch_norm", "group_norm", "layer_norm", "layer_norm_of_row"),
        ".observe": (
            "choose_qparams_dynamic",
            "extremes",
            "fused_average",
            "merge_histogram",
            "min_max",
            "min_max_per_channel",
            "running_range",
        ),
        ".order": ("in_c_order",),
        ".pooling": ("adaptive_avg_pool", "avg_pool", "max_pool"),
        ".qconv": (
            "PackedConv",
            "PackedConvTranspose",
            "conv1d",
            "conv2d",
            "conv3d",
            "conv_add",
            "conv_sums",
            "conv_transpose",
            "pack_conv1d",
            "pack_conv2d",
            "pack_conv3d",
            "pack_conv_transpose",
            "prepare_conv",
            "prepare_conv_add",
            "prepare_conv_transpose",
        ),
        ".qgemm": (
            "PackedLinear",
            "Projection",
            "linear",
            "linear_accumulator",
            "linear_dynamic",
            "linear_float",
            "pack_linear",
            "quantized_matmul",
        ),
        ".quantize": (
            "depthwise",
            "depthwise_gradient",
            "depthwise_weight_gradient",
            "dequantize_per_channel",
            "dequantize_per_tensor",
            "quantize_per_channel",
            "quantize_per_tensor",
        ),
        ".recurrent": (
            "NoGridError",
            "gru_step",
            "lstm_step",
            "recurrent_cell",
            "recurrent_floats",
            "recurrent_layer",
            "recurrent_loop",
            "rnn_step",
        ),
        ".resize": ("bilinear", "nearest", "resample"),
        ".tables": ("embedding_bag", "embedding_rows", "float_bag", "float_rows"),
        ".windows": (
            "convolution",
            "convolution_gradient",
            "convolution_weight_gradient",
            "depthwise",
            "depthwise_gradient",
            "depthwise_weight_gradient",
            "gradient_of_largest",
            "largest",
        ),
    },
)

__all__ = [
    "NoGridError",
    "PackedConv",
    "PackedConvTranspose",
    "PackedLinear",
    "activation",
    "activation_gradient",
    "adaptive_avg_pool",
    "add",
    "avg_pool",
    "batch_norm",
    "bilinear",
    "cat",
    "choose_qparams_dynamic",
    "clamp",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_add",
    "conv_sums",
    "conv_transpose",
    "convolution",
    "convolution_gradient",
    "convolution_weight_gradient",
    "depthwise",
    "depthwise_gradient",
    "depthwise_weight_gradient",
    "dequantize_per_channel",
    "dequantize_per_tensor",
    "embedding_bag",
    "embedding_rows",
    "fake_quantize_per_channel",
    "fake_quantize_per_tensor",
    "float_bag",
    "float_rows",
    "fused_average",
    "get_num_threads",
    "glu",
    "glu_gradient",
    "gradient_of_columns",
    "gradient_of_largest",
    "gradient_of_normalized",
    "gradient_of_rows",
    "group_norm",
    "gru_step",
    "in_c_order",
    "is_grid",
    "largest",
    "layer_norm",
    "layer_norm_of_row",
    "linear",
    "linear_accumulator",
    "linear_dynamic",
    "linear_float",
    "join",
    "look_up",
    "lstm_step",
    "max_pool",
    "merge_histogram",
    "min_max",
    "min_max_per_channel",
    "moments_of_channels",
    "moments_of_rows",
    "mul",
    "nearest",
    "normalize_rows",
    "pack_conv1d",
    "pack_conv2d",
    "pack_conv3d",
    "pack_conv_transpose",
    "pack_linear",
    "pad",
    "prelu",
    "prepare_conv",
    "prepare_conv_add",
    "prepare_conv_transpose",
    "quantize_per_channel",
    "quantize_per_tensor",
    "recurrent_floats",
    "recurrent_layer",
    "recurrent_loop",
    "relu",
    "relu6",
    "resample",
    "rnn_step",
    "running_range",
    "scale_channels",
    "set_num_threads",
    "softmax",
    "softmax_gradient",
    "straight_through",
    "sums_of_channels",
    "together",
    "totals_of_columns",
    "totals_of_rows",
]
