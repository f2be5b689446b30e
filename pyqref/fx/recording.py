"""Forms in which calls are recorded: as written, or with all their arguments.

``torch`` records its functions written in C++ as the user wrote the call, and those
written in Python with every optional argument by name. Here all are Python; the two
tables below keep the difference, so that a pass finds ``node.kwargs["inplace"]`` of a
``relu`` just as it would there.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

from ..nn.functional.resize import interpolate, upsample, upsample_bilinear, upsample_nearest
from .interception import plain

__all__ = ["record_call"]

FUNCTIONAL = "pyqref.nn.functional."

# Of pyqref.nn.functional, those recorded as written.
AS_WRITTEN = frozenset(
    {
        "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "avg_pool1d",
        "avg_pool2d", "avg_pool3d", "bilinear", "celu_", "channel_shuffle", "conv1d", "conv2d",
        "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d",
        "cosine_similarity", "elu_", "gelu", "hardshrink", "hardtanh_", "leaky_relu_", "linear",
        "logsigmoid", "native_channel_shuffle", "one_hot", "pairwise_distance",
        "pixel_shuffle", "pixel_unshuffle", "prelu", "relu_", "scaled_dot_product_attention",
        "selu_", "softplus", "softshrink", "threshold_",
    }
)  # fmt: skip
# Of pyqref.tensor, those recorded with all arguments.
COMPLETE = frozenset({"cdist", "norm", "split", "tensordot", "unique", "unique_consecutive"})
# Recorded as the method that they call.
METHODS = frozenset({"sigmoid", "tanh"})
# Old names of interpolate, recorded as that; and what they fix.
OLD_NAMES: dict[Callable[..., Any], dict[str, Any]] = {
    upsample: {},
    upsample_bilinear: {"mode": "bilinear", "align_corners": True},
    upsample_nearest: {"mode": "nearest"},
}


def record_call(
    create: Callable[..., Any],
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Record the call of a public function.

    Parameters
    ----------
    create
        Makes the node: ``create(op, target, args, kwargs)``.
    function, args, kwargs
        The call.
    """
    name = getattr(function, "__name__", "")
    module = getattr(function, "__module__", None) or ""
    if module.startswith(FUNCTIONAL):
        if name in METHODS:
            return create("call_method", name, (*args, *kwargs.values()), {})
        if function in OLD_NAMES:
            args, kwargs = complete(function, args, kwargs)
            kwargs = {**kwargs, **OLD_NAMES[function]}
            function = interpolate
        if name not in AS_WRITTEN:
            args, kwargs = complete(function, args, kwargs)
    elif module.startswith("pyqref.tensor.") and name in COMPLETE:
        args, kwargs = complete(function, args, kwargs)
    return create("call_function", function, args, kwargs)


def complete(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Required arguments by position, all optional ones by name.

    Examples
    --------
    >>> import pyqref.nn.functional as F
    >>> complete(F.relu, ("x",), {})
    (('x',), {'inplace': False})
    """
    signature = _signature(function)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.extend(value)
        elif parameter.kind is parameter.VAR_KEYWORD:
            named.update(value)
        elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(value)
        else:
            named[parameter.name] = value
    return tuple(positional), named


@cache
def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """The signature, also while the function carries the code of a detour."""
    return inspect.signature(plain(function))
