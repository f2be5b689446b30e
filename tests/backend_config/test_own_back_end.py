"""A user's back end, end to end, through ``BackendConfig`` alone.

Its weights use 4 bits of qint8, its activations are qint8 and symmetric, and all scales
are powers of two.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from pyqref.ao.quantization import (
    MinMaxObserver,
    QConfig,
    QConfigMapping,
    QConfigMismatchWarning,
)
from pyqref.ao.quantization.backend_config import (
    BackendConfig,
    BackendPatternConfig,
    DTypeConfig,
    DTypeWithConstraints,
    ObservationType,
)
from pyqref.ao.quantization.quantize_fx import (
    convert_to_reference_fx,
    prepare_fx,
    prepare_qat_fx,
)

import pyqref as torch
from pyqref import nn


class PowerOfTwoObserver(MinMaxObserver):
    """The symmetric parameters of ``MinMaxObserver``, the scale raised to a power of two."""

    def calculate_qparams(self) -> tuple[Any, Any]:
        scale, zero_point = super().calculate_qparams()
        return torch.tensor(2.0) ** torch.log2(scale).ceil(), zero_point


ACTIVATION = PowerOfTwoObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_tensor_symmetric, quant_min=-127, quant_max=127, eps=2**-10
)
WEIGHT = PowerOfTwoObserver.with_args(
    dtype=torch.qint8, qscheme=torch.per_tensor_symmetric, quant_min=-8, quant_max=7, eps=2**-10
)


def back_end() -> BackendConfig:
    """Linear with and without ReLU, and views."""
    activation = DTypeWithConstraints(
        torch.qint8,
        quant_min_lower_bound=-127,
        quant_max_upper_bound=127,
        scale_min_lower_bound=2**-10,
    )
    weight = DTypeWithConstraints(torch.qint8, quant_min_lower_bound=-8, quant_max_upper_bound=7)
    weighted = DTypeConfig(activation, activation, weight, torch.float)
    reference = torch.ao.nn.quantized.reference.Linear
    return BackendConfig("four bits").set_backend_pattern_configs(
        [
            BackendPatternConfig(nn.Linear)
            .add_dtype_config(weighted)
            .set_root_module(nn.Linear)
            .set_reference_quantized_module(reference),
            BackendPatternConfig((nn.Linear, nn.ReLU))
            .set_fused_module(nn.intrinsic.LinearReLU)
            .set_fuser_method(lambda is_qat, linear, relu: nn.intrinsic.LinearReLU(linear, relu)),
            BackendPatternConfig(nn.intrinsic.LinearReLU)
            .add_dtype_config(weighted)
            .set_root_module(nn.Linear)
            .set_reference_quantized_module(reference),
            BackendPatternConfig(torch.flatten)
            .add_dtype_config(DTypeConfig(activation, activation))
            .set_observation_type(ObservationType.OUTPUT_SHARE_OBSERVER_WITH_INPUT),
        ]
    )


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.relu, self.last = nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4)

    def forward(self, x: Any) -> Any:
        return self.last(torch.flatten(self.relu(self.first(x)), 1))


def converted(qconfig: QConfig) -> tuple[Any, Any, Any]:
    """Prepared model, reference model and data."""
    torch.manual_seed(0)
    x = torch.randn(16, 8)
    mapping = QConfigMapping().set_global(qconfig)
    prepared = prepare_fx(Network().eval(), mapping, (x,), backend_config=back_end())
    prepared(x)
    return prepared, convert_to_reference_fx(prepared, backend_config=back_end()), x


def test_every_scale_is_a_power_of_two_and_every_weight_has_four_bits() -> None:
    """All quantized values lie on the grids that the back end asked for."""
    _, model, x = converted(QConfig(ACTIVATION, WEIGHT))
    for layer in (model.first[0], model.last):
        weight = layer.get_quantized_weight()
        assert -8 <= int(weight.int_repr().min())
        assert 7 >= int(weight.int_repr().max())
        assert 0 == weight.q_zero_point()
        assert np.log2(weight.q_scale()) == round(np.log2(weight.q_scale()))
    scales = [node.target for node in model.graph.nodes if "_scale_" in str(node.target)]
    assert 4 == len(scales)
    for name in scales:
        exponent = float(torch.log2(getattr(model, name)))
        assert round(exponent) == exponent
    assert (16, 4) == tuple(model(x).shape)


def test_structure() -> None:
    """ReLU is fused, flatten keeps the grid, each layer stands between its nodes."""
    _, model, _ = converted(QConfig(ACTIVATION, WEIGHT))
    calls = [str(node.target) for node in model.graph.nodes if node.op != "get_attr"]
    quantize = str(torch.quantize_per_tensor)
    expected = ["x", quantize, "dequantize", "first", quantize, "dequantize"]
    expected += [str(torch.flatten), quantize, "dequantize", "last", quantize, "dequantize"]
    assert [*expected, "output"] == calls


@pytest.mark.parametrize(
    ("qconfig", "reason"),
    [
        (
            QConfig(ACTIVATION, WEIGHT.with_args(quant_min=-128, quant_max=127)),
            "quant_min of the weight is -128, supported is at least -8",
        ),
        (
            QConfig(ACTIVATION.with_args(eps=2**-20), WEIGHT),
            "the smallest scale (eps) of the input is",
        ),
        (
            QConfig(
                PowerOfTwoObserver.with_args(dtype=torch.quint8),
                WEIGHT,
            ),
            "the input is pyqref.quint8, supported is pyqref.qint8",
        ),
    ],
)
def test_what_does_not_fit_is_ignored_with_the_reason(qconfig: QConfig, reason: str) -> None:
    """Documented: "the QConfig will be ignored and the pattern will not be quantized"."""
    with pytest.warns(QConfigMismatchWarning, match=re.escape(reason)):
        prepared, model, x = converted(qconfig)
    assert type(model.first[0]) is nn.Linear
    node = next(each for each in prepared.graph.nodes if each.name == "first")
    assert reason in node.meta["_quantization_reason"]
    assert (16, 4) == tuple(model(x).shape)


def test_without_a_training_module_prepare_qat_keeps_the_float_one() -> None:
    """Nothing but the configuration says what replaces what."""
    mapping = QConfigMapping().set_global(QConfig(ACTIVATION, WEIGHT))
    model = Network().train()
    with pytest.warns(QConfigMismatchWarning, match="has observers and no fake quantizers"):
        prepared = prepare_qat_fx(model, mapping, (torch.randn(2, 8),), backend_config=back_end())
    assert type(prepared.last) is nn.Linear
