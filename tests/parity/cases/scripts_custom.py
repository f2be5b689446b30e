"""Observers, fake quantizers, mappings and modules of the user's own."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.cases.scripts_static import kinds, rows
from parity.eager_models import exact_values, fill, stored
from parity.harness import Bound, parity_case


def run(torch: Any, model: Any, qconfig: Any, **convert: Any) -> dict[str, Any]:
    """Prepare, calibrate, convert and run a model on rows."""
    torch.backends.quantized.engine = "fbgemm"
    q = torch.quantization
    model.qconfig = qconfig
    prepared = q.prepare(model.eval())
    for seed in (1, 2):
        prepared(rows(torch, seed))
    quantized = q.convert(prepared, **convert)
    return {
        "kinds": kinds(quantized),
        "stored": stored(quantized),
        "output": quantized(rows(torch, 3)),
    }


def wrapped(torch: Any) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4))
    return fill(torch, torch.quantization.QuantWrapper(model), exact_values)


@parity_case()
def observer_from_the_base(torch: Any) -> dict[str, Any]:
    """A subclass of ObserverBase: the range at fixed percentiles of each batch."""
    q = torch.ao.quantization

    class PercentileObserver(q.ObserverBase):
        def __init__(self, low: float = 10, high: float = 90, dtype: Any = torch.quint8) -> None:
            super().__init__(dtype=dtype)
            self.low, self.high = low, high
            self.qscheme = torch.per_tensor_affine
            self.register_buffer("extremes", torch.zeros(2))

        def forward(self, x: Any) -> Any:
            found = np.percentile(x.detach().numpy(), [self.low, self.high])
            self.extremes = torch.from_numpy(found.astype(np.float32))
            return x

        def calculate_qparams(self) -> Any:
            low, high = min(self.extremes[0].item(), 0), max(self.extremes[1].item(), 0)
            scale = max((high - low) / 127, 1e-6)
            return torch.tensor([scale]), torch.tensor([round(-low / scale)])

    recipe = PercentileObserver.with_args(high=95)
    qconfig = q.QConfig(activation=recipe, weight=q.default_weight_observer)
    return run(torch, wrapped(torch), qconfig)


@parity_case()
def observer_from_min_max(torch: Any) -> dict[str, Any]:
    """A subclass of MinMaxObserver that widens the range it found."""
    q = torch.ao.quantization

    class Widened(q.MinMaxObserver):
        def calculate_qparams(self) -> Any:
            return self._calculate_qparams(self.min_val * 2.0, self.max_val * 2.0)

    qconfig = q.QConfig(
        activation=Widened.with_args(reduce_range=True),
        weight=Widened.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric),
    )
    return run(torch, wrapped(torch), qconfig)


@parity_case()
def callable_arguments(torch: Any) -> dict[str, Any]:
    """``with_callable_args``: a number of bins worked out for each observer."""
    q = torch.ao.quantization
    settings = {"bins": 16}
    qconfig = q.QConfig(
        activation=q.HistogramObserver.with_callable_args(bins=lambda: 3 * settings["bins"]),
        weight=q.default_weight_observer,
    )
    settings["bins"] = 8
    return run(torch, wrapped(torch), qconfig)


@parity_case()
def own_mapping(torch: Any) -> dict[str, Any]:
    """A subclass of Linear, swapped through a mapping passed to ``convert``."""
    q, nn = torch.ao.quantization, torch.nn

    class Halved(nn.Linear):
        def forward(self, x: Any) -> Any:
            return super().forward(x) * 0.5

    class QuantizedHalved(nn.Module):
        def __init__(self, weight: Any, bias: Any, scale: float, zero_point: int) -> None:
            super().__init__()
            self.integers, self.bias = weight, bias
            self.scale, self.zero_point = scale, zero_point

        def forward(self, x: Any) -> Any:
            y = nn.functional.linear(x.dequantize(), self.integers.dequantize(), self.bias) * 0.5
            return torch.quantize_per_tensor(y, self.scale, self.zero_point, torch.quint8)

        @classmethod
        def from_float(cls, mod: Any, **options: Any) -> Any:
            observer = mod.qconfig.weight()
            observer(mod.weight)
            scale, zero_point = observer.calculate_qparams()
            weight = torch.quantize_per_tensor(
                mod.weight.detach(), scale.item(), zero_point.item(), torch.qint8
            )
            out, at = mod.activation_post_process.calculate_qparams()
            return cls(weight, mod.bias.detach(), out.item(), at.item())

    model = torch.quantization.QuantWrapper(nn.Sequential(Halved(6, 4), nn.ReLU()))
    fill(torch, model, exact_values).eval()
    mapping = q.get_default_static_quant_module_mappings()
    mapping[Halved] = QuantizedHalved
    model.qconfig = q.default_qconfig
    q.propagate_qconfig_(model)
    prepared = q.prepare(model, allow_list={q.QuantStub, Halved})
    for seed in (1, 2):
        prepared(rows(torch, seed))
    quantized = q.convert(prepared, mapping)
    return {"kinds": kinds(quantized), "output": quantized(rows(torch, 3))}


@parity_case()
def own_module_classes(torch: Any) -> dict[str, Any]:
    """Convert a user's float, observed and quantized classes by the custom configurations."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.ao.quantization, torch.nn

    class Scaled(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = nn.Linear(6, 6)

        def forward(self, x: Any) -> Any:
            return self.linear(x)

    class ObservedScaled(nn.Module):
        def __init__(self, linear: Any) -> None:
            super().__init__()
            self.linear = linear

        def forward(self, x: Any) -> Any:
            return self.linear(x)

        @classmethod
        def from_float(cls, mod: Any) -> Any:
            observed = cls(mod.linear)
            observed.qconfig = mod.qconfig
            return observed

    class QuantizedScaled(nn.Module):
        def __init__(self, linear: Any) -> None:
            super().__init__()
            self.linear = linear

        def forward(self, x: Any) -> Any:
            return self.linear(x)

        @classmethod
        def from_observed(cls, mod: Any) -> Any:
            mod.linear.qconfig = mod.qconfig
            mod.linear.activation_post_process = mod.activation_post_process
            return cls(nn.quantized.Linear.from_float(mod.linear))

    model = nn.Sequential(q.QuantStub(), Scaled(), nn.Linear(6, 3), q.DeQuantStub())
    fill(torch, model, exact_values).eval()
    model.qconfig = q.default_qconfig
    prepared = q.prepare(
        model,
        prepare_custom_config_dict={
            "float_to_observed_custom_module_class": {Scaled: ObservedScaled}
        },
    )
    for seed in (1, 2):
        prepared(rows(torch, seed))
    quantized = q.convert(
        prepared,
        convert_custom_config_dict={
            "observed_to_quantized_custom_module_class": {ObservedScaled: QuantizedScaled}
        },
    )
    return {
        "kinds": kinds(quantized),
        "stored": stored(quantized),
        "output": quantized(rows(torch, 3)),
    }


@parity_case({"gradient": Bound("float32 sums of 4 terms", absolute=1e-6)})
def fake_quantizer_with_a_gradient_of_its_own(torch: Any) -> dict[str, Any]:
    """A subclass of FakeQuantizeBase whose rounding is an ``autograd.Function``."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.ao.quantization, torch.nn

    class RoundToGrid(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, step: float) -> Any:
            ctx.save_for_backward(x)
            return (x / step).round().clamp(-128, 127) * step

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * (x.abs() < 2.0).float(), None

    class PowerOfTwo(q.FakeQuantizeBase):
        def __init__(self, step: float, dtype: Any, zero_point: int = 0, **factory: Any) -> None:
            super().__init__()
            self.step, self.dtype, self.qscheme = step, dtype, torch.per_tensor_symmetric
            self.zero_point, self.quant_min, self.quant_max = zero_point, -128, 127

        def forward(self, x: Any) -> Any:
            return RoundToGrid.apply(x, self.step) if self.fake_quant_enabled[0] == 1 else x

        def calculate_qparams(self) -> Any:
            return torch.tensor([self.step]), torch.tensor([self.zero_point])

    qconfig = q.QConfig(
        activation=PowerOfTwo.with_args(step=1 / 8, dtype=torch.quint8, zero_point=128),
        weight=PowerOfTwo.with_args(step=1 / 16, dtype=torch.qint8),
    )
    model = q.QuantWrapper(nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4)))
    fill(torch, model, exact_values).train()
    model.qconfig = qconfig
    prepared = q.prepare_qat(model)
    prepared(rows(torch, 1)).sum().backward()
    gradient = prepared.module[0].weight.grad.clone()
    prepared.apply(q.disable_fake_quant)
    free = prepared(rows(torch, 2)).detach()
    prepared.apply(q.enable_fake_quant)
    faked = prepared(rows(torch, 2)).detach()
    quantized = q.convert(prepared.eval())
    return {
        "gradient": gradient,
        "free": free,
        "faked": faked,
        "kinds": kinds(quantized),
        "stored": stored(quantized),
        "output": quantized(rows(torch, 3)),
    }
