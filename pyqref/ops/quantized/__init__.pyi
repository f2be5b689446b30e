from . import float_operations as float_operations  # not in __all__
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
from .arithmetic import mul as mul
from .arithmetic import mul_relu as mul_relu
from .arithmetic import mul_scalar as mul_scalar
from .arithmetic import mul_scalar_relu as mul_scalar_relu
from .batch_norm import batch_norm as batch_norm
from .batch_norm import batch_norm1d as batch_norm1d
from .batch_norm import batch_norm1d_relu as batch_norm1d_relu
from .batch_norm import batch_norm2d as batch_norm2d
from .batch_norm import batch_norm2d_relu as batch_norm2d_relu
from .batch_norm import batch_norm3d as batch_norm3d
from .batch_norm import batch_norm3d_relu as batch_norm3d_relu
from .batch_norm import batch_norm_relu as batch_norm_relu
from .checks import padding_pairs as padding_pairs  # not in __all__
from .checks import require_flags as require_flags  # not in __all__
from .checks import require_output_parameters as require_output_parameters  # not in __all__
from .checks import require_per_tensor as require_per_tensor  # not in __all__
from .checks import tuple_of as tuple_of  # not in __all__
from .conv_dynamic import conv1d_dynamic as conv1d_dynamic
from .conv_dynamic import conv2d_dynamic as conv2d_dynamic
from .conv_dynamic import conv3d_dynamic as conv3d_dynamic
from .conv_dynamic import conv_transpose1d_dynamic as conv_transpose1d_dynamic
from .conv_dynamic import conv_transpose2d_dynamic as conv_transpose2d_dynamic
from .conv_dynamic import conv_transpose3d_dynamic as conv_transpose3d_dynamic
from .conv_queries import conv2d_dilation as conv2d_dilation
from .conv_queries import conv2d_groups as conv2d_groups
from .conv_queries import conv2d_output_padding as conv2d_output_padding
from .conv_queries import conv2d_padding as conv2d_padding
from .conv_queries import conv2d_stride as conv2d_stride
from .conv_queries import conv2d_transpose as conv2d_transpose
from .conv_queries import conv2d_unpack_sizes as conv2d_unpack_sizes
from .conv_queries import conv3d_dilation as conv3d_dilation
from .conv_queries import conv3d_groups as conv3d_groups
from .conv_queries import conv3d_output_padding as conv3d_output_padding
from .conv_queries import conv3d_padding as conv3d_padding
from .conv_queries import conv3d_stride as conv3d_stride
from .conv_queries import conv3d_transpose as conv3d_transpose
from .conv_queries import conv_transpose2d_dilation as conv_transpose2d_dilation
from .conv_queries import conv_transpose2d_groups as conv_transpose2d_groups
from .conv_queries import conv_transpose2d_output_padding as conv_transpose2d_output_padding
from .conv_queries import conv_transpose2d_padding as conv_transpose2d_padding
from .conv_queries import conv_transpose2d_stride as conv_transpose2d_stride
from .conv_queries import conv_transpose2d_transpose as conv_transpose2d_transpose
from .conv_queries import conv_transpose3d_dilation as conv_transpose3d_dilation
from .conv_queries import conv_transpose3d_groups as conv_transpose3d_groups
from .conv_queries import conv_transpose3d_output_padding as conv_transpose3d_output_padding
from .conv_queries import conv_transpose3d_padding as conv_transpose3d_padding
from .conv_queries import conv_transpose3d_stride as conv_transpose3d_stride
from .conv_queries import conv_transpose3d_transpose as conv_transpose3d_transpose
from .conv_transpose import conv_transpose1d as conv_transpose1d
from .conv_transpose import conv_transpose1d_prepack as conv_transpose1d_prepack
from .conv_transpose import conv_transpose1d_unpack as conv_transpose1d_unpack
from .conv_transpose import conv_transpose2d as conv_transpose2d
from .conv_transpose import conv_transpose2d_prepack as conv_transpose2d_prepack
from .conv_transpose import conv_transpose2d_unpack as conv_transpose2d_unpack
from .conv_transpose import conv_transpose3d as conv_transpose3d
from .conv_transpose import conv_transpose3d_prepack as conv_transpose3d_prepack
from .conv_transpose import conv_transpose3d_unpack as conv_transpose3d_unpack
from .convolution import conv1d as conv1d
from .convolution import conv1d_prepack as conv1d_prepack
from .convolution import conv1d_relu as conv1d_relu
from .convolution import conv1d_unpack as conv1d_unpack
from .convolution import conv2d as conv2d
from .convolution import conv2d_prepack as conv2d_prepack
conv_prepack = conv2d_prepack
from .convolution import conv2d_relu as conv2d_relu
from .convolution import conv2d_unpack as conv2d_unpack
conv_unpack = conv2d_unpack
from .convolution import conv3d as conv3d
from .convolution import conv3d_prepack as conv3d_prepack
from .convolution import conv3d_relu as conv3d_relu
from .convolution import conv3d_unpack as conv3d_unpack
from .embedding import PackedEmbedding as PackedEmbedding  # not in __all__
from .embedding import embedding_4bit as embedding_4bit
from .embedding import embedding_bag_prepack as embedding_bag_prepack
from .embedding import embedding_bag_unpack as embedding_bag_unpack
from .embedding import embedding_byte as embedding_byte
from .embedding_bag import bag_lengths as bag_lengths  # not in __all__
from .embedding_bag import embedding_bag_2bit_rowwise_offsets as embedding_bag_2bit_rowwise_offsets
from .embedding_bag import embedding_bag_4bit as embedding_bag_4bit
from .embedding_bag import embedding_bag_4bit_rowwise_offsets as embedding_bag_4bit_rowwise_offsets
from .embedding_bag import embedding_bag_byte as embedding_bag_byte
from .embedding_bag import embedding_bag_byte_rowwise_offsets as embedding_bag_byte_rowwise_offsets
from .embedding_rows import embedding_bag_2bit_prepack as embedding_bag_2bit_prepack
from .embedding_rows import embedding_bag_2bit_prepack_with_rowwise_min_max as embedding_bag_2bit_prepack_with_rowwise_min_max
from .embedding_rows import embedding_bag_2bit_unpack as embedding_bag_2bit_unpack
from .embedding_rows import embedding_bag_4bit_prepack as embedding_bag_4bit_prepack
from .embedding_rows import embedding_bag_4bit_prepack_with_rowwise_min_max as embedding_bag_4bit_prepack_with_rowwise_min_max
from .embedding_rows import embedding_bag_4bit_unpack as embedding_bag_4bit_unpack
from .embedding_rows import embedding_bag_byte_prepack as embedding_bag_byte_prepack
from .embedding_rows import embedding_bag_byte_prepack_with_rowwise_min_max as embedding_bag_byte_prepack_with_rowwise_min_max
from .embedding_rows import embedding_bag_byte_unpack as embedding_bag_byte_unpack
from .fused_function import conv2d_add as conv2d_add
from .fused_function import conv2d_add_relu as conv2d_add_relu
from .fused_function import linear_leaky_relu as linear_leaky_relu
from .fused_function import linear_tanh as linear_tanh
from .linear import linear as linear
from .linear import linear_prepack as linear_prepack
from .linear import linear_relu as linear_relu
from .linear import linear_unpack as linear_unpack
from .linear_dynamic import PackedLinearFloat16 as PackedLinearFloat16  # not in __all__
from .linear_dynamic import linear_dynamic as linear_dynamic
from .linear_dynamic import linear_dynamic_fp16 as linear_dynamic_fp16
from .linear_dynamic import linear_prepack_fp16 as linear_prepack_fp16
from .linear_dynamic import linear_relu_dynamic as linear_relu_dynamic
from .linear_dynamic import linear_relu_dynamic_fp16 as linear_relu_dynamic_fp16
from .linear_dynamic import linear_unpack_fp16 as linear_unpack_fp16
from .linear_dynamic import run_dynamic as run_dynamic  # not in __all__
from .linear_float import linear_dynamic_fp16_unpacked_weight as linear_dynamic_fp16_unpacked_weight
from .linear_float import linear_with_input_q_dq_qweight_dq_output_fp32 as linear_with_input_q_dq_qweight_dq_output_fp32
from .linear_float import linear_with_input_q_dq_qweight_dq_relu_output_fp32 as linear_with_input_q_dq_qweight_dq_relu_output_fp32
from .matrix_product import matmul as matmul
from .normalization import group_norm as group_norm
from .normalization import instance_norm as instance_norm
from .normalization import layer_norm as layer_norm
from .packed import PackedLinear as PackedLinear  # not in __all__
from .packed_conv import PackedConv as PackedConv  # not in __all__
from .packed_conv import PackedConvTranspose as PackedConvTranspose  # not in __all__
from .pointwise import celu as celu
from .pointwise import dropout as dropout
from .pointwise import elu as elu
from .pointwise import hardswish as hardswish
from .pointwise import prelu as prelu
from .pointwise import sigmoid as sigmoid
from .pointwise import softmax as softmax
from .pointwise import threshold as threshold
from .pooling import max_pool1d as max_pool1d
from .pooling import max_pool2d as max_pool2d
from .recurrent import quantize_in_place as quantize_in_place  # not in __all__
from .recurrent import quantized_gru_cell_dynamic as quantized_gru_cell_dynamic
from .recurrent import quantized_lstm_cell_dynamic as quantized_lstm_cell_dynamic
from .recurrent import quantized_rnn_relu_cell_dynamic as quantized_rnn_relu_cell_dynamic
from .recurrent import quantized_rnn_tanh_cell_dynamic as quantized_rnn_tanh_cell_dynamic
from .recurrent import run_recurrent_cell as run_recurrent_cell  # not in __all__
from .recurrent import run_recurrent_layer as run_recurrent_layer  # not in __all__
