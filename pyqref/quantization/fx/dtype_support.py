"""Check that the back end can do what a QConfig asks for, and say why if it cannot.

A pattern may have several :class:`~pyqref.quantization.backend_config.DTypeConfig`. The
first that agrees with the QConfig in every type and constraint is used. If none does, the
QConfig is ignored, the pattern stays float, and the reason is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pyqref._typing import QConfigLike
from pyqref.dtypes import float16, float32
from pyqref.fx import Node
from pyqref.quantization.backend_config import DTypeConfig, DTypeWithConstraints

from .bias_support import bias_problem
from .matching import Match

__all__ = ["UNFITTING", "Kind", "Types", "has_weight", "kind_of", "kinds_of", "unsupported_reason"]

UNFITTING = "its QConfig does not fit the back end: "
#: What of a pattern is quantized, and when.
Kind = Literal["static", "dynamic", "weight only"]


class Types:
    """The types that a QConfig asks for.

    Attributes
    ----------
    activation, weight, bias
        The types; None if the recipe says nothing of types.
    is_dynamic
        Whether the input is quantized when the model runs.
    activation_observer, weight_observer
        Observers made by the recipes.
    """

    def __init__(self, qconfig: Any) -> None:
        self.activation_observer = qconfig.activation() if qconfig.activation else None
        self.weight_observer = qconfig.weight() if qconfig.weight else None
        self.activation = getattr(self.activation_observer, "dtype", None)
        self.weight = getattr(self.weight_observer, "dtype", None)
        self.is_dynamic = bool(getattr(self.activation_observer, "is_dynamic", False))
        half = self.activation is float16 and self.weight is float16 and not self.is_dynamic
        self.bias = float16 if half else float32


def kind_of(types: Types) -> Kind:
    """The kind of quantization that a QConfig asks for."""
    if types.is_dynamic:
        return "dynamic"
    return "weight only" if types.activation is float32 else "static"


def kinds_of(match: Match) -> set[Kind]:
    """The kinds of quantization that the back end has for a pattern."""
    return {_kind_of_config(each) for each in match.config.dtype_configs}


def _kind_of_config(supported: DTypeConfig) -> Kind:
    if supported.is_dynamic:
        return "dynamic"
    return "weight only" if supported.input_dtype is float32 else "static"


def unsupported_reason(
    match: Match, qconfig: QConfigLike | None, only: Kind | None = None
) -> str | None:
    """Why a pattern cannot be quantized as a QConfig asks; None if it can.

    Parameters
    ----------
    match
        The pattern's nodes.
    qconfig
        The QConfig.
    only
        The kind of quantization to tell of; all if None.
    """
    types = Types(qconfig)
    reasons = []
    for dtype_config in match.config.dtype_configs:
        if only not in (None, _kind_of_config(dtype_config)):
            continue
        problem = next(_problems(match, types, dtype_config), None)
        if problem is None:
            return None
        if problem not in reasons:
            reasons.append(problem)
    if not reasons:
        return "the back end lists no DTypeConfig for it"
    return UNFITTING + "; or ".join(reasons)


def _problems(match: Match, types: Types, supported: DTypeConfig) -> Iterator[str]:
    dynamic = bool(supported.is_dynamic)
    if types.is_dynamic != dynamic:
        yield f"the activation is {_kind(types.is_dynamic)}, supported is {_kind(dynamic)}"
    yield from _check(
        "input", types.activation, types.activation_observer, supported.input_dtype_with_constraints
    )
    if types.is_dynamic:
        yield from _check("output", float32, None, supported.output_dtype_with_constraints)
    else:
        yield from _check(
            "output",
            types.activation,
            types.activation_observer,
            supported.output_dtype_with_constraints,
        )
    if has_weight(match):
        yield from _check(
            "weight", types.weight, types.weight_observer, supported.weight_dtype_with_constraints
        )
    problem = bias_problem(match, types.bias, supported)
    if problem is not None:
        yield problem


def _kind(dynamic: bool) -> str:
    return "dynamic" if dynamic else "static"


def has_weight(match: Match) -> bool:
    """Return True if the pattern has a weight that is quantized."""
    config, root = match.config, match.root
    if root.op == "call_module":
        return config.reference_quantized_module is not None or config.qat_module is not None
    index = match.roles.get("weight")
    if index is None:
        return False
    argument = root.args[index] if index < len(root.args) else root.kwargs.get("weight")
    return isinstance(argument, Node)


def _check(what: str, dtype: Any, observer: Any, supported: DTypeWithConstraints) -> Iterator[str]:
    if supported.dtype is None:
        return
    if dtype is not supported.dtype:
        yield f"the {what} is {dtype}, supported is {supported.dtype}"
        return
    if observer is None:
        return
    yield from _check_range(what, observer, supported)
    yield from _check_scale(what, observer, supported)
    yield from _check_exact(what, observer, supported)


def _check_range(what: str, observer: Any, supported: DTypeWithConstraints) -> Iterator[str]:
    lower, upper = supported.quant_min_lower_bound, supported.quant_max_upper_bound
    low, high = getattr(observer, "quant_min", None), getattr(observer, "quant_max", None)
    if lower is not None and (low is None or low < lower):
        yield f"quant_min of the {what} is {low}, supported is at least {lower}"
    if upper is not None and (high is None or high > upper):
        yield f"quant_max of the {what} is {high}, supported is at most {upper}"


def _check_scale(what: str, observer: Any, supported: DTypeWithConstraints) -> Iterator[str]:
    bound = supported.scale_min_lower_bound
    inner = getattr(observer, "activation_post_process", observer)
    eps = getattr(inner, "eps", None)
    smallest = None if eps is None else float(eps)
    if bound is not None and (smallest is None or smallest < bound):
        yield f"the smallest scale (eps) of the {what} is {smallest}, supported is at least {bound}"
    upper = supported.scale_max_upper_bound
    if upper is not None and smallest is not None and smallest > upper:
        yield f"the smallest scale (eps) of the {what} is {smallest}, supported is at most {upper}"


def _check_exact(what: str, observer: Any, supported: DTypeWithConstraints) -> Iterator[str]:
    wanted = {"scale": supported.scale_exact_match, "zero_point": supported.zero_point_exact_match}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if not wanted:
        return
    fixed = getattr(observer, "activation_post_process", observer)
    grid = " and ".join(f"{name} {value}" for name, value in wanted.items())
    if type(fixed).__name__ != "FixedQParamsObserver":
        yield (
            f"the {what} must have {grid}, of a FixedQParamsObserver; "
            f"its observer is {type(fixed).__name__}"
        )
        return
    found = {"scale": float(fixed.scale), "zero_point": int(fixed.zero_point)}
    for name, value in wanted.items():
        if found[name] != value:
            yield f"the {name} of the {what} is {found[name]}, supported is {value} exactly"
