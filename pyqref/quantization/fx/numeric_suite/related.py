"""Find operations of two models that are the same one: float, fake quantized, quantized.

Two operations are related if a chain of the tables that quantize leads from one to the other:
``nn.Conv2d -> qat.Conv2d -> quantized.Conv2d``, and a fused layer with its first part.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from pyqref.nn import functional as F
from pyqref.nn import modules as nn
from pyqref.quantization.backend_config import get_native_backend_config
from pyqref.quantization.quantization_mappings import (
    DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
    DEFAULT_QAT_MODULE_MAPPINGS,
    DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
)
from pyqref.tensor import (
    add,
    dequantize,
    mul,
    quantize_per_tensor,
    quantize_per_tensor_dynamic,
    relu,
    sigmoid,
    tanh,
)

from ..lowering_tables import (
    BINARY,
    DYNAMIC_FUNCTIONS,
    DYNAMIC_MODULES,
    STATIC_FUNCTIONS,
    STATIC_MODULES,
    WEIGHT_ONLY_MODULES,
    WITH_GRID_FUNCTIONS,
    WITH_GRID_MODULES,
)

__all__ = [
    "RelatedOps",
    "add_op_to_sets_of_related_ops",
    "get_base_name_to_sets_of_related_ops",
    "get_unmatchable_types_map",
]

#: Sets of operations by a name: classes, functions, names of methods.
RelatedOps: TypeAlias = dict[str, set[Callable[..., Any] | str]]

#: Functions, operators and methods that are one operation each, by the class that does it too.
_SPELLINGS: dict[Any, tuple[Any, ...]] = {
    nn.ReLU: (F.relu, relu, "relu", "relu_"),
    nn.ReLU6: (F.relu6,),
    nn.Sigmoid: (sigmoid, F.sigmoid, "sigmoid", "sigmoid_"),
    nn.Tanh: (tanh, F.tanh, "tanh", "tanh_"),
    nn.Hardsigmoid: (F.hardsigmoid, "hardsigmoid", "hardsigmoid_"),
    nn.Hardtanh: (F.hardtanh, "hardtanh", "hardtanh_"),
    nn.SiLU: (F.silu,),
    nn.Mish: (F.mish,),
    nn.AvgPool1d: (F.avg_pool1d,),
    nn.AvgPool2d: (F.avg_pool2d,),
    nn.AvgPool3d: (F.avg_pool3d,),
    nn.AdaptiveAvgPool1d: (F.adaptive_avg_pool1d,),
    nn.AdaptiveAvgPool2d: (F.adaptive_avg_pool2d,),
    nn.AdaptiveAvgPool3d: (F.adaptive_avg_pool3d,),
    nn.MaxPool1d: (F.max_pool1d,),
    nn.MaxPool2d: (F.max_pool2d,),
    nn.MaxPool3d: (F.max_pool3d,),
    operator.add: (add, operator.iadd, "add", "add_"),
    operator.mul: (mul, operator.imul, "mul", "mul_"),
}


def _pairs() -> Iterator[tuple[Any, Any]]:
    """Pairs of operations that are one."""
    for table in (
        DEFAULT_STATIC_QUANT_MODULE_MAPPINGS,
        DEFAULT_DYNAMIC_QUANT_MODULE_MAPPINGS,
        DEFAULT_QAT_MODULE_MAPPINGS,
        WITH_GRID_MODULES,
        WITH_GRID_FUNCTIONS,
    ):
        yield from table.items()
    for reference, quantized in (
        *STATIC_MODULES.items(),
        *DYNAMIC_MODULES.items(),
        *WEIGHT_ONLY_MODULES.items(),
    ):
        for each in reference if isinstance(reference, tuple) else (reference,):
            yield each, quantized
    for function, quantized in (*STATIC_FUNCTIONS.items(), *BINARY.items()):
        yield from ((function, each) for each in quantized if each is not None)
    for (function, _), quantized in DYNAMIC_FUNCTIONS.items():
        yield from ((function, each) for each in quantized if each is not None)
    for config in get_native_backend_config().configs:
        root = config.root_module
        for each in (config.fused_module, config.qat_module, config.reference_quantized_module):
            if each is not None and root is not None:
                yield root, each
    for first, others in _SPELLINGS.items():
        yield from ((first, each) for each in others)


def get_base_name_to_sets_of_related_ops() -> RelatedOps:
    """The sets of operations that may stand for each other in two models.

    Returns
    -------
    dict
        Each set by the name of one of its operations.

    Examples
    --------
    >>> from pyqref import nn
    >>> sets = get_base_name_to_sets_of_related_ops()
    >>> nn.quantized.Linear in sets["Linear"], nn.intrinsic.LinearReLU in sets["Linear"]
    (True, True)
    """
    home: dict[Any, dict[Any, None]] = {}  # the set of an operation, in the order of the tables
    for one, other in _pairs():
        joined = {**home.get(one, {one: None}), **home.get(other, {other: None})}
        home.update(dict.fromkeys(joined, joined))
    found: RelatedOps = {}
    for members in {id(each): each for each in home.values()}.values():
        first = next(iter(members))
        name = first if isinstance(first, str) else first.__name__
        while name in found:
            name += "_"
        found[name] = set(members)
    return found


def get_unmatchable_types_map() -> RelatedOps:
    """The operations that have no counterpart in another model, and are passed over.

    Returns
    -------
    dict
        Under ``"funs_unmatchable"``, ``"mods_unmatchable"`` and ``"meths_unmatchable"``.

    Examples
    --------
    >>> "dequantize" in get_unmatchable_types_map()["meths_unmatchable"]
    True
    """
    shapes = (
        "to dequantize reshape view unsqueeze_ unsqueeze transpose squeeze_ squeeze size shape "
        "resize_ repeat_interleave repeat permute numel mean detach_ detach contiguous clamp chunk"
    )
    return {
        "funs_unmatchable": {
            quantize_per_tensor,
            quantize_per_tensor_dynamic,
            dequantize,
            operator.getitem,
            getattr,
        },
        "mods_unmatchable": {nn.Identity},
        "meths_unmatchable": set(shapes.split()),
    }


def add_op_to_sets_of_related_ops(
    base_name_to_sets_of_related_ops: RelatedOps,
    op: Callable[..., Any] | str,
    related_op: Callable[..., Any] | str | None,
) -> None:
    """Note that one operation is a form of another one, in place.

    Parameters
    ----------
    base_name_to_sets_of_related_ops
        Of :func:`get_base_name_to_sets_of_related_ops`.
    op
        The operation that is new.
    related_op
        One of the set that it joins; None for a new set.

    Raises
    ------
    ValueError
        If no set has ``related_op``.

    Examples
    --------
    >>> def my_relu(x): return x.clamp(min=0)
    >>> from pyqref import nn
    >>> sets = get_base_name_to_sets_of_related_ops()
    >>> add_op_to_sets_of_related_ops(sets, my_relu, nn.ReLU)
    >>> my_relu in sets["ReLU"]
    True
    """
    if related_op is None:
        name = op if isinstance(op, str) else op.__name__
        while name in base_name_to_sets_of_related_ops:
            name += "_"
        base_name_to_sets_of_related_ops[name] = {op}
        return
    for members in base_name_to_sets_of_related_ops.values():
        if related_op in members:
            members.add(op)
            return
    raise ValueError(
        f"related_op {related_op!r} is in none of the sets of base_name_to_sets_of_related_ops; "
        "pass None to begin a new set"
    )
