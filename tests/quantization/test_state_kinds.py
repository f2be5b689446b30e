"""A state dict of one kind of model, loaded into another: the key, the kinds, what to do."""

from __future__ import annotations

import contextlib
import functools
import itertools
import re
from typing import Any

import pytest
from quantization.samples import normal

import pyqref
from pyqref import nn
from pyqref import quantization as q

KINDS = {
    "float": "a float model",
    "prepared": "a model prepared for calibration",
    "trained": "a model prepared for quantization-aware training",
    "reference": "a reference model",
    "quantized": "a quantized model",
    "prepared graph": "a model prepared for calibration",
    "quantized graph": "a quantized model",
    "dynamic": "a quantized model",
}
LAYERS: dict[str, tuple[Any, tuple[int, ...]]] = {
    "linear": (lambda: nn.Linear(4, 4), (3, 4)),
    "conv": (lambda: nn.Conv2d(1, 2, 2), (1, 1, 3, 3)),
    "transposed": (lambda: nn.ConvTranspose1d(2, 2, 2), (1, 2, 3)),
    "norm": (lambda: nn.LayerNorm(4), (3, 4)),
}


@functools.cache
def make(kind: str, layer: str) -> nn.Module:
    """A model of this kind; nobody changes it, for a state that does not fit changes nothing."""
    pyqref.manual_seed(0)
    build, shape = LAYERS[layer]
    model = q.QuantWrapper(nn.Sequential(build(), nn.Linear(shape[-1] - (layer == "conv"), 4)))
    if layer == "transposed":
        model.module[1] = nn.Linear(shape[-1] + 1, 4)
    model.eval()
    if kind == "dynamic":
        return q.quantize_dynamic(model)
    if kind.endswith("graph"):
        mapping = q.QConfigMapping().set_global(q.default_qconfig)
        prepared = q.quantize_fx.prepare_fx(model, mapping, (normal(*shape),))
        prepared(normal(*shape))
        return prepared if kind.startswith("prepared") else q.quantize_fx.convert_fx(prepared)
    model.qconfig = q.default_qat_qconfig if kind == "trained" else q.default_qconfig
    if kind == "trained":
        return q.prepare_qat(model.train())
    if kind == "float":
        return model
    prepared = q.prepare(model)
    prepared(normal(*shape))
    return prepared if kind == "prepared" else q.convert(prepared, is_reference=kind == "reference")


PAIRS = [
    (theirs, ours)
    for theirs, ours in itertools.permutations(KINDS, 2)
    if KINDS[theirs] != KINDS[ours]
]


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize(("theirs", "ours"), PAIRS)
def test_the_kinds_and_the_remedy_are_named(theirs: str, ours: str, layer: str) -> None:
    """Every pair of kinds; strict=False passes over keys, never over a tensor of the other kind."""
    state, model = make(theirs, layer).state_dict(), make(ours, layer)
    with pytest.raises(RuntimeError) as caught:
        model.load_state_dict(state)
    message = str(caught.value)
    assert f"that of {KINDS[theirs]}, this is {KINDS[ours]}: " in message
    assert re.search(
        r"(load it before|call|make this model with) (prepare|convert|quantize)", message
    )
    assert re.search(r"module\.1\.(weight|scale|_packed|activation)|activation_post", message)
    assert "QuantStub" not in message
    with contextlib.suppress(RuntimeError):
        keys = model.load_state_dict(state, strict=False)
        assert keys.missing_keys or keys.unexpected_keys


def test_one_float_layer_for_quantized_ones() -> None:
    """The key of the file is named, with and without strict."""
    for layer in ("linear", "conv"):
        model, state = make("quantized", layer), make("float", layer).state_dict()
        for strict in (True, False):
            with pytest.raises(RuntimeError, match=r"module\.0\.weight must be a quantized tensor"):
                model.load_state_dict(state, strict=strict)


@pytest.mark.parametrize("is_fused", [True, False])
def test_fused_on_one_side_only(is_fused: bool) -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)).eval()
    fused = q.fuse_modules(model, ["0", "1"])
    ours, theirs = (fused, model) if is_fused else (model, fused)
    remedy = "load the state dict before fuse_modules" if is_fused else "call fuse_modules as for"
    with pytest.raises(RuntimeError, match=f"are fused and those of the other are not: {remedy}"):
        ours.load_state_dict(theirs.state_dict())


def test_a_wrong_key_alone_needs_no_advice() -> None:
    with pytest.raises(RuntimeError, match=r"Unexpected") as caught:
        nn.Linear(1, 1).load_state_dict({**nn.Linear(1, 1).state_dict(), "a": pyqref.ones(1)})
    assert "that of" not in str(caught.value)


def test_every_recipe_works() -> None:
    """A state fits after the advice of the message has been followed."""
    x = normal(3, 4)
    source = make("float", "linear")
    for kind in ("prepared", "trained", "quantized", "reference", "dynamic"):
        state = make(kind, "linear").state_dict()
        build = make.__wrapped__
        build(kind, "linear").load_state_dict(state)
        assert source.state_dict().keys() == build("float", "linear").state_dict().keys()
    loaded = make.__wrapped__("float", "linear")
    loaded.load_state_dict(source.state_dict())
    assert (source(x) - loaded(x)).abs().max() == 0
