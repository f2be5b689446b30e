"""Small helpers for passes over a quantized graph, at their path in ``torch``."""

from __future__ import annotations

from .attributes import assert_and_get_unique_device as assert_and_get_unique_device
from .attributes import collect_producer_nodes as collect_producer_nodes
from .attributes import create_getattr_from_value as create_getattr_from_value
from .attributes import get_new_attr_name_with_prefix as get_new_attr_name_with_prefix
from .attributes import graph_module_from_producer_nodes as graph_module_from_producer_nodes
from .choices import get_custom_module_class_keys as get_custom_module_class_keys
from .choices import get_linear_prepack_op_for_dtype as get_linear_prepack_op_for_dtype
from .choices import get_qconv_prepack_op as get_qconv_prepack_op
from .choices import get_skipped_module_name_and_classes as get_skipped_module_name_and_classes
from .nodes import NodeInfo as NodeInfo
from .nodes import all_node_args_except_first as all_node_args_except_first
from .nodes import (
    create_node_from_old_node_preserve_meta as create_node_from_old_node_preserve_meta,
)
from .nodes import maybe_get_next_module as maybe_get_next_module
from .nodes import node_arg_is_bias as node_arg_is_bias
from .nodes import node_arg_is_weight as node_arg_is_weight
from .nodes import return_arg_list as return_arg_list

__all__ = [
    "NodeInfo",
    "all_node_args_except_first",
    "assert_and_get_unique_device",
    "collect_producer_nodes",
    "create_getattr_from_value",
    "create_node_from_old_node_preserve_meta",
    "get_custom_module_class_keys",
    "get_linear_prepack_op_for_dtype",
    "get_new_attr_name_with_prefix",
    "get_qconv_prepack_op",
    "get_skipped_module_name_and_classes",
    "graph_module_from_producer_nodes",
    "maybe_get_next_module",
    "node_arg_is_bias",
    "node_arg_is_weight",
    "return_arg_list",
]
