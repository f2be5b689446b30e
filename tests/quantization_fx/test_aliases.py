"""Two names of one function: one operation by default, two under torch's conventions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyqref.ao.quantization import NoMatchWarning, QConfigMapping, get_default_qconfig_mapping
from pyqref.ao.quantization.quantize_fx import convert_fx, prepare_fx

import pyqref
from pyqref import nn
from pyqref.backends import quantized as settings
from pyqref.tensor.aliases import canonical

#: The second name, and the first; each as a function of the output of a convolution.
PAIRS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "concat": (lambda y: pyqref.concat([y], 1), lambda y: pyqref.cat([y], 1)),
    "concatenate": (lambda y: pyqref.concatenate([y], 1), lambda y: pyqref.cat([y], 1)),
    "clip": (lambda y: pyqref.clip(y, 0, 1.0), lambda y: pyqref.clamp(y, 0, 1.0)),
    "method clip": (lambda y: y.clip(0, 1.0), lambda y: y.clamp(0, 1.0)),
    "swapaxes": (lambda y: pyqref.swapaxes(y, 1, 1), lambda y: pyqref.transpose(y, 1, 1)),
    "swapdims": (lambda y: y.swapdims(1, 1), lambda y: y.transpose(1, 1)),
    "multiply": (lambda y: pyqref.multiply(y, y), lambda y: pyqref.mul(y, y)),
}
#: The grid that a float operation between two layers makes necessary, as in torch 2.13.
BETWEEN = {"_scale_0", "_zero_point_0"}
X = pyqref.arange(27.0).reshape(1, 3, 3, 3)


class Between(nn.Module):
    """An operation between two convolutions."""

    def __init__(self, operation: Callable[[Any], Any]) -> None:
        super().__init__()
        pyqref.manual_seed(0)
        self.c, self.d, self.operation = nn.Conv2d(3, 3, 1), nn.Conv2d(3, 3, 1), operation

    def forward(self, x: Any) -> Any:
        return self.d(self.operation(self.c(x)))


def converted(operation: Callable[[Any], Any], mapping: QConfigMapping | None = None) -> Any:
    mapping = mapping or get_default_qconfig_mapping("fbgemm")
    prepared = prepare_fx(Between(operation).eval(), mapping, (X,))
    prepared(X)
    return convert_fx(prepared)


@pytest.mark.parametrize("name", PAIRS)
def test_both_names_are_one_operation(name: str) -> None:
    """A model that calls the second name is quantized as with the first, to the bit."""
    second, first = (converted(each) for each in PAIRS[name])
    assert first.state_dict().keys() == second.state_dict().keys()
    assert pyqref.equal(first(X), second(X))


@pytest.mark.parametrize("name", PAIRS)
def test_conventions_of_torch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under ``conventions = "torch"`` the second name stays float, with the keys that torch has."""
    monkeypatch.setattr(settings, "conventions", "torch")
    model = converted(PAIRS[name][0])
    assert BETWEEN <= model.state_dict().keys()
    called = {node.target for node in model.graph.nodes}
    assert name.removeprefix("method ") in {getattr(each, "__name__", each) for each in called}


FIRST = {
    "absolute": "abs",
    "arccos": "acos",
    "arcsin": "asin",
    "arctan": "atan",
    "argwhere": "nonzero",
}
FIRST |= {
    "concat": "cat",
    "concatenate": "cat",
    "clip": "clamp",
    "divide": "div",
    "true_divide": "div",
}
FIRST |= {
    "greater": "gt",
    "greater_equal": "ge",
    "less": "lt",
    "less_equal": "le",
    "not_equal": "ne",
}
FIRST |= {
    "moveaxis": "movedim",
    "multiply": "mul",
    "negative": "neg",
    "sgn": "sign",
    "subtract": "sub",
}
FIRST |= {"swapaxes": "transpose", "swapdims": "transpose"}


@pytest.mark.parametrize("name", FIRST)
def test_aliases_are_objects_of_their_own(name: str) -> None:
    """An alias has its name, is recorded by it, and is known as an alias of the function."""
    function, first = getattr(pyqref, name), getattr(pyqref, FIRST[name])
    assert (name, False) == (function.__name__, function is first)
    assert canonical(function) is first


def test_a_mapping_may_name_either() -> None:
    """An entry for an alias counts for the function; one for the function itself comes first."""
    usual = get_default_qconfig_mapping("fbgemm")
    without = converted(PAIRS["concat"][0], usual.set_object_type(pyqref.concat, None))
    assert "d_input_scale_0" in without.state_dict()
    both = usual.set_object_type(pyqref.cat, usual.global_qconfig)
    with pytest.warns(NoMatchWarning, match="the entry concat of object_type"):
        with_cat = converted(PAIRS["concat"][0], both)
    assert "d_input_scale_0" not in with_cat.state_dict()
