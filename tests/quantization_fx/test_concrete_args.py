"""Models that were traced with ``concrete_args`` enter graph mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyqref.ao.quantization import (
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from pyqref.ao.quantization.quantize_fx import convert_fx, fuse_fx, prepare_fx, prepare_qat_fx

import pyqref as torch
from pyqref import fx, nn

PH = fx.PH
X = torch.arange(6.0).reshape(2, 3) - 3


def flag(m: Any, x: Any, flag: Any = False) -> Any:
    return m.relu(m.a(x)) if flag else m.b(x)


def flag_first(m: Any, flag: Any, x: Any) -> Any:
    return m.relu(m.a(x)) if flag else m.b(x)


def text(m: Any, x: Any, *, mode: str = "a") -> Any:
    return m.a(x) if mode == "a" else m.b(x)


def times(m: Any, x: Any, n: int = 2, scale: float = 1.0) -> Any:
    for layer in (m.a, m.b, m.relu)[:n]:
        x = layer(x)
    return x * scale if scale > 1 else x


def shifted(m: Any, x: Any, shift: Any = None, mask: Any = None) -> Any:
    x = m.a(x) if shift is None else m.b(x) + shift
    return x if mask is None else x * mask


def from_dict(m: Any, d: Any) -> Any:
    return m.a(d["x"]) + m.b(d["y"][0]) if d["flag"] else m.b(d["x"])


#: forward, concrete_args, a call that fits and one that does not.
CASES: dict[str, tuple[Callable[..., Any], dict[str, Any], tuple[Any, ...], Any]] = {
    "bool": (flag, {"flag": True}, (X, True), (X, False)),
    "bool_default": (flag, {"flag": False}, (X,), (X, True)),
    "bool_without_default": (flag_first, {"flag": True}, (True, X), (False, X)),
    "str": (text, {"mode": "a"}, (X,), None),
    "int_and_float": (times, {"n": 3, "scale": 2.0}, (X, 3, 2.0), (X, 2, 2.0)),
    "none": (shifted, {"shift": None, "mask": None}, (X,), (X, X)),
    "one_none": (shifted, {"shift": None}, (X, None, X), (X, X, X)),
    "dict": (
        from_dict,
        {"d": {"x": PH, "y": [PH], "flag": True}},
        ({"x": X, "y": [X], "flag": True},),
        ({"x": X, "y": [X], "flag": False},),
    ),
    "dict_none": (
        from_dict,
        {"d": {"x": PH, "y": PH, "flag": None}},
        ({"x": X, "y": None, "flag": None},),
        ({"x": X, "y": None, "flag": True},),
    ),
}


def build(forward: Callable[..., Any]) -> Any:
    torch.manual_seed(0)
    model = type("Net", (nn.Module,), {"forward": forward})()
    model.a, model.b, model.relu = nn.Linear(3, 3), nn.Linear(3, 3), nn.ReLU()
    return model.eval()


@pytest.mark.parametrize("name", CASES)
def test_every_entry_of_graph_mode_takes_them(name: str) -> None:
    """The results compute the same, and go on refusing other values."""
    forward, concrete, call, other = CASES[name]
    model = build(forward)
    expected = model(*call)
    traced = fx.symbolic_trace(model, concrete_args=concrete)
    prepared = prepare_fx(traced, get_default_qconfig_mapping("x86"), call)
    trained = prepare_qat_fx(traced, get_default_qat_qconfig_mapping("x86"), call)
    trained(*call)
    same = [fuse_fx(traced), prepared]
    assert [0.0] * 2 == [float((each(*call) - expected).abs().max()) for each in same]
    # A step of 7 bits, of values up to 10.
    near = [convert_fx(prepared), convert_fx(trained.eval())]
    assert max(float((each(*call) - expected).abs().max()) for each in near) < 0.3
    for each in (*same[:1], *near):
        if other is not None:
            with pytest.raises(AssertionError, match="has been specialized to have value"):
                each(*other)
