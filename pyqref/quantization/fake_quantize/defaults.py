"""The fake quantizers that have a name of their own: recipes with the usual arguments."""

from __future__ import annotations

from pyqref.dtypes import (
    per_channel_affine_float_qparams,
    per_channel_symmetric,
    per_tensor_affine,
    per_tensor_symmetric,
    qint8,
    quint4x2,
    quint8,
)
from pyqref.quantization.observer.defaults import (
    default_fixed_qparams_range_0to1_observer,
    default_fixed_qparams_range_neg1to1_observer,
)
from pyqref.quantization.observer.histogram import HistogramObserver
from pyqref.quantization.observer.moving_average_min_max import MovingAverageMinMaxObserver
from pyqref.quantization.observer.moving_average_per_channel_min_max import (
    MovingAveragePerChannelMinMaxObserver,
)

from .fake_quantize import FakeQuantize
from .fixed_qparams import FixedQParamsFakeQuantize
from .fused import FusedMovingAvgObsFakeQuantize

__all__ = [
    "default_affine_fixed_qparams_fake_quant",
    "default_dynamic_fake_quant",
    "default_embedding_fake_quant",
    "default_embedding_fake_quant_4bit",
    "default_fake_quant",
    "default_fixed_qparams_range_0to1_fake_quant",
    "default_fixed_qparams_range_neg1to1_fake_quant",
    "default_fused_act_fake_quant",
    "default_fused_per_channel_wt_fake_quant",
    "default_fused_wt_fake_quant",
    "default_histogram_fake_quant",
    "default_per_channel_weight_fake_quant",
    "default_symmetric_fixed_qparams_fake_quant",
    "default_weight_fake_quant",
    "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
    "fused_wt_fake_quant_range_neg_127_to_127",
]

_EPS_2_12 = 2**-12

#: Activations: 7 bits of a moving average.
default_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=0,
    quant_max=255,
    dtype=quint8,
    qscheme=per_tensor_affine,
    reduce_range=True,
)
#: Weights: signed, zero point 0.
default_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=qint8,
    qscheme=per_tensor_symmetric,
    reduce_range=False,
)
#: Weights: a scale for each output channel.
default_per_channel_weight_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=qint8,
    qscheme=per_channel_symmetric,
    reduce_range=False,
    ch_axis=0,
)
#: Activations quantized at run time: each tensor by itself.
default_dynamic_fake_quant = FakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=0,
    quant_max=255,
    is_dynamic=True,
    dtype=quint8,
    averaging_constant=1,
)
#: Activations: the 7 bits that a histogram finds best.
default_histogram_fake_quant = FakeQuantize.with_args(
    observer=HistogramObserver,
    quant_min=0,
    quant_max=255,
    dtype=quint8,
    qscheme=per_tensor_affine,
    reduce_range=True,
)
#: Embeddings: 8 bits, a float zero point for each row.
default_embedding_fake_quant = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    qscheme=per_channel_affine_float_qparams,
    dtype=quint8,
    quant_min=0,
    quant_max=255,
    ch_axis=0,
    averaging_constant=1,
)
#: Embeddings: 4 bits.
default_embedding_fake_quant_4bit = FakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    qscheme=per_channel_affine_float_qparams,
    ch_axis=0,
    dtype=quint4x2,
    averaging_constant=1,
)
#: Results in [0, 1), such as the sigmoid's.
default_fixed_qparams_range_0to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_0to1_observer
)
#: Results in [-1, 1), such as the hyperbolic tangent's.
default_fixed_qparams_range_neg1to1_fake_quant = FixedQParamsFakeQuantize.with_args(
    observer=default_fixed_qparams_range_neg1to1_observer
)
#: Older names of the two above.
default_affine_fixed_qparams_fake_quant = default_fixed_qparams_range_0to1_fake_quant
default_symmetric_fixed_qparams_fake_quant = default_fixed_qparams_range_neg1to1_fake_quant

#: Activations: the fused form.
default_fused_act_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver, quant_min=0, quant_max=255, dtype=quint8
)
#: Weights: the fused form.
default_fused_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=qint8,
    qscheme=per_tensor_symmetric,
)
#: Weights: the fused form, a scale for each output channel.
default_fused_per_channel_wt_fake_quant = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    quant_min=-128,
    quant_max=127,
    dtype=qint8,
    qscheme=per_channel_symmetric,
)
#: Weights for XNNPACK: -128 is left out, and scales are at least 2**-12.
fused_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAverageMinMaxObserver,
    quant_min=-127,
    quant_max=127,
    dtype=qint8,
    qscheme=per_tensor_symmetric,
    eps=_EPS_2_12,
)
#: The same for each output channel.
fused_per_channel_wt_fake_quant_range_neg_127_to_127 = FusedMovingAvgObsFakeQuantize.with_args(
    observer=MovingAveragePerChannelMinMaxObserver,
    quant_min=-127,
    quant_max=127,
    dtype=qint8,
    qscheme=per_channel_symmetric,
    eps=_EPS_2_12,
)
