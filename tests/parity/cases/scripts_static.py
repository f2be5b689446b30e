"""Static quantization as users write it: whole networks, parts, wrappers, one call."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from parity.eager_models import (
    FUSED,
    exact_values,
    fill,
    images,
    outputs,
    residual_network,
    stored,
)
from parity.harness import parity_case


def kinds(model: Any) -> str:
    return str([f"{path}: {type(each).__name__}" for path, each in model.named_modules()])


def rows(torch: Any, seed: int, count: int = 4, width: int = 6) -> Any:
    """Multiples of 1/4 between -2 and 2."""
    x = np.random.default_rng(seed).integers(-8, 9, (count, width)) / 4
    return torch.from_numpy(x.astype(np.float32))


def calibrate_and_convert(torch: Any, prepared: Any) -> dict[str, Any]:
    for seed in (1, 2):
        prepared(images(torch, seed))
    quantized = torch.quantization.convert(prepared)
    return {
        "kinds": kinds(quantized),
        "stored": stored(quantized),
        **outputs(quantized, images(torch, 3, 1)),
    }


@parity_case()
def per_module_qconfigs(torch: Any) -> dict[str, Any]:
    """Own qconfigs on layers, assigned as attributes before ``prepare``."""
    torch.backends.quantized.engine = "fbgemm"
    q = torch.quantization
    model = fill(torch, residual_network(torch).eval(), exact_values)
    model = q.fuse_modules(model, FUSED)
    model.qconfig = q.default_qconfig
    model.conv1.qconfig = q.default_per_channel_qconfig
    model.conv3.qconfig = q.QConfig(
        activation=q.MovingAverageMinMaxObserver.with_args(
            averaging_constant=0.5, reduce_range=True
        ),
        weight=q.MinMaxObserver.with_args(dtype=torch.qint8, qscheme=torch.per_tensor_affine),
    )
    model.head.qconfig = q.get_default_qconfig("fbgemm")
    return calibrate_and_convert(torch, q.prepare(model))


@parity_case()
def head_left_in_float(torch: Any) -> dict[str, Any]:
    """``qconfig = None`` on a part, and the stub moved in front of it."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.quantization, torch.nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant = q.QuantStub()
            self.features = nn.Sequential(nn.Conv2d(2, 4, 3), nn.ReLU(), nn.MaxPool2d(2))
            self.dequant = q.DeQuantStub()
            self.head = nn.Sequential(nn.Linear(36, 5), nn.ReLU(), nn.Linear(5, 3))

        def forward(self, x: Any) -> Any:
            x = self.dequant(self.features(self.quant(x)))
            return self.head(x.flatten(1))

    model = fill(torch, Network(), exact_values).eval()
    q.fuse_modules(model, ["features.0", "features.1"], inplace=True)
    model.qconfig = q.default_qconfig
    model.head.qconfig = None
    prepared = q.prepare(model)
    for seed in (1, 2):
        prepared(images(torch, seed))
    quantized = q.convert(prepared)
    features = quantized.features(quantized.quant(images(torch, 3, 1)))
    return {
        "kinds": kinds(quantized),
        "stored": stored(quantized.features),
        "features": features,
        "rounded": features.dequantize(),
    }


@parity_case()
def propagated_from_a_dictionary(torch: Any) -> dict[str, Any]:
    """Names and types, through ``propagate_qconfig_`` and ``add_observer_``."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.quantization, torch.nn
    model = fill(torch, residual_network(torch).eval(), exact_values)
    model = q.fuse_modules(model, FUSED)
    q.propagate_qconfig_(
        model,
        {
            "": q.default_qconfig,
            nn.Linear: q.default_per_channel_qconfig,
            "conv2": q.default_per_channel_qconfig,
        },
    )
    steps = importlib.import_module(f"{torch.__name__}.ao.quantization.quantize")
    steps._add_observer_(model)
    return calibrate_and_convert(torch, model)


@parity_case()
def wrapper_and_one_call(torch: Any) -> dict[str, Any]:
    """Use ``QuantWrapper`` and ``quantize``, with a loader of pairs and with a user's function."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.quantization, torch.nn
    results = {}
    for name in ("pairs", "own"):
        model = q.QuantWrapper(nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4)))
        fill(torch, model, exact_values)
        model.qconfig = q.default_per_channel_qconfig
        data = [(rows(torch, seed), seed) for seed in range(3)]
        if name == "pairs":
            quantized = q.quantize(model, q.default_eval_fn, [data])
        else:

            def run(prepared: Any, batches: Any, times: int) -> None:
                for _ in range(times):
                    for x, _ in batches:
                        prepared(x)

            quantized = q.quantize(model, run, (data, 2), inplace=True)
        results[name] = {
            "kinds": kinds(quantized),
            "stored": stored(quantized),
            "output": quantized(rows(torch, 9)),
        }
    return results


@parity_case()
def leaves_wrapped(torch: Any) -> dict[str, Any]:
    """``add_quant_dequant`` around the layers that have a qconfig."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.quantization, torch.nn
    model = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 3)).eval()
    fill(torch, model, exact_values)
    model[0].qconfig = q.default_qconfig
    model[2].qconfig = q.default_per_channel_qconfig
    model = q.add_quant_dequant(model)
    prepared = q.prepare(model)
    for seed in (1, 2):
        prepared[0](rows(torch, seed))
        prepared[2](rows(torch, seed))
    quantized = q.convert(prepared)
    return {
        "kinds": kinds(quantized),
        "stored": stored(quantized),
        "first": quantized[0](rows(torch, 3)),
        "second": quantized[2](rows(torch, 3)),
    }


@parity_case()
def own_fuser(torch: Any) -> dict[str, Any]:
    """Fuse by a user's ``fuser_func``, which leaves the ReLU out of the group."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.quantization, torch.nn

    def only_the_convolution(modules: Any, *rest: Any) -> Any:
        fused = nn.intrinsic.ConvReLU2d(modules[0], modules[1])
        return [fused] + [nn.Identity() for _ in modules[1:]]

    model = nn.Sequential(q.QuantStub(), nn.Conv2d(2, 3, 3), nn.ReLU(), q.DeQuantStub())
    fill(torch, model, exact_values).eval()
    model = q.fuse_modules(model, [["1", "2"]], fuser_func=only_the_convolution)
    model.qconfig = q.default_qconfig
    return calibrate_and_convert(torch, q.prepare(model))


@parity_case()
def engines_and_their_qconfigs(torch: Any) -> dict[str, Any]:
    """The note on back ends: qconfig and engine set to match.

    ReLU6 is left out with qnnpack, where torch reads channels-last integers in the wrong order.
    """
    q, nn = torch.quantization, torch.nn
    results = {}
    for engine in ("qnnpack", "fbgemm"):
        torch.backends.quantized.engine = engine
        clamp = nn.ReLU6() if engine == "fbgemm" else nn.ReLU()
        model = nn.Sequential(
            q.QuantStub(), nn.Conv2d(2, 4, 3, stride=2), clamp, nn.Conv2d(4, 2, 1)
        )
        fill(torch, model, exact_values).eval()
        model.qconfig = q.get_default_qconfig(engine)
        results[engine] = calibrate_and_convert(torch, q.prepare(model))
    return results


@parity_case()
def arithmetic_of_quantized_tensors(torch: Any) -> dict[str, Any]:
    """FloatFunctional: every operation, calibrated and converted."""
    torch.backends.quantized.engine = "fbgemm"
    q, nn = torch.quantization, torch.nn

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.quant_a, self.quant_b = q.QuantStub(), q.QuantStub()
            for name in ("add", "mul", "cat", "add_relu", "add_scalar", "mul_scalar"):
                setattr(self, name, nn.quantized.FloatFunctional())

        def forward(self, a: Any, b: Any) -> Any:
            a, b = self.quant_a(a), self.quant_b(b)
            return {
                "add": self.add.add(a, b),
                "mul": self.mul.mul(a, b),
                "cat": self.cat.cat([a, b], dim=1),
                "add_relu": self.add_relu.add_relu(a, b),
                "add_scalar": self.add_scalar.add_scalar(a, 0.5),
                "mul_scalar": self.mul_scalar.mul_scalar(a, 1.5),
            }

    model = Network().eval()
    model.qconfig = q.default_qconfig
    prepared = q.prepare(model)
    for seed in (1, 2):
        prepared(rows(torch, seed, 8, 8), rows(torch, seed + 10, 8, 8))
    quantized = q.convert(prepared)
    return {"kinds": kinds(quantized), **quantized(rows(torch, 5, 8, 8), rows(torch, 6, 8, 8))}
