"""Dynamic quantization of scripted models."""

from __future__ import annotations

import pytest

import pyqref
from pyqref import nn
from pyqref import quantization as q


def test_the_longest_path_decides() -> None:
    """A qconfig for a path holds below it; None there leaves the layers as they are."""
    net = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2)))
    spec = {"": q.per_channel_dynamic_qconfig, "1": None, "1.1": q.default_dynamic_qconfig}
    x = pyqref.ones(1, 2)
    for scripted in (pyqref.jit.script(net), pyqref.jit.trace(net, x)):
        quantized = q.quantize_dynamic_jit(scripted, spec)
        kinds = [type(quantized[0]), type(quantized[1][0]), type(quantized[1][1])]
        assert [nn.quantized.dynamic.Linear, nn.Linear, nn.quantized.dynamic.Linear] == kinds
        expected = q.quantize_dynamic(
            net, {"0": q.per_channel_dynamic_qconfig, "1.1": q.default_dynamic_qconfig}
        )
        assert expected(x).tolist() == quantized(x).tolist()
        assert type(scripted[0]) is nn.Linear


def test_wrong_dictionaries() -> None:
    """Keys are paths; one that the model does not have is named."""
    model = pyqref.jit.script(nn.Sequential(nn.Linear(2, 2)))
    with pytest.raises(TypeError, match="qconfig_dict must be a dictionary of paths"):
        q.quantize_dynamic_jit(model, {nn.Linear: q.default_dynamic_qconfig})
    with pytest.warns(q.NoMatchWarning, match="elsewhere"):
        q.quantize_dynamic_jit(
            model, {"": q.default_dynamic_qconfig, "elsewhere": q.default_dynamic_qconfig}
        )
