"""Observers: modules that look at tensors to find their quantization parameters.

Read :mod:`.base` (what an observer is), :mod:`.uniform` (from a range to scale and zero
point), :mod:`.min_max`, and then any of the others: one class a file.
"""

from __future__ import annotations

from .base import Observer as Observer
from .base import ObserverBase as ObserverBase
from .checks import UncalibratedWarning as UncalibratedWarning
from .defaults import default_affine_fixed_qparams_observer as default_affine_fixed_qparams_observer
from .defaults import default_debug_observer as default_debug_observer
from .defaults import default_dynamic_quant_observer as default_dynamic_quant_observer
from .defaults import (
    default_fixed_qparams_range_0to1_observer as default_fixed_qparams_range_0to1_observer,
)
from .defaults import (
    default_fixed_qparams_range_neg1to1_observer as default_fixed_qparams_range_neg1to1_observer,
)
from .defaults import default_float_qparams_observer as default_float_qparams_observer
from .defaults import default_float_qparams_observer_4bit as default_float_qparams_observer_4bit
from .defaults import default_histogram_observer as default_histogram_observer
from .defaults import default_observer as default_observer
from .defaults import default_per_channel_weight_observer as default_per_channel_weight_observer
from .defaults import default_placeholder_observer as default_placeholder_observer
from .defaults import default_reuse_input_observer as default_reuse_input_observer
from .defaults import (
    default_symmetric_fixed_qparams_observer as default_symmetric_fixed_qparams_observer,
)
from .defaults import default_weight_observer as default_weight_observer
from .defaults import (
    per_channel_weight_observer_range_neg_127_to_127 as per_channel_weight_observer_range_neg_127_to_127,  # noqa: E501
)
from .defaults import weight_observer_range_neg_127_to_127 as weight_observer_range_neg_127_to_127
from .fixed_qparams import FixedQParamsObserver as FixedQParamsObserver
from .histogram import HistogramObserver as HistogramObserver
from .min_max import MinMaxObserver as MinMaxObserver
from .moving_average_min_max import MovingAverageMinMaxObserver as MovingAverageMinMaxObserver
from .moving_average_per_channel_min_max import (
    MovingAveragePerChannelMinMaxObserver as MovingAveragePerChannelMinMaxObserver,
)
from .noop import NoopObserver as NoopObserver
from .partial import PartialWrapper as _PartialWrapper
from .per_channel_min_max import PerChannelMinMaxObserver as PerChannelMinMaxObserver
from .placeholder import PlaceholderObserver as PlaceholderObserver
from .recording import RecordingObserver as RecordingObserver
from .reuse_input import ReuseInputObserver as ReuseInputObserver
from .state import get_observer_state_dict as get_observer_state_dict
from .state import load_observer_state_dict as load_observer_state_dict
from .uniform import UniformQuantizationObserverBase as UniformQuantizationObserverBase

__all__ = [
    "FixedQParamsObserver",
    "HistogramObserver",
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "NoopObserver",
    "Observer",
    "ObserverBase",
    "PerChannelMinMaxObserver",
    "PlaceholderObserver",
    "RecordingObserver",
    "ReuseInputObserver",
    "UncalibratedWarning",
    "UniformQuantizationObserverBase",
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
    "get_observer_state_dict",
    "load_observer_state_dict",
    "per_channel_weight_observer_range_neg_127_to_127",
    "weight_observer_range_neg_127_to_127",
]
