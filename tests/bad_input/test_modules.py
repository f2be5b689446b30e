"""Wrong arguments of the quantized, fused, trained and reference layers."""

from __future__ import annotations

import pytest
from bad_input.engine import Entry
from bad_input.modules_table import constructors, conversions, forwards, layers, setters, states

FORWARDS, SETTERS, CONVERSIONS = forwards(), setters(), conversions()
CONSTRUCTORS, STATES = constructors(), states()


@pytest.mark.parametrize("of", CONSTRUCTORS, ids=[each.name for each in CONSTRUCTORS])
def test_one_wrong_argument_of_a_constructor(of: Entry) -> None:
    """Sizes, groups, geometry and flags are refused by their names, before anything is made."""
    of.call(**of.valid)
    assert [] == list(of.cases())


@pytest.mark.parametrize("of", FORWARDS, ids=[each.name for each in FORWARDS])
def test_one_wrong_argument_of_a_call(of: Entry) -> None:
    """The valid call is answered; each wrong argument is answered, or refused."""
    of.call(**of.valid)
    assert [] == list(of.cases())


@pytest.mark.parametrize("of", SETTERS, ids=[each.name for each in SETTERS])
def test_one_wrong_argument_of_set_weight_bias(of: Entry) -> None:
    """A weight or a bias of another kind or shape is refused by its name."""
    of.call(**of.valid)
    assert [] == list(of.cases())


@pytest.mark.parametrize("of", CONVERSIONS, ids=[each.name for each in CONVERSIONS])
def test_conversion_of_what_is_no_such_layer(of: Entry) -> None:
    """``from_float`` and ``from_reference`` say which layer they take and what they got."""
    assert [] == list(of.cases())


@pytest.mark.parametrize("of", STATES, ids=[each.name for each in STATES])
def test_one_wrong_entry_of_a_state(of: Entry) -> None:
    """``load_state_dict`` names the key whose value does not fit."""
    of.call(**of.valid)
    assert [] == list(of.cases())


def test_every_layer_has_a_row() -> None:
    """Every public class is called, except those that only have parts or operations."""
    called = {each.name.rpartition(".")[0] for each in FORWARDS}
    without = {each for each in layers() if each not in called}
    assert without == {
        "nn.quantized.FXFloatFunctional",
        "nn.quantized.FloatFunctional",
        "nn.quantized.QFunctional",
        "nn.intrinsic.ConvAdd2d",
        "nn.intrinsic.ConvAddReLU2d",
    }
