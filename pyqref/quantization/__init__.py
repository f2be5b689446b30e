"""Quantization: observers, fake quantizers, qconfigs, and the workflows of eager mode.

Read :mod:`.observer`, :mod:`.fake_quantize`, :mod:`.qconfig`, :mod:`.stubs`, then
:mod:`.eager`. The modules ``quantize`` and ``fuse_modules`` hold the names that ``torch`` has
there.
"""

from __future__ import annotations

from pyqref._lazy import on_first_use

from . import backend_config as backend_config

# Loaded first: below, functions of the same names take the place of these two modules.
from . import fuse_modules as _fuse_modules_module
from . import quantize as _quantize_module
from . import utils as utils
from .diagnostics import ConstantChannelWarning as ConstantChannelWarning
from .diagnostics import ExampleInputsWarning as ExampleInputsWarning
from .diagnostics import NarrowRangeWarning as NarrowRangeWarning
from .diagnostics import NoEffectWarning as NoEffectWarning
from .diagnostics import NoMatchWarning as NoMatchWarning
from .diagnostics import NotPreparedWarning as NotPreparedWarning
from .diagnostics import NotQuantizedWarning as NotQuantizedWarning
from .diagnostics import QConfigMismatchWarning as QConfigMismatchWarning
from .diagnostics import QuantizationError as QuantizationError
from .diagnostics import QuantizationWarning as QuantizationWarning
from .diagnostics import SaturatedBiasWarning as SaturatedBiasWarning
from .diagnostics import SharedObserverWarning as SharedObserverWarning
from .diagnostics import UncalibratedWarning as UncalibratedWarning
from .diagnostics import UnlikeGridsWarning as UnlikeGridsWarning
from .diagnostics import UnusedMappingWarning as UnusedMappingWarning
from .diagnostics import WrongModeWarning as WrongModeWarning
from .diagnostics import WrongOrderWarning as WrongOrderWarning
from .eager import parts as parts
from .eager.convert import convert as convert
from .eager.convert import swap_module as swap_module
from .eager.coverage import coverage as coverage
from .eager.coverage_table import Coverage as Coverage
from .eager.coverage_table import CoverageRow as CoverageRow
from .eager.custom_modules import (
    get_default_custom_config_dict as get_default_custom_config_dict,
)
from .eager.dynamic import quantize_dynamic as quantize_dynamic
from .eager.fuse import fuse_known_modules as fuse_known_modules
from .eager.fuse import fuse_modules as fuse_modules
from .eager.fuse import fuse_modules_qat as fuse_modules_qat
from .eager.observe import add_observer_ as add_observer_
from .eager.observe import get_observer_dict as get_observer_dict
from .eager.prepare import prepare as prepare
from .eager.prepare import prepare_qat as prepare_qat
from .eager.propagate import propagate_qconfig_ as propagate_qconfig_
from .eager.quantize import add_quant_dequant as add_quant_dequant
from .eager.quantize import default_eval_fn as default_eval_fn
from .eager.quantize import quantize as quantize
from .eager.quantize import quantize_qat as quantize_qat
from .fake_quantize import FakeQuantize as FakeQuantize
from .fake_quantize import FakeQuantizeBase as FakeQuantizeBase
from .fake_quantize import FixedQParamsFakeQuantize as FixedQParamsFakeQuantize
from .fake_quantize import FusedMovingAvgObsFakeQuantize as FusedMovingAvgObsFakeQuantize
from .fake_quantize import (
    default_affine_fixed_qparams_fake_quant as default_affine_fixed_qparams_fake_quant,
)
from .fake_quantize import default_dynamic_fake_quant as default_dynamic_fake_quant
from .fake_quantize import default_embedding_fake_quant as default_embedding_fake_quant
from .fake_quantize import default_embedding_fake_quant_4bit as default_embedding_fake_quant_4bit
from .fake_quantize import default_fake_quant as default_fake_quant
from .fake_quantize import (
    default_fixed_qparams_range_0to1_fake_quant as default_fixed_qparams_range_0to1_fake_quant,
)
from .fake_quantize import (
    default_fixed_qparams_range_neg1to1_fake_quant as default_fixed_qparams_range_neg1to1_fake_quant,  # noqa: E501
)
from .fake_quantize import default_fused_act_fake_quant as default_fused_act_fake_quant
from .fake_quantize import (
    default_fused_per_channel_wt_fake_quant as default_fused_per_channel_wt_fake_quant,
)
from .fake_quantize import default_fused_wt_fake_quant as default_fused_wt_fake_quant
from .fake_quantize import default_histogram_fake_quant as default_histogram_fake_quant
from .fake_quantize import (
    default_per_channel_weight_fake_quant as default_per_channel_weight_fake_quant,
)
from .fake_quantize import (
    default_symmetric_fixed_qparams_fake_quant as default_symmetric_fixed_qparams_fake_quant,
)
from .fake_quantize import default_weight_fake_quant as default_weight_fake_quant
from .fake_quantize import disable_fake_quant as disable_fake_quant
from .fake_quantize import disable_observer as disable_observer
from .fake_quantize import enable_fake_quant as enable_fake_quant
from .fake_quantize import enable_observer as enable_observer
from .fake_quantize import (
    fused_per_channel_wt_fake_quant_range_neg_127_to_127 as fused_per_channel_wt_fake_quant_range_neg_127_to_127,  # noqa: E501
)
from .fake_quantize import (
    fused_wt_fake_quant_range_neg_127_to_127 as fused_wt_fake_quant_range_neg_127_to_127,
)
from .fuser_method_mappings import fuse_conv_bn as fuse_conv_bn
from .fuser_method_mappings import fuse_conv_bn_relu as fuse_conv_bn_relu
from .fuser_method_mappings import fuse_convtranspose_bn as fuse_convtranspose_bn
from .fuser_method_mappings import fuse_linear_bn as fuse_linear_bn
from .fuser_method_mappings import get_fuser_method as get_fuser_method
from .observer import FixedQParamsObserver as FixedQParamsObserver
from .observer import HistogramObserver as HistogramObserver
from .observer import MinMaxObserver as MinMaxObserver
from .observer import MovingAverageMinMaxObserver as MovingAverageMinMaxObserver
from .observer import MovingAveragePerChannelMinMaxObserver as MovingAveragePerChannelMinMaxObserver
from .observer import NoopObserver as NoopObserver
from .observer import Observer as Observer
from .observer import ObserverBase as ObserverBase
from .observer import PerChannelMinMaxObserver as PerChannelMinMaxObserver
from .observer import PlaceholderObserver as PlaceholderObserver
from .observer import RecordingObserver as RecordingObserver
from .observer import ReuseInputObserver as ReuseInputObserver
from .observer import UniformQuantizationObserverBase as UniformQuantizationObserverBase
from .observer import default_affine_fixed_qparams_observer as default_affine_fixed_qparams_observer
from .observer import default_debug_observer as default_debug_observer
from .observer import default_dynamic_quant_observer as default_dynamic_quant_observer
from .observer import (
    default_fixed_qparams_range_0to1_observer as default_fixed_qparams_range_0to1_observer,
)
from .observer import (
    default_fixed_qparams_range_neg1to1_observer as default_fixed_qparams_range_neg1to1_observer,
)
from .observer import default_float_qparams_observer as default_float_qparams_observer
from .observer import default_float_qparams_observer_4bit as default_float_qparams_observer_4bit
from .observer import default_histogram_observer as default_histogram_observer
from .observer import default_observer as default_observer
from .observer import default_per_channel_weight_observer as default_per_channel_weight_observer
from .observer import default_placeholder_observer as default_placeholder_observer
from .observer import default_reuse_input_observer as default_reuse_input_observer
from .observer import (
    default_symmetric_fixed_qparams_observer as default_symmetric_fixed_qparams_observer,
)
from .observer import default_weight_observer as default_weight_observer
from .observer import get_observer_state_dict as get_observer_state_dict
from .observer import load_observer_state_dict as load_observer_state_dict
from .observer import (
    per_channel_weight_observer_range_neg_127_to_127 as per_channel_weight_observer_range_neg_127_to_127,  # noqa: E501
)
from .observer import weight_observer_range_neg_127_to_127 as weight_observer_range_neg_127_to_127
from .qconfig import QConfig as QConfig
from .qconfig import QConfigAny as QConfigAny
from .qconfig import QConfigDynamic as QConfigDynamic
from .qconfig import default_activation_only_qconfig as default_activation_only_qconfig
from .qconfig import default_debug_qconfig as default_debug_qconfig
from .qconfig import default_dynamic_qat_qconfig as default_dynamic_qat_qconfig
from .qconfig import default_dynamic_qconfig as default_dynamic_qconfig
from .qconfig import default_embedding_qat_qconfig as default_embedding_qat_qconfig
from .qconfig import default_embedding_qat_qconfig_4bit as default_embedding_qat_qconfig_4bit
from .qconfig import default_per_channel_qconfig as default_per_channel_qconfig
from .qconfig import (
    default_per_channel_symmetric_qnnpack_qat_qconfig as default_per_channel_symmetric_qnnpack_qat_qconfig,  # noqa: E501
)
from .qconfig import (
    default_per_channel_symmetric_qnnpack_qconfig as default_per_channel_symmetric_qnnpack_qconfig,
)
from .qconfig import default_qat_qconfig as default_qat_qconfig
from .qconfig import default_qat_qconfig_v2 as default_qat_qconfig_v2
from .qconfig import default_qconfig as default_qconfig
from .qconfig import default_quint8_weight_qconfig as default_quint8_weight_qconfig
from .qconfig import default_reuse_input_qconfig as default_reuse_input_qconfig
from .qconfig import default_symmetric_qnnpack_qat_qconfig as default_symmetric_qnnpack_qat_qconfig
from .qconfig import default_symmetric_qnnpack_qconfig as default_symmetric_qnnpack_qconfig
from .qconfig import default_weight_only_qconfig as default_weight_only_qconfig
from .qconfig import float16_dynamic_qconfig as float16_dynamic_qconfig
from .qconfig import float16_static_qconfig as float16_static_qconfig
from .qconfig import float_qparams_weight_only_qconfig as float_qparams_weight_only_qconfig
from .qconfig import (
    float_qparams_weight_only_qconfig_4bit as float_qparams_weight_only_qconfig_4bit,
)
from .qconfig import get_default_qat_qconfig as get_default_qat_qconfig
from .qconfig import get_default_qconfig as get_default_qconfig
from .qconfig import per_channel_dynamic_qconfig as per_channel_dynamic_qconfig
from .qconfig import qconfig_equals as qconfig_equals
from .qconfig_mapping import QConfigMapping as QConfigMapping
from .qconfig_mapping import get_default_qat_qconfig_dict as get_default_qat_qconfig_dict
from .qconfig_mapping import get_default_qat_qconfig_mapping as get_default_qat_qconfig_mapping
from .qconfig_mapping import get_default_qconfig_dict as get_default_qconfig_dict
from .qconfig_mapping import get_default_qconfig_mapping as get_default_qconfig_mapping
from .quant_type import QuantType as QuantType
from .quant_type import quant_type_from_str as quant_type_from_str
from .quant_type import quant_type_to_str as quant_type_to_str
from .quantization_mappings import (
    DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS as DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
)
from .quantization_mappings import (
    DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS as DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS,
)
from .quantization_mappings import (
    DEFAULT_MODULE_TO_ACT_POST_PROCESS as DEFAULT_MODULE_TO_ACT_POST_PROCESS,
)
from .quantization_mappings import DEFAULT_QAT_MODULE_MAPPINGS as DEFAULT_QAT_MODULE_MAPPINGS
from .quantization_mappings import (
    DEFAULT_STATIC_QUANT_MODULE_MAPPINGS as DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
)
from .quantization_mappings import (
    get_default_compare_output_module_list as get_default_compare_output_module_list,
)
from .quantization_mappings import (
    get_default_dynamic_quant_module_mappings as get_default_dynamic_quant_module_mappings,
)
from .quantization_mappings import (
    get_default_float_to_quantized_operator_mappings as get_default_float_to_quantized_operator_mappings,  # noqa: E501
)
from .quantization_mappings import (
    get_default_qat_module_mappings as get_default_qat_module_mappings,
)
from .quantization_mappings import (
    get_default_qconfig_propagation_list as get_default_qconfig_propagation_list,
)
from .quantization_mappings import (
    get_default_static_quant_module_mappings as get_default_static_quant_module_mappings,
)
from .quantization_mappings import (
    get_default_static_quant_reference_module_mappings as get_default_static_quant_reference_module_mappings,  # noqa: E501
)
from .quantization_mappings import get_dynamic_quant_module_class as get_dynamic_quant_module_class
from .quantization_mappings import (
    get_embedding_qat_module_mappings as get_embedding_qat_module_mappings,
)
from .quantization_mappings import (
    get_embedding_static_quant_module_mappings as get_embedding_static_quant_module_mappings,
)
from .quantization_mappings import get_quantized_operator as get_quantized_operator
from .quantization_mappings import get_static_quant_module_class as get_static_quant_module_class
from .quantization_mappings import no_observer_set as no_observer_set
from .quantize_jit import quantize_dynamic_jit as quantize_dynamic_jit
from .stubs import DeQuantStub as DeQuantStub
from .stubs import QuantStub as QuantStub
from .stubs import QuantWrapper as QuantWrapper

# Graph mode stands on what is here, and is imported when it is first asked for.
__getattr__ = on_first_use(__name__, {}, modules=("fx", "quantize_fx"))

__all__ = [
    "ConstantChannelWarning",
    "Coverage",
    "CoverageRow",
    "DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS",
    "DEFAULT_FLOAT_TO_QUANTIZED_OPERATOR_MAPPINGS",
    "DEFAULT_MODULE_TO_ACT_POST_PROCESS",
    "DEFAULT_QAT_MODULE_MAPPINGS",
    "DEFAULT_STATIC_QUANT_MODULE_MAPPINGS",
    "DeQuantStub",
    "FakeQuantize",
    "FakeQuantizeBase",
    "FixedQParamsFakeQuantize",
    "FixedQParamsObserver",
    "FusedMovingAvgObsFakeQuantize",
    "HistogramObserver",
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "NoEffectWarning",
    "NoMatchWarning",
    "NoopObserver",
    "NotQuantizedWarning",
    "Observer",
    "ObserverBase",
    "PerChannelMinMaxObserver",
    "PlaceholderObserver",
    "QConfig",
    "QConfigAny",
    "QConfigDynamic",
    "QConfigMapping",
    "QuantStub",
    "QuantType",
    "QuantWrapper",
    "ExampleInputsWarning",
    "NarrowRangeWarning",
    "NotPreparedWarning",
    "QConfigMismatchWarning",
    "SaturatedBiasWarning",
    "UnlikeGridsWarning",
    "WrongModeWarning",
    "WrongOrderWarning",
    "QuantizationError",
    "QuantizationWarning",
    "SharedObserverWarning",
    "RecordingObserver",
    "ReuseInputObserver",
    "UncalibratedWarning",
    "UniformQuantizationObserverBase",
    "UnusedMappingWarning",
    "add_observer_",
    "add_quant_dequant",
    "backend_config",
    "convert",
    "coverage",
    "default_activation_only_qconfig",
    "default_affine_fixed_qparams_fake_quant",
    "default_affine_fixed_qparams_observer",
    "default_debug_observer",
    "default_debug_qconfig",
    "default_dynamic_fake_quant",
    "default_dynamic_qat_qconfig",
    "default_dynamic_qconfig",
    "default_dynamic_quant_observer",
    "default_embedding_fake_quant",
    "default_embedding_fake_quant_4bit",
    "default_embedding_qat_qconfig",
    "default_embedding_qat_qconfig_4bit",
    "default_eval_fn",
    "default_fake_quant",
    "default_fixed_qparams_range_0to1_fake_quant",
    "default_fixed_qparams_range_0to1_observer",
    "default_fixed_qparams_range_neg1to1_fake_quant",
    "default_fixed_qparams_range_neg1to1_observer",
    "default_float_qparams_observer",
    "default_float_qparams_observer_4bit",
    "default_fused_act_fake_quant",
    "default_fused_per_channel_wt_fake_quant",
    "default_fused_wt_fake_quant",
    "default_histogram_fake_quant",
    "default_histogram_observer",
    "default_observer",
    "default_per_channel_qconfig",
    "default_per_channel_symmetric_qnnpack_qat_qconfig",
    "default_per_channel_symmetric_qnnpack_qconfig",
    "default_per_channel_weight_fake_quant",
    "default_per_channel_weight_observer",
    "default_placeholder_observer",
    "default_qat_qconfig",
    "default_qat_qconfig_v2",
    "default_qconfig",
    "default_quint8_weight_qconfig",
    "default_reuse_input_observer",
    "default_reuse_input_qconfig",
    "default_symmetric_fixed_qparams_fake_quant",
    "default_symmetric_fixed_qparams_observer",
    "default_symmetric_qnnpack_qat_qconfig",
    "default_symmetric_qnnpack_qconfig",
    "default_weight_fake_quant",
    "default_weight_observer",
    "default_weight_only_qconfig",
    "disable_fake_quant",
    "disable_observer",
    "enable_fake_quant",
    "enable_observer",
    "float16_dynamic_qconfig",
    "float16_static_qconfig",
    "float_qparams_weight_only_qconfig",
    "float_qparams_weight_only_qconfig_4bit",
    "fuse_conv_bn",
    "fuse_conv_bn_relu",
    "fuse_convtranspose_bn",
    "fuse_known_modules",
    "fuse_linear_bn",
    "fuse_modules",
    "fuse_modules_qat",
    "fused_per_channel_wt_fake_quant_range_neg_127_to_127",
    "fused_wt_fake_quant_range_neg_127_to_127",
    "get_default_compare_output_module_list",
    "get_default_custom_config_dict",
    "get_default_dynamic_quant_module_mappings",
    "get_default_float_to_quantized_operator_mappings",
    "get_default_qat_module_mappings",
    "get_default_qat_qconfig",
    "get_default_qat_qconfig_dict",
    "get_default_qat_qconfig_mapping",
    "get_default_qconfig",
    "get_default_qconfig_dict",
    "get_default_qconfig_mapping",
    "get_default_qconfig_propagation_list",
    "get_default_static_quant_module_mappings",
    "get_default_static_quant_reference_module_mappings",
    "get_dynamic_quant_module_class",
    "get_embedding_qat_module_mappings",
    "get_embedding_static_quant_module_mappings",
    "get_fuser_method",
    "get_observer_dict",
    "get_observer_state_dict",
    "get_quantized_operator",
    "get_static_quant_module_class",
    "load_observer_state_dict",
    "no_observer_set",
    "per_channel_dynamic_qconfig",
    "per_channel_weight_observer_range_neg_127_to_127",
    "prepare",
    "prepare_qat",
    "propagate_qconfig_",
    "qconfig_equals",
    "quant_type_from_str",
    "quant_type_to_str",
    "quantize",
    "quantize_dynamic",
    "quantize_dynamic_jit",
    "quantize_qat",
    "swap_module",
    "utils",
    "weight_observer_range_neg_127_to_127",
]
