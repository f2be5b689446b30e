"""Small questions about qconfigs, observers and modules, at their path in ``torch``."""

from __future__ import annotations

from .modules import get_combined_dict as get_combined_dict
from .modules import get_fqn_to_example_inputs as get_fqn_to_example_inputs
from .modules import get_swapped_custom_module_class as get_swapped_custom_module_class
from .modules import getattr_from_fqn as getattr_from_fqn
from .modules import (
    has_no_children_ignoring_parametrizations as has_no_children_ignoring_parametrizations,
)
from .patterns import MatchAllNode as MatchAllNode
from .qconfigs import activation_dtype as activation_dtype
from .qconfigs import activation_is_dynamically_quantized as activation_is_dynamically_quantized
from .qconfigs import activation_is_int8_quantized as activation_is_int8_quantized
from .qconfigs import activation_is_int32_quantized as activation_is_int32_quantized
from .qconfigs import activation_is_statically_quantized as activation_is_statically_quantized
from .qconfigs import get_qconfig_dtypes as get_qconfig_dtypes
from .qconfigs import get_quant_type as get_quant_type
from .qconfigs import op_is_int8_dynamically_quantized as op_is_int8_dynamically_quantized
from .qconfigs import weight_dtype as weight_dtype
from .qconfigs import weight_is_quantized as weight_is_quantized
from .qconfigs import weight_is_statically_quantized as weight_is_statically_quantized
from .qparams import calculate_qmin_qmax as calculate_qmin_qmax
from .qparams import check_min_max_valid as check_min_max_valid
from .qparams import determine_qparams as determine_qparams
from .qparams import get_qparam_dict as get_qparam_dict
from .qparams import is_per_channel as is_per_channel
from .qparams import is_per_tensor as is_per_tensor
from .qparams import to_underlying_dtype as to_underlying_dtype
from .qparams import validate_qmin_qmax as validate_qmin_qmax

__all__ = [
    "MatchAllNode",
    "activation_dtype",
    "activation_is_dynamically_quantized",
    "activation_is_int32_quantized",
    "activation_is_int8_quantized",
    "activation_is_statically_quantized",
    "calculate_qmin_qmax",
    "check_min_max_valid",
    "determine_qparams",
    "get_combined_dict",
    "get_fqn_to_example_inputs",
    "get_qconfig_dtypes",
    "get_qparam_dict",
    "get_quant_type",
    "get_swapped_custom_module_class",
    "getattr_from_fqn",
    "has_no_children_ignoring_parametrizations",
    "is_per_channel",
    "is_per_tensor",
    "op_is_int8_dynamically_quantized",
    "to_underlying_dtype",
    "validate_qmin_qmax",
    "weight_dtype",
    "weight_is_quantized",
    "weight_is_statically_quantized",
]
