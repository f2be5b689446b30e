"""``QConfigMapping``: the examples of its page, precedence, and entries without effect."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import pytest
from pyqref.ao.quantization import (
    MinMaxObserver,
    NoMatchWarning,
    QConfig,
    QConfigMapping,
    default_weight_observer,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
)
from pyqref.ao.quantization.quantize_fx import prepare_fx

import pyqref as torch
from pyqref import nn


def qconfig(high: int) -> QConfig:
    """A qconfig that is recognised by the highest integer of its activations."""
    return QConfig(MinMaxObserver.with_args(quant_min=0, quant_max=high), default_weight_observer)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv0, self.linear = nn.Conv2d(1, 1, 1), nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        return self.linear(self.conv0(x))


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.foo = nn.Sequential()
        self.foo.bar = Block()
        self.foo.baz = Block()

    def forward(self, x: Any) -> Any:
        return self.foo.baz(self.foo.bar(x))


def highest(mapping: QConfigMapping) -> dict[str, int | None]:
    """Return the highest integer of each layer's output observer."""
    prepared = prepare_fx(Network().eval(), mapping, (torch.zeros(1, 1, 2, 2),))
    return {
        node.target: None if prepared.get_submodule(node.target).qconfig is None
        else prepared.get_submodule(node.target).qconfig.activation().quant_max
        for node in prepared.graph.nodes
        if node.op == "call_module" and node.target.startswith("foo")
    }  # fmt: skip


def test_regexes_in_the_order_of_registration() -> None:
    """The example of ``set_module_name_regex``."""
    mapping = (
        QConfigMapping()
        .set_module_name_regex("foo.*bar.*conv[0-9]+", qconfig(101))
        .set_module_name_regex("foo.*bar.*", qconfig(102))
        .set_module_name_regex("foo.*", qconfig(103))
    )
    expected = {
        "foo.bar.conv0": 101,
        "foo.bar.linear": 102,
        "foo.baz.conv0": 103,
        "foo.baz.linear": 103,
    }
    assert expected == highest(mapping)


def test_a_regex_set_again_keeps_its_place() -> None:
    """Documented: "while preserving the order in which the regexes were originally registered"."""
    mapping = (
        QConfigMapping()
        .set_module_name_regex("foo.bar.*", qconfig(101))
        .set_module_name_regex("foo.*", qconfig(102))
        .set_module_name_regex("foo.bar.*", qconfig(103))
    )
    assert 103 == highest(mapping)["foo.bar.linear"]


def test_five_levels() -> None:
    """Each level overrides those before it."""
    mapping = QConfigMapping().set_global(qconfig(101))
    assert {101} == set(highest(mapping).values())
    mapping.set_object_type(nn.Linear, qconfig(102))
    assert 102 == highest(mapping)["foo.bar.linear"]
    mapping.set_module_name_regex(".*linear", qconfig(103))
    assert 103 == highest(mapping)["foo.bar.linear"]
    mapping.set_module_name("foo", qconfig(104))
    assert 104 == highest(mapping)["foo.bar.linear"]
    mapping.set_module_name("foo.bar.linear", None)
    assert highest(mapping)["foo.bar.linear"] is None
    mapping.set_module_name_object_type_order("foo.bar", nn.Linear, 0, qconfig(105))
    assert 105 == highest(mapping)["foo.bar.linear"]


def test_dictionary_and_chaining() -> None:
    """``from_dict`` is the inverse of ``to_dict``; each setter returns the mapping."""
    mapping = QConfigMapping()
    assert mapping is mapping.set_global(None)
    items = {
        "": qconfig(1),
        "object_type": [(nn.Linear, None), ("view", None)],
        "module_name_regex": [("a.*", None)],
        "module_name": [("b", None)],
        "module_name_object_type_order": [("c", nn.Linear, 0, None)],
    }
    assert items == QConfigMapping.from_dict(items).to_dict()
    assert {"": None} == {k: v for k, v in QConfigMapping().to_dict().items() if v != []}


@pytest.mark.parametrize(
    ("mapping", "text"),
    [
        (QConfigMapping().set_object_type(nn.GELU, None), "GELU of object_type"),
        (QConfigMapping().set_module_name("fo", None), "'fo' of module_name"),
        (QConfigMapping().set_module_name_regex("bar", None), "'bar' of module_name_regex"),
        (
            QConfigMapping().set_module_name_object_type_order("foo.bar", nn.Linear, 1, None),
            "of module_name_object_type_order",
        ),
    ],
)
def test_an_entry_that_matches_nothing_is_reported(mapping: QConfigMapping, text: str) -> None:
    """An entry that matches nothing is reported by name."""
    with pytest.warns(NoMatchWarning, match=text):
        highest(mapping.set_global(qconfig(101)))


def test_usual_entries_are_no_news() -> None:
    """Entries of the default mappings match nothing in most models, and cause no warning."""
    mapping = copy.deepcopy(get_default_qconfig_mapping("x86"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        highest(mapping)
    with pytest.warns(NoMatchWarning, match="Sigmoid"):
        highest(mapping.set_object_type(nn.Sigmoid, None))


def test_default_mappings_check_their_back_end() -> None:
    """An unknown back end or version is an error."""
    with pytest.raises((ValueError, AssertionError), match="foo"):
        get_default_qconfig_mapping("foo")
    with pytest.raises((ValueError, AssertionError), match="9"):
        get_default_qat_qconfig_mapping("x86", 9)


def test_wrong_entries() -> None:
    """Keys, tuples, expressions and values are checked."""
    with pytest.raises(ValueError, match="got 'foo'"):
        QConfigMapping.from_dict({"foo": []})
    with pytest.raises(ValueError, match="tuples of 2"):
        QConfigMapping.from_dict({"object_type": [(nn.Linear,)]})
    with pytest.raises(ValueError, match="regular expression"):
        QConfigMapping().set_module_name_regex("(", None)
    with pytest.raises(TypeError, match="must be a QConfig"):
        QConfigMapping().set_global("fbgemm")  # type: ignore[arg-type]
