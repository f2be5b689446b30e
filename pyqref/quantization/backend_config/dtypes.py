"""The combinations of data types that the back ends' configurations are made of."""

from __future__ import annotations

from pyqref.dtypes import float16, float32, qint8, quint4x2, quint8

from .dtype_config import DTypeConfig, DTypeWithConstraints

__all__ = [
    "act_qint8_scale_min_2_neg_12",
    "default_dynamic_float16",
    "default_dynamic_int8",
    "default_op_qint8_symmetric",
    "default_op_quint8",
    "input_output_only_quint8",
    "layer_norm_quint8",
    "weight_only_quint4x2",
    "weight_only_quint8",
    "weight_qint8_neg_127_to_127_scale_min_2_neg_12",
    "weighted_op_qint8_symmetric",
    "weighted_op_quint8",
]

# Unsigned activations and signed weights: fbgemm, x86, and qnnpack's older kernels.

weighted_op_quint8 = DTypeConfig(
    input_dtype=quint8, output_dtype=quint8, weight_dtype=qint8, bias_dtype=float32
)
default_op_quint8 = DTypeConfig(input_dtype=quint8, output_dtype=quint8)
input_output_only_quint8 = DTypeConfig(
    input_dtype=quint8, output_dtype=quint8, weight_dtype=float32, bias_dtype=float32
)
layer_norm_quint8 = input_output_only_quint8

# Quantized when the model runs.

default_dynamic_int8 = DTypeConfig(
    input_dtype=quint8,
    output_dtype=float32,
    weight_dtype=qint8,
    bias_dtype=float32,
    is_dynamic=True,
)
default_dynamic_float16 = DTypeConfig(
    input_dtype=float16,
    output_dtype=float32,
    weight_dtype=float16,
    bias_dtype=float32,
    is_dynamic=True,
)

# Only the weight.

weight_only_quint8 = DTypeConfig(input_dtype=float32, output_dtype=float32, weight_dtype=quint8)
weight_only_quint4x2 = DTypeConfig(input_dtype=float32, output_dtype=float32, weight_dtype=quint4x2)

# Signed activations and weights between -127 and 127, as XNNPACK wants them. It multiplies
# by scale ratios in fixed point, so scales must not be smaller than 2**-12.

act_qint8_scale_min_2_neg_12 = DTypeWithConstraints(dtype=qint8, scale_min_lower_bound=2**-12)
weight_qint8_neg_127_to_127_scale_min_2_neg_12 = DTypeWithConstraints(
    dtype=qint8,
    quant_min_lower_bound=-127,
    quant_max_upper_bound=127,
    scale_min_lower_bound=2**-12,
)
weighted_op_qint8_symmetric = DTypeConfig(
    input_dtype=act_qint8_scale_min_2_neg_12,
    output_dtype=act_qint8_scale_min_2_neg_12,
    weight_dtype=weight_qint8_neg_127_to_127_scale_min_2_neg_12,
    bias_dtype=float32,
)
default_op_qint8_symmetric = DTypeConfig(
    input_dtype=act_qint8_scale_min_2_neg_12, output_dtype=act_qint8_scale_min_2_neg_12
)
