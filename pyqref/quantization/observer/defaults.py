"""The observers that have a name of their own: recipes with the usual arguments.

Write ``default_observer.with_args(...)`` for a variation on one of them.
"""

from __future__ import annotations

from pyqref.dtypes import (
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_symmetric,
    qint8,
    quint4x2,
    quint8,
)

from .fixed_qparams import FixedQParamsObserver
from .histogram import HistogramObserver
from .min_max import MinMaxObserver
from .per_channel_min_max import PerChannelMinMaxObserver
from .placeholder import PlaceholderObserver
from .recording import RecordingObserver
from .reuse_input import ReuseInputObserver

__all__ = [
    "default_affine_fixed_qparams_observer",
    "default_debug_observer",
    "default_dynamic_quant_observer",
    "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_observer",
    "default_float_qparams_observer",
    "default_float_qparams_observer_4bit",
    "default_histogram_observer",
    "default_observer",
    "default_per_channel_weight_observer",
    "default_placeholder_observer",
    "default_reuse_input_observer",
    "default_symmetric_fixed_qparams_observer",
    "default_weight_observer",
    "per_channel_weight_observer_range_neg_127_to_127",
    "weight_observer_range_neg_127_to_127",
]

_EPS_2_12 = 2**-12

#: Activations: 7 bits, so that sums of products of two fit 16 bits.
default_observer = MinMaxObserver.with_args(reduce_range=True)
#: Activations: the 7 bits that a histogram finds best.
default_histogram_observer = HistogramObserver.with_args(quant_min=0, quant_max=127)
#: Weights: signed, zero point 0.
default_weight_observer = MinMaxObserver.with_args(dtype=qint8, qscheme=per_tensor_symmetric)
#: Weights: signed, zero point 0, a scale for each output channel.
default_per_channel_weight_observer = PerChannelMinMaxObserver.with_args(
    dtype=qint8, qscheme=per_channel_symmetric
)
#: Weights for XNNPACK: -128 is left out, and scales are at least 2**-12.
weight_observer_range_neg_127_to_127 = MinMaxObserver.with_args(
    dtype=qint8, qscheme=per_tensor_symmetric, quant_min=-127, quant_max=127, eps=_EPS_2_12
)
#: The same for each output channel.
per_channel_weight_observer_range_neg_127_to_127 = PerChannelMinMaxObserver.with_args(
    dtype=qint8, qscheme=per_channel_symmetric, quant_min=-127, quant_max=127, eps=_EPS_2_12
)
#: Activations quantized at run time.
default_dynamic_quant_observer = PlaceholderObserver.with_args(
    dtype=quint8, quant_min=0, quant_max=255, is_dynamic=True
)
#: Embeddings: 8 bits, a float zero point for each row.
default_float_qparams_observer = PerChannelMinMaxObserver.with_args(
    dtype=quint8, qscheme=per_channel_affine_float_qparams, ch_axis=0
)
#: Embeddings: 4 bits.
default_float_qparams_observer_4bit = PerChannelMinMaxObserver.with_args(
    dtype=quint4x2, qscheme=per_channel_affine_float_qparams, ch_axis=0
)
#: Results in [0, 1), such as the sigmoid's.
default_fixed_qparams_range_0to1_observer = FixedQParamsObserver.with_args(
    scale=1.0 / 256.0, zero_point=0, dtype=quint8, quant_min=0, quant_max=255
)
#: Results in [-1, 1), such as the hyperbolic tangent's.
default_fixed_qparams_range_neg1to1_observer = FixedQParamsObserver.with_args(
    scale=2.0 / 256.0, zero_point=128, dtype=quint8, quant_min=0, quant_max=255
)
#: Older names of the two above.
default_affine_fixed_qparams_observer = default_fixed_qparams_range_0to1_observer
default_symmetric_fixed_qparams_observer = default_fixed_qparams_range_neg1to1_observer

default_debug_observer = RecordingObserver
default_placeholder_observer = PlaceholderObserver
default_reuse_input_observer = ReuseInputObserver
