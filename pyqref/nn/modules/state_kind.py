"""Kind of model that a state dict was taken from, and how to load it into another kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from pyqref.tensor.foreign import comes_from_torch

__all__ = ["advice_on_kinds", "kind_of_state"]

_DESCRIBED = {
    "float": "a float model",
    "prepared": "a model prepared for calibration",
    "trained": "a model prepared for quantization-aware training",
    "reference": "a reference model",
    "quantized": "a quantized model",
}
#: How far the workflow has come, and the steps to there from a float model.
_STAGE = {"float": 0, "prepared": 1, "trained": 1, "reference": 2, "quantized": 2}
_STEPS = {
    "prepared": "prepare (prepare_fx)",
    "trained": "prepare_qat (prepare_qat_fx)",
    "reference": "prepare and convert(is_reference=True) (prepare_fx and convert_to_reference_fx)",
    "quantized": "prepare and convert (prepare_fx and convert_fx), or quantize_dynamic",
}
_LAST_STEP = {
    "reference": "convert(is_reference=True) (convert_to_reference_fx)",
    "quantized": "convert (convert_fx)",
}


def kind_of_state(state: Mapping[str, Any]) -> str:
    """The kind of model that a state dict comes from, told by its keys and tensors.

    Returns
    -------
    str
        ``"float"``, ``"prepared"``, ``"trained"`` (prepared for training), ``"reference"``
        or ``"quantized"``.

    Examples
    --------
    >>> from pyqref import nn
    >>> kind_of_state(nn.Linear(1, 1).state_dict()), kind_of_state(
    ...     nn.quantized.Linear(1, 1).state_dict()
    ... )
    ('float', 'quantized')
    """
    if any(".fake_quant_enabled" in key or "weight_fake_quant." in key for key in state):
        return "trained"
    if any("activation_post_process" in key for key in state):
        return "prepared"
    if any(key.endswith(("weight_qscheme", "weight_axis")) for key in state):
        return "reference"
    packed = any("_packed_params" in key or "_packed_weight" in key for key in state)
    on_a_grid = any(
        key.endswith("zero_point") and key[: -len("zero_point")] + "scale" in state for key in state
    )
    # Of a recurrent layer the packed weights are a tuple.
    quantized = any(
        isinstance(each, tuple) or getattr(each, "is_quantized", False) for each in state.values()
    )
    return "quantized" if packed or on_a_grid or quantized else "float"


def advice_on_kinds(
    given: Mapping[str, Any], own: Mapping[str, Any], missing: Iterable[str], extra: Iterable[str]
) -> list[str]:
    """Return lines of advice if a state dict and a model are of different kinds.

    Parameters
    ----------
    given
        The state dict that was to be loaded.
    own
        That of the model.
    missing, extra
        The keys of the model that are not in ``given``, and the other way round.
    """
    if comes_from_torch(list(given.values())):
        remedy = "call pyqref.interop.load_torch_state_dict(model, state_dict)"
        return [f"The state dict holds objects of torch: {remedy}."]
    missing, extra = set(missing), set(extra)
    where = _advice_on_place(given, missing, extra)
    if where:
        return where
    theirs, ours = kind_of_state(given), kind_of_state(own)
    if theirs == ours:
        return _advice_on_mode(theirs, given, own) or _advice_on_fusion(missing, extra)
    if _STAGE[theirs] < _STAGE[ours]:
        steps = _LAST_STEP[ours] if _STAGE[theirs] else _STEPS[ours]
        remedy = f"load it before {steps}"
    elif _STAGE[theirs] > _STAGE[ours]:
        steps = _LAST_STEP[theirs] if _STAGE[ours] else _STEPS[theirs]
        remedy = f"call {steps} as for that model, then load it"
    else:
        remedy = f"make this model with {_STEPS[theirs]}, then load it"
    return [
        f"The state dict is that of {_DESCRIBED[theirs]}, this is {_DESCRIBED[ours]}: {remedy}."
    ]


#: Keys that graph mode alone makes: observers, grids and weights of functions are numbered.
_GRAPH = re.compile(
    r"(?:^|\.)activation_post_process_\d+\.|_(?:scale|zero_point)_\d+$|_packed_weight_\d+$"
)
#: The step of each mode that makes a model of a kind: eager mode, graph mode.
_MODES = {
    "prepared": ("prepare", "prepare_fx"),
    "trained": ("prepare_qat", "prepare_qat_fx"),
    "quantized": ("prepare and convert", "prepare_fx and convert_fx"),
}


def _advice_on_mode(kind: str, given: Mapping[str, Any], own: Mapping[str, Any]) -> list[str]:
    """Eager and graph mode name observers and grids differently."""
    theirs, ours = (any(map(_GRAPH.search, state)) for state in (given, own))
    if theirs == ours or kind not in _MODES:
        return []
    eager, graph = _MODES[kind]
    mode, other = ("graph mode", "eager mode") if theirs else ("eager mode", "graph mode")
    what = f"The state dict is that of a model of {mode}, this is one of {other}"
    return [f"{what}: make this model with {graph if theirs else eager}, then load it."]


def _advice_on_place(given: Mapping[str, Any], missing: set[str], extra: set[str]) -> list[str]:
    """A checkpoint that holds the state dict beside other things, or under a longer name."""
    for key in sorted(extra):
        inside = given.get(key)
        if isinstance(inside, Mapping) and missing & {str(name) for name in inside}:
            return [
                f"The state dict is inside this one: call load_state_dict with its entry {key!r}."
            ]
    prefixes = {key.partition(".")[0] + "." for key in extra}
    if len(prefixes) == 1 and missing:
        (prefix,) = prefixes
        is_number = prefix[:-1].isdigit()  # a layer that is fused is called so
        if not is_number and missing >= {key.removeprefix(prefix) for key in extra}:
            return [f"Every key begins with {prefix!r}: strip that from the keys."]
    return []


def _advice_on_fusion(missing: set[str], extra: set[str]) -> list[str]:
    """A layer inside a fused one is called ``0``."""
    for inside, outside, where, remedy in (
        (missing, extra, "this model", "load the state dict before fuse_modules"),
        (extra, missing, "the model of the state dict", "call fuse_modules as for that one"),
    ):
        for key in sorted(inside):
            parts = key.split(".")
            without = [
                ".".join(parts[:i] + parts[i + 1 :]) for i, p in enumerate(parts) if p == "0"
            ]
            if any(each in outside for each in without):
                return [
                    f"The layers of {where} are fused and those of the other are not: {remedy}."
                ]
    return []
