"""Fake quantizers: modules that put the error of quantization into a float model.

Read :mod:`.base`, :mod:`.fake_quantize`, then :mod:`.fused`.
"""

from __future__ import annotations

from .base import FakeQuantizeBase as FakeQuantizeBase
from .defaults import (
    default_affine_fixed_qparams_fake_quant as default_affine_fixed_qparams_fake_quant,
)
from .defaults import default_dynamic_fake_quant as default_dynamic_fake_quant
from .defaults import default_embedding_fake_quant as default_embedding_fake_quant
from .defaults import default_embedding_fake_quant_4bit as default_embedding_fake_quant_4bit
from .defaults import default_fake_quant as default_fake_quant
from .defaults import (
    default_fixed_qparams_range_0to1_fake_quant as default_fixed_qparams_range_0to1_fake_quant,
)
from .defaults import (
    default_fixed_qparams_range_neg1to1_fake_quant as default_fixed_qparams_range_neg1to1_fake_quant,  # noqa: E501
)
from .defaults import default_fused_act_fake_quant as default_fused_act_fake_quant
from .defaults import (
    default_fused_per_channel_wt_fake_quant as default_fused_per_channel_wt_fake_quant,
)
from .defaults import default_fused_wt_fake_quant as default_fused_wt_fake_quant
from .defaults import default_histogram_fake_quant as default_histogram_fake_quant
from .defaults import default_per_channel_weight_fake_quant as default_per_channel_weight_fake_quant
from .defaults import (
    default_symmetric_fixed_qparams_fake_quant as default_symmetric_fixed_qparams_fake_quant,
)
from .defaults import default_weight_fake_quant as default_weight_fake_quant
from .defaults import (
    fused_per_channel_wt_fake_quant_range_neg_127_to_127 as fused_per_channel_wt_fake_quant_range_neg_127_to_127,  # noqa: E501
)
from .defaults import (
    fused_wt_fake_quant_range_neg_127_to_127 as fused_wt_fake_quant_range_neg_127_to_127,
)
from .fake_quantize import FakeQuantize as FakeQuantize
from .fixed_qparams import FixedQParamsFakeQuantize as FixedQParamsFakeQuantize
from .fused import FusedMovingAvgObsFakeQuantize as FusedMovingAvgObsFakeQuantize
from .switches import disable_fake_quant as disable_fake_quant
from .switches import disable_observer as disable_observer
from .switches import enable_fake_quant as enable_fake_quant
from .switches import enable_observer as enable_observer

__all__ = [
    "FakeQuantize",
    "FakeQuantizeBase",
    "FixedQParamsFakeQuantize",
    "FusedMovingAvgObsFakeQuantize",
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
    "disable_fake_quant",
    "disable_observer",
    "enable_fake_quant",
    "enable_observer",
    "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
    "fused_wt_fake_quant_range_neg_127_to_127",
]
