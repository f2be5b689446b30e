"""torch.ops.quantized, nn.quantized.functional, and float functions on quantized tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.cases.quantized_modules import activation, module, tensor, together, weights
from parity.harness import parity_case


@parity_case()
def arithmetic(torch: Any) -> dict[str, Any]:
    """Every byte beside another, with zero points even and odd, on both engines."""
    # Lengths are a multiple of 64: the tails of torch's loops round differently.
    grid = np.arange(256, dtype=np.float32)
    other = np.random.default_rng(0).permutation(grid)
    results = {}
    for engine in ("x86", "qnnpack"):
        torch.backends.quantized.engine = engine
        a = torch.quantize_per_tensor(torch.from_numpy(grid), 1.0, 0, torch.quint8)
        b = torch.quantize_per_tensor(torch.from_numpy(other), 0.7, 3, torch.quint8)
        for zero_point in (0, 5, 101):
            calls = {
                "add": torch.ops.quantized.add(a, b, 1.7, zero_point),
                "add_halves": torch.ops.quantized.add(a, a, 4.0, zero_point),
                "add_relu": torch.ops.quantized.add_relu(a, b, 1.7, zero_point),
                "mul": torch.ops.quantized.mul(a, b, 191.0, zero_point),
                "mul_relu": torch.ops.quantized.mul_relu(a, b, 191.0, zero_point),
            }
            results[f"{engine}-{zero_point}"] = together(calls)
    return results


@parity_case()
def matmul_broadcasting(torch: Any) -> dict[str, Any]:
    """Vectors, one matrix for many, and batches of size 1 on either side."""
    shapes = [
        ((9,), (9,)),
        ((9,), (2, 9, 5)),
        ((3, 2, 9), (9,)),
        ((3, 2, 9), (9, 5)),
        ((2, 9), (3, 9, 5)),
        ((3, 1, 2, 9), (1, 4, 9, 5)),
    ]
    results: dict[str, Any] = {}
    for name in ("quint8", "qint8"):
        for left, right in shapes:
            a, b = (
                torch.quantize_per_tensor(tensor(torch, 3, *n), 0.03, 7, getattr(torch, name))
                for n in (left, right)
            )
            results[f"{name}-{left}-{right}"] = torch.ops.quantized.matmul(a, b, 0.06, 31)
    return together(results)


@parity_case()
def scalars(torch: Any) -> dict[str, Any]:
    results: dict[str, Any] = {}
    for name in ("quint8", "qint8", "qint32"):
        for zero_point in (0, 100):
            x = torch.quantize_per_tensor(
                tensor(torch, 0, 64, spread=3.0), 0.05, zero_point, getattr(torch, name)
            )
            for number in (0.0, 1.0, -2.5, 7.3, -40.0):
                results[f"{name}-{zero_point}-add{number}"] = torch.ops.quantized.add_scalar(
                    x, number
                )
                results[f"{name}-{zero_point}-mul{number}"] = torch.ops.quantized.mul_scalar(
                    x, number
                )
    return together(results)


@parity_case()
def activations(torch: Any) -> dict[str, Any]:
    """Functions of one quantized tensor, from the package, from nn.functional and as layers."""
    functional = module(torch, "nn.quantized.functional")
    results: dict[str, Any] = {}
    for name in ("quint8", "qint8", "qint32"):
        x = torch.quantize_per_tensor(
            tensor(torch, 1, 3, 64, spread=4.0), 0.06, 71, getattr(torch, name)
        )
        calls = {
            "relu": torch.relu(x),
            "F.relu": torch.nn.functional.relu(x),
            "nn.ReLU": torch.nn.ReLU()(x),
            "relu6": torch.ops.quantized.relu6(x),
            "nn.ReLU6": torch.nn.ReLU6()(x),
            "hardtanh": functional.hardtanh(x, -1.03, 2.0),
            "F.hardtanh": torch.nn.functional.hardtanh(x),
            "clamp": functional.clamp(x, -0.55, 0.5),
            "torch.clamp": torch.clamp(x, -0.55, 0.5),
            "leaky_relu": torch.nn.functional.leaky_relu(x, 0.1),
            "flatten": torch.nn.Flatten(0)(x),
            "dropout": torch.nn.functional.dropout(x, 0.5, training=False),
        }
        results[name] = together(calls)
    x = torch.quantize_per_tensor(tensor(torch, 1, 3, 64, spread=4.0), 0.06, 71, torch.quint8)
    results["fixed"] = together(
        {
            "sigmoid": torch.sigmoid(x),
            "tanh": torch.tanh(x),
            "hardsigmoid": torch.nn.functional.hardsigmoid(x),
        }
    )
    return results


@parity_case()
def pooling(torch: Any) -> dict[str, Any]:
    functional = module(torch, "nn.quantized.functional")
    x = activation(torch, 2, 2, 3, 7, 9)
    calls = {
        "max2": lambda: functional.max_pool2d(x, 2),
        "max3": lambda: functional.max_pool2d(x, (3, 2), stride=2, padding=1),
        "max_dilated": lambda: functional.max_pool2d(x, 3, stride=1, dilation=2),
        "max_ceil": lambda: functional.max_pool2d(x, 2, ceil_mode=True),
        "avg2": lambda: functional.avg_pool2d(x, 2),
        "avg3": lambda: functional.avg_pool2d(x, 3, stride=2, padding=1),
        "avg_exclude": lambda: functional.avg_pool2d(
            x, 3, stride=2, padding=1, count_include_pad=False
        ),
        "avg_ceil": lambda: functional.avg_pool2d(x, 2, ceil_mode=True),
        "avg_divisor": lambda: functional.avg_pool2d(x, 3, divisor_override=7),
        "adaptive1": lambda: functional.adaptive_avg_pool2d(x, 1),
        "adaptive": lambda: functional.adaptive_avg_pool2d(x, (3, 4)),
        "adaptive_none": lambda: functional.adaptive_avg_pool2d(x, (None, 2)),
        "three": lambda: functional.max_pool2d(x[0], 2),
        "nn.MaxPool2d": lambda: torch.nn.MaxPool2d(2)(x),
        "nn.AvgPool2d": lambda: torch.nn.AvgPool2d(2)(x),
        "nn.AdaptiveAvgPool2d": lambda: torch.nn.AdaptiveAvgPool2d(2)(x),
        "mean": lambda: x.mean([2, 3]),
    }
    return together({name: call() for name, call in calls.items()})


@parity_case()
def resizing(torch: Any) -> dict[str, Any]:
    functional = module(torch, "nn.quantized.functional")
    x = activation(torch, 3, 2, 3, 5, 4)
    calls = {
        "nearest": functional.interpolate(x, scale_factor=2),
        "nearest_size": functional.interpolate(x, size=(7, 3)),
        "exact": functional.interpolate(x, scale_factor=0.6, mode="nearest-exact"),
        "exact_size": functional.interpolate(x, size=(7, 3), mode="nearest-exact"),
        "bilinear": functional.interpolate(x, scale_factor=2, mode="bilinear"),
        "bilinear_size": functional.interpolate(x, size=(7, 3), mode="bilinear"),
        "corners": functional.interpolate(x, size=(9, 8), mode="bilinear", align_corners=True),
        "F": torch.nn.functional.interpolate(x, scale_factor=3, mode="bilinear"),
        "nn.Upsample": torch.nn.Upsample(scale_factor=2)(x),
    }
    return together(calls)


@parity_case()
def functional_layers(torch: Any) -> dict[str, Any]:
    functional = module(torch, "nn.quantized.functional")
    results: dict[str, Any] = {}
    x = activation(torch, 4, 3, 10)
    for scheme, weight in weights(torch, 5, 6, 10).items():
        results[f"linear-{scheme}"] = functional.linear(x, weight)
        results[f"linear-{scheme}-out"] = functional.linear(
            x, weight, tensor(torch, 6, 6), 0.07, 88
        )
    for dimensions in (1, 2, 3):
        x = activation(torch, 7, 2, 4, *(5,) * dimensions)
        convolve = getattr(functional, f"conv{dimensions}d")
        for scheme, weight in weights(torch, 8, 6, 4, *(3,) * dimensions).items():
            results[f"conv{dimensions}d-{scheme}"] = convolve(
                x, weight, tensor(torch, 9, 6), padding=1, scale=0.09, zero_point=77
            )
    return together(results)
