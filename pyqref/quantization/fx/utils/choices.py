"""Choose which function packs a weight, and which modules stay whole."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyqref.dtypes import dtype as Dtype
from pyqref.dtypes import float16, qint8
from pyqref.nn import functional as F
from pyqref.ops import quantized as ops
from pyqref.quantization.quant_type import QuantType

from ..custom_config import PrepareCustomConfig
from ..lowering_tables import PREPACK
from ..tracer import tracer_for

__all__ = [
    "get_custom_module_class_keys",
    "get_linear_prepack_op_for_dtype",
    "get_qconv_prepack_op",
    "get_skipped_module_name_and_classes",
]


def get_linear_prepack_op_for_dtype(dtype: Dtype) -> Callable[..., Any]:
    """Return the function that packs the weight of a linear layer.

    Parameters
    ----------
    dtype
        ``qint8`` or ``float16``.

    Raises
    ------
    ValueError
        If it is another.

    Examples
    --------
    >>> import pyqref
    >>> get_linear_prepack_op_for_dtype(pyqref.qint8).__name__
    'linear_prepack'
    """
    known = {float16: ops.linear_prepack_fp16, qint8: ops.linear_prepack}
    if dtype not in known:
        raise ValueError(f"dtype must be qint8 or float16, got {dtype}")
    return known[dtype]


def get_qconv_prepack_op(conv_op: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function that packs the weight of a convolution function.

    Raises
    ------
    ValueError
        If there is none.

    Examples
    --------
    >>> import pyqref
    >>> get_qconv_prepack_op(pyqref.nn.functional.conv2d).__name__
    'conv2d_prepack'
    """
    if conv_op not in PREPACK or conv_op is F.linear:
        name = getattr(conv_op, "__name__", conv_op)
        raise ValueError(f"conv_op must be a convolution of nn.functional, got {name}")
    pack: Callable[..., Any] = PREPACK[conv_op][0]
    return pack


def get_custom_module_class_keys(
    custom_module_mapping: Mapping[QuantType, Mapping[type, type]],
) -> list[Any]:
    """The classes of custom modules for all kinds of quantization, each once.

    Examples
    --------
    >>> from pyqref import nn
    >>> from pyqref.quantization import QuantType
    >>> get_custom_module_class_keys({QuantType.STATIC: {nn.Linear: nn.Identity}})
    [<class 'pyqref.nn.modules.linear.Linear'>]
    """
    tables: Iterable[Mapping[type, type]] = custom_module_mapping.values()
    return list(dict.fromkeys(key for table in tables for key in table))


def get_skipped_module_name_and_classes(
    prepare_custom_config: PrepareCustomConfig, is_standalone_module: bool
) -> tuple[list[str], list[type[Any]]]:
    """The paths and classes of modules that are not traced through.

    Parameters
    ----------
    prepare_custom_config
        What names them.
    is_standalone_module
        Whether the model is one itself; then standalone modules inside it are not named again.

    Examples
    --------
    >>> config = PrepareCustomConfig().set_non_traceable_module_names(["block"])
    >>> get_skipped_module_name_and_classes(config, False)
    (['block'], [])
    """
    if is_standalone_module:
        names = list(prepare_custom_config.non_traceable_module_names)
        custom = prepare_custom_config.float_to_observed_mapping.values()
        classes = [*prepare_custom_config.non_traceable_module_classes]
        return names, [*classes, *(each for table in custom for each in table)]
    tracer = tracer_for(prepare_custom_config)
    return tracer.skipped_module_names, tracer.skipped_module_classes
