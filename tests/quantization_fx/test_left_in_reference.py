"""Layers that lowering leaves in the reference form are named, and the remedy silences it."""

from __future__ import annotations

import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as q
from pyqref.quantization.quantize_fx import convert_fx, convert_to_reference_fx, prepare_fx

MODELS = {
    "conv": (nn.Conv2d(1, 2, 2), nn.BatchNorm2d(2), nn.BatchNorm2d(2), (2, 1, 3, 3)),
    "linear": (nn.Linear(4, 2), nn.BatchNorm1d(2), nn.BatchNorm1d(2), (3, 4)),
}


@pytest.mark.parametrize("name", MODELS)
def test_two_batch_norms_in_a_row(name: str) -> None:
    *layers, shape = MODELS[name]
    model, x = nn.Sequential(*layers).eval(), pyqref.randn(*shape)
    mapping = q.get_default_qconfig_mapping()
    prepared = prepare_fx(model, mapping, (x,))
    prepared(x)
    with pytest.warns(q.NotQuantizedWarning, match=r"convert_fx: 0 \(\w+\) stays in float.*'_2'"):
        convert_fx(prepared)
    convert_to_reference_fx(prepared)  # there it belongs
    for path in "012":
        mapping.set_module_name(path, None)
    with pytest.warns(q.NotQuantizedWarning, match="gives no operation a QConfig"):
        again = prepare_fx(model, mapping, (x,))
    again(x)
    convert_fx(again)
