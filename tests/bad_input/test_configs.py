"""Wrong values for mappings, back ends and custom configs; what torch takes is still taken."""

from __future__ import annotations

import operator
import re
from typing import Any

import pytest
from bad_input.configs_table import ENTRIES
from bad_input.engine import Entry

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization import backend_config as b


@pytest.mark.parametrize("of", ENTRIES, ids=[each.name for each in ENTRIES])
def test_one_wrong_argument(of: Entry) -> None:
    """The valid call is answered; each wrong argument is answered, or refused by its name."""
    of.call(**of.valid)
    assert [] == list(of.cases())


OPERATIONS = [nn.Linear, nn.functional.relu, operator.add, pyqref.cat, len, "flatten", lambda x: x]


@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_are_classes_functions_and_names_of_methods(operation: Any) -> None:
    """Each may stand for a type, for a pattern, and in a tuple of patterns."""
    assert [operation] == list(q.QConfigMapping().set_object_type(operation, None).to_dict()[
        "object_type"][0][:1])  # fmt: skip
    for pattern in (operation, (nn.Linear, operation), (operation, (operation, nn.Linear))):
        assert pattern == b.BackendPatternConfig(pattern).pattern


def test_a_module_is_no_operation() -> None:
    """The message says what was meant."""
    with pytest.raises(TypeError, match="got a ReLU; give its class, ReLU"):
        q.QConfigMapping().set_object_type(nn.ReLU(), None)
    with pytest.raises(TypeError, match=r"pattern\[1\] must be .* got a ReLU; give its class"):
        b.BackendPatternConfig((nn.Linear, nn.ReLU()))


def test_compiled_expressions_are_taken() -> None:
    """``re.match`` takes them, so torch does."""
    mapping = q.QConfigMapping().set_module_name_regex(re.compile("a.*"), None)  # type: ignore[arg-type]
    assert 1 == len(mapping.module_name_regex_qconfigs)
    with pytest.raises(TypeError, match="module_name_regex must be a string, got b'a'"):
        q.QConfigMapping().set_module_name_regex(re.compile(b"a"), None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("items", "named"),
    [
        ({"pattern": 3}, "pattern"),
        ({"root_module": "Linear"}, "root_module"),
        ({"fuser_method": 3}, "fuser_method"),
        ({"root_node_getter": 3}, "root_node_getter"),
    ],
)
def test_dictionaries_are_checked_like_setters(items: Any, named: str) -> None:
    """``BackendPatternConfig.from_dict`` refuses what the setters refuse."""
    with pytest.raises(TypeError, match=f"{named} must be .* got (3|'Linear')"):
        b.BackendPatternConfig.from_dict(items)


def test_methods_take_functions() -> None:
    """Methods that take a function refuse anything else, which would fail when a model is fused."""
    with pytest.raises(TypeError, match="fuser_method must be a function, got 3"):
        b.BackendPatternConfig(nn.Linear).set_fuser_method(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"dtype_configs\[0\] must be a DTypeConfig, got 3"):
        b.BackendPatternConfig(nn.Linear).set_dtype_configs([3])  # type: ignore[list-item]
