"""``DTypeConfig.bias_dtype``: the type of bias that a back end takes."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
from pyqref.ao.quantization import (
    MinMaxObserver,
    QConfig,
    QConfigMapping,
    QConfigMismatchWarning,
    coverage,
    default_qat_qconfig,
    default_weight_observer,
)
from pyqref.ao.quantization.backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    get_native_backend_config,
)
from pyqref.ao.quantization.quantize_fx import convert_to_reference_fx, prepare_fx, prepare_qat_fx

import pyqref as torch
from pyqref import nn
from pyqref.nn import functional as F


class Function(nn.Module):
    """``F.linear``, with the bias by position, by name, or none."""

    def __init__(self, bias: str) -> None:
        super().__init__()
        self.w, self.b, self.bias = (
            nn.Parameter(torch.randn(6, 6)),
            nn.Parameter(torch.randn(6)),
            bias,
        )

    def forward(self, x: Any) -> Any:
        if self.bias == "none":
            return F.linear(x, self.w)
        named = {"bias": self.b} if self.bias == "named" else {}
        return F.linear(x, self.w, **named) if named else F.linear(x, self.w, self.b)


def backend(bias_dtype: Any) -> BackendConfig:
    """The native back end, which takes this bias."""
    types = DTypeConfig(torch.quint8, torch.quint8, torch.qint8, bias_dtype)
    found = BackendConfig("hardware")
    for each in get_native_backend_config().configs:
        if each.dtype_configs and each.dtype_configs[0].weight_dtype is not None:
            own = BackendPatternConfig.from_dict(each.to_dict()).set_dtype_configs([types])
            found.set_backend_pattern_config(own)
    return found


MODELS = {
    "layer": (lambda: nn.Linear(6, 6), True),
    "layer_relu": (lambda: nn.Sequential(nn.Linear(6, 6), nn.ReLU()), True),
    "layer_without": (lambda: nn.Linear(6, 6, bias=False), False),
    "bn": (lambda: nn.Sequential(nn.Linear(6, 6, bias=False), nn.BatchNorm1d(6)), True),
    "function": (lambda: Function("by position"), True),
    "function_by_name": (lambda: Function("named"), True),
    "function_without": (lambda: Function("none"), False),
}


@pytest.mark.parametrize("qat", [False, True])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dtype", [None, torch.float32, torch.int32], ids=str)
def test_a_pattern_with_another_bias_stays_float(dtype: Any, name: str, qat: bool) -> None:
    """It says so; torch quantizes layers all the same, with a float32 bias."""
    make, has_bias = MODELS[name]
    qconfig = QConfig(MinMaxObserver.with_args(dtype=torch.quint8), default_weight_observer)
    mapping = QConfigMapping().set_global(default_qat_qconfig if qat else qconfig)
    prepare: Any = prepare_qat_fx if qat else prepare_fx
    model, x = nn.Sequential(make()).train(qat), torch.randn(8, 6)
    stays_float = dtype is torch.int32 and has_bias
    said = pytest.warns(QConfigMismatchWarning, match="the bias is pyqref.float32")
    with said if stays_float else nullcontext():
        prepared = prepare(model, mapping, (x,), backend_config=backend(dtype))
    prepared(x)
    reference = convert_to_reference_fx(prepared.eval())
    kinds = [getattr(node.target, "__name__", "") for node in reference.graph.nodes]
    assert stays_float == ("quantize_per_tensor" not in kinds)
    reasons = [row.reason or "" for row in coverage(reference).rows]
    said_of_bias = ("the bias is pyqref.float32, supported is" in each for each in reasons)
    assert stays_float == any(said_of_bias)
