"""Following the messages about the state dict of another kind of model works."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from bad_input.engine import floats
from messages.following import says

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.interop import load_torch_state_dict
from pyqref.nn import functional as F
from pyqref.quantization import quantize_fx as fx

X = floats(4, 3)
Step = Callable[[Any], Any]


def prepare(model: Any) -> Any:
    model.qconfig = q.default_qconfig
    return q.prepare(model)


def prepare_fx(model: Any) -> Any:
    return fx.prepare_fx(model, q.get_default_qconfig_mapping(), (X,))


def prepare_qat(model: Any) -> Any:
    model.train().qconfig = q.default_qat_qconfig
    return q.prepare_qat(model)


def prepare_qat_fx(model: Any) -> Any:
    return fx.prepare_qat_fx(model.train(), q.get_default_qat_qconfig_mapping(), (X,))


def convert_to_reference(model: Any) -> Any:
    return q.convert(model, is_reference=True)


#: The steps that make each kind of a float model.
EAGER: dict[str, list[Step]] = {
    "float": [],
    "prepared": [prepare],
    "trained": [prepare_qat],
    "reference": [prepare, convert_to_reference],
    "quantized": [prepare, q.convert],
}
GRAPH: dict[str, list[Step]] = {
    "float": [],
    "prepared": [prepare_fx],
    "trained": [prepare_qat_fx],
    "reference": [prepare_fx, fx.convert_to_reference_fx],
    "quantized": [prepare_fx, fx.convert_fx],
}
DYNAMIC: dict[str, list[Step]] = {"float": [], "quantized": [q.quantize_dynamic]}


def after(steps: list[Step], model: Any) -> Any:
    """Return a model after these steps; it is calibrated where it is prepared."""
    for step in steps:
        model = step(model)
        if step.__name__.startswith("prepare"):
            model(X)
    return model


def made(steps: list[Step]) -> Any:
    return after(steps, q.QuantWrapper(nn.Sequential(nn.Linear(3, 3), nn.ReLU())).eval())


#: What is said where the state of the first kind is loaded into a model of the second.
SAID = {
    ("float", "prepared"): says("load it before {}", "prepare (prepare_fx)"),
    ("float", "trained"): says("load it before {}", "prepare_qat (prepare_qat_fx)"),
    ("float", "reference"): says(
        "load it before {}",
        "prepare and convert(is_reference=True) (prepare_fx and convert_to_reference_fx)",
    ),
    ("float", "quantized"): says(
        "load it before {}", "prepare and convert (prepare_fx and convert_fx), or quantize_dynamic"
    ),
    ("prepared", "reference"): says(
        "load it before {}", "convert(is_reference=True) (convert_to_reference_fx)"
    ),
    ("prepared", "quantized"): says("load it before {}", "convert (convert_fx)"),
    ("trained", "prepared"): says("make this model with {}, then load it", "prepare_qat ("),
    ("reference", "quantized"): says(
        "make this model with {}, then load it", "prepare and convert(is_reference=True) ("
    ),
    ("prepared", "float"): says("call {} as for that model, then load it", "prepare (prepare_fx)"),
    ("reference", "float"): says(
        "call {} as for that model, then load it", "prepare and convert(is_reference=True) ("
    ),
    ("quantized", "float"): says(
        "call {} as for that model, then load it", "prepare and convert (prepare_fx and convert_fx)"
    ),
    ("quantized", "prepared"): says(
        "call {} as for that model, then load it", "convert (convert_fx)"
    ),
}


@pytest.mark.parametrize(
    ("kinds", "table"),
    [
        (kinds, table)
        for kinds in SAID
        for table in (EAGER, GRAPH, DYNAMIC)
        if set(kinds) <= set(table)
    ],
    ids=lambda each: " to ".join(each) if isinstance(each, tuple) else "",
)
def test_a_model_of_another_kind(kinds: tuple[str, str], table: dict[str, list[Step]]) -> None:
    """The state is loaded before the steps that are named, or after them."""
    theirs, ours = (table[kind] for kind in kinds)
    state, model = made(theirs).state_dict(), made(ours)
    with SAID[kinds] as told:
        model.load_state_dict(state)
    if "load it before" in told.text:
        float_or_prepared = made(theirs)
        float_or_prepared.load_state_dict(state)
        after(ours[len(theirs) :], float_or_prepared)
    elif "as for that model" in told.text:
        after(theirs[len(ours) :], model).load_state_dict(state)
    else:
        made(theirs).load_state_dict(state)


#: What is said where the state is of eager mode, and of graph mode.
MODES = {
    "prepared": (
        says("make this model with {}, then load it", "prepare"),
        says("make this model with {}, then load it", "prepare_fx"),
    ),
    "trained": (
        says("make this model with {}, then load it", "prepare_qat"),
        says("make this model with {}, then load it", "prepare_qat_fx"),
    ),
    "quantized": (
        says("make this model with {}, then load it", "prepare and convert"),
        says("make this model with {}, then load it", "prepare_fx and convert_fx"),
    ),
}


@pytest.mark.parametrize("kind", MODES)
def test_a_model_of_the_other_mode(kind: str) -> None:
    """Eager and graph mode name observers and grids differently: the mode is named, and done."""
    for table, other, said in zip((EAGER, GRAPH), (GRAPH, EAGER), MODES[kind], strict=True):
        state = made(table[kind]).state_dict()
        with said:
            made(other[kind]).load_state_dict(state)
        made(table[kind]).load_state_dict(state)


def test_layers_that_are_fused_on_one_side() -> None:
    """Loading comes before fusing, or both are fused."""

    def network() -> Any:
        return nn.Sequential(nn.Linear(3, 3), nn.ReLU()).eval()

    def fused(model: Any) -> Any:
        return q.fuse_modules(model, ["0", "1"])

    state = network().state_dict()
    with says("load the state dict before fuse_modules"):
        fused(network()).load_state_dict(state)
    model = network()
    model.load_state_dict(state)
    state = fused(model).state_dict()
    with says("call fuse_modules as for that one"):
        network().load_state_dict(state)
    fused(network()).load_state_dict(state)


class _Packed:
    """A packed weight as a live torch holds it."""

    __module__ = "torch"

    def __init__(self, kind: str, *held: Any) -> None:
        self.kind, self.held = kind, held

    def _type(self) -> str:
        return f"__torch__.torch.classes.quantized.{self.kind}PackedParamsBase"

    def unpack(self) -> Any:
        return self.held


_Packed.__name__ = "ScriptObject"


@pytest.mark.parametrize(
    ("name", "axes"), [("linear", 0), ("conv1d", 1), ("conv2d", 2), ("conv3d", 3)]
)
def test_packed_weights_of_a_live_torch(name: str, axes: int) -> None:
    """A converted graph takes them; those of one axis torch packs as those of two."""
    geometry = [[1] * axes, [0] * axes, [1] * axes, 1] if axes else []

    class Functional(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(pyqref.ones(4, 3, *[1] * axes))
            self.b = nn.Parameter(pyqref.zeros(4))

        def forward(self, x: Any) -> Any:
            return getattr(F, name)(x, self.w, self.b, *geometry)

    x = pyqref.ones(2, 3, *[2] * axes)
    mapping = q.get_default_qconfig_mapping("fbgemm")
    prepared = fx.prepare_fx(Functional().eval(), mapping, (x,))
    prepared(x)
    model = fx.convert_fx(prepared)
    weight, bias = model.state_dict()["_packed_weight_0"]
    other = pyqref.make_quantized(-weight.int_repr().numpy(), weight._quantizer)
    state = dict(model.state_dict())
    given = other.unsqueeze(2) if name == "conv1d" else other
    kind = "Conv2d" if name == "conv1d" else name.capitalize()
    state["_packed_weight_0"] = _Packed(kind, given, bias)
    with says("call pyqref.interop.load_torch_state_dict(model, state_dict)"):
        model.load_state_dict(state)
    load_torch_state_dict(model, state)
    assert pyqref.equal(other, model.state_dict()["_packed_weight_0"][0])
