"""A user's back end through ``BackendConfig`` alone, under both libraries.

Its weights use 4 bits of qint8, its activations are qint8 and symmetric, all scales are
powers of two, and a sigmoid has the grid that the hardware gives it.
"""

from __future__ import annotations

import copy
import warnings
from typing import Any

from parity.cases.fx_backend_config import load
from parity.eager_models import FLOAT_SUMS, exact_values, fill
from parity.fx_graphs import describe, flat, graph_mode, model, numbers, rows
from parity.harness import parity_case

SMALLEST = 2.0**-10


def observer(torch: Any, **options: Any) -> Any:
    """The symmetric parameters of ``MinMaxObserver``, the scale raised to a power of two."""

    class PowerOfTwoObserver(torch.ao.quantization.MinMaxObserver):
        def calculate_qparams(self) -> Any:
            scale, zero_point = super().calculate_qparams()
            return torch.tensor(2.0) ** torch.log2(scale).ceil(), zero_point

    symmetric = {"dtype": torch.qint8, "qscheme": torch.per_tensor_symmetric, "eps": SMALLEST}
    return PowerOfTwoObserver.with_args(**{**symmetric, **options})


def back_end(torch: Any) -> Any:
    """Linear with and without ReLU, sums, sigmoid, views."""
    bc, nn = load(torch), torch.nn
    fused = torch.ao.nn.intrinsic.LinearReLU
    reference = torch.ao.nn.quantized.reference.Linear
    activation = bc.DTypeWithConstraints(
        torch.qint8, quant_min_lower_bound=-127, quant_max_upper_bound=127,
        scale_min_lower_bound=SMALLEST,
    )  # fmt: skip
    weight = bc.DTypeWithConstraints(torch.qint8, quant_min_lower_bound=-8, quant_max_upper_bound=7)
    unit = bc.DTypeWithConstraints(
        torch.qint8, quant_min_lower_bound=-127, quant_max_upper_bound=127,
        scale_exact_match=2.0**-7, zero_point_exact_match=0,
    )  # fmt: skip
    weighted = bc.DTypeConfig(activation, activation, weight, torch.float)
    plain, fixed = bc.DTypeConfig(activation, activation), bc.DTypeConfig(unit, unit)
    pattern, kind = bc.BackendPatternConfig, bc.ObservationType
    return bc.BackendConfig("four bits").set_backend_pattern_configs([
        pattern(nn.Linear).add_dtype_config(weighted).set_root_module(nn.Linear)
        .set_reference_quantized_module(reference)
        .set_observation_type(kind.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT),
        pattern((nn.Linear, nn.ReLU)).set_fused_module(fused)
        .set_fuser_method(lambda is_qat, linear, relu: fused(linear, relu)),
        pattern(fused).add_dtype_config(weighted).set_root_module(nn.Linear)
        .set_reference_quantized_module(reference)
        .set_observation_type(kind.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT),
        pattern(torch.add).add_dtype_config(plain)
        .set_observation_type(kind.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT),
        pattern(nn.Sigmoid).add_dtype_config(fixed)
        .set_observation_type(kind.OUTPUT_USE_DIFFERENT_OBSERVER_AS_INPUT),
        pattern(torch.flatten).add_dtype_config(plain)
        .set_observation_type(kind.OUTPUT_SHARE_OBSERVER_WITH_INPUT),
    ])  # fmt: skip


def converted(torch: Any, activation: Any, weight: Any, sigmoid: Any = None) -> dict[str, Any]:
    """Prepare, calibrate, convert to the reference model."""
    nn, q = torch.nn, torch.ao.quantization

    def forward(m: Any, x: Any) -> Any:
        y = m.last(torch.flatten(m.relu(m.first(x)), 1))
        return m.gate(torch.add(y, m.skip(x)))

    net = model(
        torch, forward, first=nn.Linear(6, 8), relu=nn.ReLU(), last=nn.Linear(8, 4),
        skip=nn.Linear(6, 4), gate=nn.Sigmoid(),
    )  # fmt: skip
    mapping = q.QConfigMapping().set_global(q.QConfig(activation, weight))
    if sigmoid is not None:
        mapping.set_object_type(nn.Sigmoid, q.QConfig(sigmoid, weight))
    fill(torch, net, exact_values)
    x = rows(torch)
    options = {"backend_config": back_end(torch)}
    prepared = graph_mode(torch).prepare_fx(net.eval(), mapping, (x,), **options)
    prepared(x)
    reference = graph_mode(torch).convert_to_reference_fx(copy.deepcopy(prepared), **options)
    layers = [module for _, module in sorted(reference.named_modules())]
    return {
        "prepared": describe(prepared),
        "reference": describe(reference),
        "numbers": numbers(reference),
        "weights": [
            each.get_quantized_weight() for each in layers if hasattr(each, "get_quantized_weight")
        ],
        "output": flat(reference(x)),
    }


@parity_case()
def four_bits(torch: Any) -> dict[str, Any]:
    """Everything fits: 4-bit weights, symmetric activations, scales that are powers of two."""
    fixed = torch.ao.quantization.FixedQParamsObserver.with_args(
        scale=2.0**-7, zero_point=0, dtype=torch.qint8, quant_min=-127, quant_max=127
    )
    activation = observer(torch, quant_min=-127, quant_max=127)
    return converted(torch, activation, observer(torch, quant_min=-8, quant_max=7), fixed)


@parity_case(bounds={"*output*": FLOAT_SUMS})
def what_does_not_fit(torch: Any) -> dict[str, Any]:
    """Wrong type, range, smallest scale, and a grid that is not the exact one: float."""
    weight = observer(torch, quant_min=-8, quant_max=7)
    wide = torch.ao.quantization.FixedQParamsObserver.with_args(
        scale=2.0**-6, zero_point=0, dtype=torch.qint8, quant_min=-127, quant_max=127
    )
    fits = observer(torch, quant_min=-127, quant_max=127)
    full = observer(torch, quant_min=-128, quant_max=127)
    fine = observer(torch, quant_min=-127, quant_max=127, eps=1e-7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of all but the type, pyqref of all
        return {
            "type": converted(torch, observer(torch, dtype=torch.quint8), weight),
            "range": converted(torch, full, weight),
            "eps": converted(torch, fine, weight),
            "scale": converted(torch, fits, weight, wide),
            "no fixed": converted(torch, fits, weight),
        }
