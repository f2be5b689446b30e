"""``lower``: from a reference model to quantized modules and functions, pass by pass.

1. :mod:`.lower_modules`: layers with weights, static, dynamic and weight-only;
2. :mod:`.lower_functions`: functions with weights;
3. :mod:`.lower_binary`: sums and products;
4. :mod:`.lower_others`: questions of shape, activations, norms, pooling, views;
5. :mod:`.fold_weights`: pack weights once.

What stays between dequantize and quantize has no quantized form and runs in float.
"""

from __future__ import annotations

from typing import Any

from pyqref.fx import GraphModule

from .fold_weights import fold_weights
from .left_in_reference import warn_of_reference_layers
from .lower_binary import lower_binary
from .lower_functions import lower_dynamic_functions, lower_static_functions
from .lower_modules import (
    lower_dynamic_modules,
    lower_static_modules,
    lower_weight_only_modules,
)
from .lower_others import lower_others, lower_shape_questions
from .watching import passed

__all__ = ["lower"]


def lower(
    model: GraphModule,
    qconfigs: dict[str, Any],
    scopes: dict[str, tuple[str, Any]],
    keep_original_weights: bool = False,
) -> dict[str, Any]:
    """All passes, in place.

    Parameters
    ----------
    model
        The reference model.
    qconfigs, scopes
        Of nodes by name.
    keep_original_weights
        See :func:`~pyqref.quantization.quantize_fx.convert_fx`.

    Returns
    -------
    dict
        The original weights, by the names of the attributes that they are to have.
    """
    lower_static_modules(model, qconfigs)
    passed("lower_static_modules", model)
    lower_dynamic_modules(model)
    passed("lower_dynamic_modules", model)
    lower_weight_only_modules(model)
    passed("lower_weight_only_modules", model)
    lower_static_functions(model, qconfigs)
    passed("lower_static_functions", model)
    lower_dynamic_functions(model)
    passed("lower_dynamic_functions", model)
    lower_binary(model, qconfigs)
    passed("lower_binary", model)
    lower_shape_questions(model)
    passed("lower_shape_questions", model)
    lower_others(model, qconfigs)
    passed("lower_others", model)
    model.graph.eliminate_dead_code()
    kept = fold_weights(model, scopes, keep_original_weights)
    passed("fold_weights", model)
    warn_of_reference_layers(model)
    return kept
