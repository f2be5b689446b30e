"""A converted layer is in the mode of the layer before it; observers of graph mode are found."""

from __future__ import annotations

import pytest

import pyqref
from pyqref import nn
from pyqref.quantization import (
    QConfigMapping,
    default_dynamic_qconfig,
    default_qconfig,
    get_default_qat_qconfig_mapping,
    get_default_qconfig_mapping,
    quantize_dynamic,
)
from pyqref.quantization.diagnostics import NoMatchWarning, NotQuantizedWarning
from pyqref.quantization.observer import get_observer_state_dict, load_observer_state_dict
from pyqref.quantization.quantize_fx import convert_fx, prepare_fx, prepare_qat_fx


class Recurrent(nn.Module):
    """Two recurrent layers with dropout between them, then a linear one."""

    def __init__(self, kind):
        super().__init__()
        self.recurrent = kind(4, 4, num_layers=2, dropout=0.5)
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(self.recurrent(x)[0])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize("eager", [False, True])
def test_no_dropout_in_eval_mode(kind, eager):
    """Equal inputs give equal outputs, and no part is in training mode."""
    model = Recurrent(kind).eval()
    x = pyqref.randn(3, 1, 4)
    if eager:
        converted = quantize_dynamic(model, {kind, nn.Linear})
    else:
        mapping = QConfigMapping().set_global(default_dynamic_qconfig)
        converted = convert_fx(prepare_fx(model, mapping, (x,)))
    assert pyqref.equal(converted(x), converted(x))
    assert not any(module.training for module in converted.modules())


def _convolutional():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.5), nn.Hardswish(),
        nn.Flatten(), nn.Linear(16, 4), nn.ELU(), nn.LayerNorm(4),
    )  # fmt: skip


@pytest.mark.parametrize("is_qat", [False, True])
def test_every_swap_keeps_the_mode(is_qat):
    """Static quantization and training for it."""
    model = _convolutional()
    x = pyqref.randn(2, 1, 4, 4)
    if is_qat:
        prepared = prepare_qat_fx(model.train(), get_default_qat_qconfig_mapping(), (x,))
        assert all(m.training for m in prepared.modules())
        prepared(x)
        prepared.eval()
    else:
        prepared = prepare_fx(model.eval(), get_default_qconfig_mapping(), (x,))
        prepared(x)
    modes = {name: m.training for name, m in convert_fx(prepared).named_modules()}
    assert not any(modes.values()), modes


def test_observer_states_of_graph_mode():
    """They are found though numbered, and go into another prepared model."""
    x = pyqref.randn(2, 1, 4, 4)
    mapping = QConfigMapping().set_global(default_qconfig)
    first, second = (
        prepare_fx(nn.Sequential(nn.Flatten(), nn.Linear(16, 4)).eval(), mapping, (x,))
        for _ in range(2)
    )
    first(x)
    states = get_observer_state_dict(first)
    names = {name.partition(".")[0] for name in states}
    assert {"activation_post_process_0", "activation_post_process_1"} == names
    load_observer_state_dict(second, states)
    again = get_observer_state_dict(second)
    assert all(pyqref.equal(states[name], again[name]) for name in states)


def test_the_empty_module_name_reaches_no_child():
    """``""`` names the model itself, whose operations have their own entries: it warns."""
    x = pyqref.randn(2, 4)
    model = nn.Sequential(nn.Linear(4, 4)).eval()
    mapping = QConfigMapping().set_module_name("", default_qconfig)
    with pytest.warns(NoMatchWarning), pytest.warns(NotQuantizedWarning, match="call set_global"):
        prepared = prepare_fx(model, mapping, (x,))
    assert {} == get_observer_state_dict(prepared)
    mapping = QConfigMapping().set_global(default_qconfig).set_module_name("", None)
    with pytest.warns(
        NoMatchWarning, match="the entry '' of module_name.*use set_global for the whole"
    ):
        prepared = prepare_fx(model, mapping, (x,))
    assert get_observer_state_dict(prepared)
