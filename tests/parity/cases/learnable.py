"""Learnable fake quantization: values, and the gradients of all three arguments."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from parity.harness import Bound, parity_case

TENSOR = "_fake_quantize_learnable_per_tensor_affine"
CHANNEL = "_fake_quantize_learnable_per_channel_affine"
LIMITS = [(0, 255), (-8, 7), (-128, 127)]
#: gamma_70 times 64 terms of at most 8 / sqrt(64 * 7) < 0.4 (eq-learnable-gradient-error).
ORDER = Bound("sums in another order", absolute=70 * 2.0**-24 * 64 * 0.4)


def outcome(torch: Any, name: str, arrays: tuple[Any, ...], upstream: Any, *rest: Any) -> Any:
    """The result and the three gradients."""
    leaves = [torch.from_numpy(each.copy()).requires_grad_() for each in arrays]
    y = getattr(torch, name)(*leaves, *rest)
    y.backward(torch.from_numpy(upstream))
    names = ("x", "scale", "zero_point")
    return {"y": y, **{each: leaf.grad for each, leaf in zip(names, leaves, strict=True)}}


@parity_case(conventions="torch")
def learnable_terms(torch: Any) -> dict[str, Any]:
    """One number a channel: each term of a sum by itself, to the bit."""
    rng = np.random.default_rng(0)
    results = {}
    for low, high in LIMITS:
        scale = np.exp(rng.uniform(-6, 3, 300)).astype(np.float32)
        width = rng.uniform(0.2, 2, 300) * (high - low) * scale
        x = (rng.standard_normal(300) * width).astype(np.float32)[:, None]
        zero_point = rng.uniform(low - 5, high + 5, 300).astype(np.float32)
        upstream = rng.standard_normal((300, 1), np.float32)
        for factor in (1.0, 0.3):
            arguments = (x, scale, zero_point), upstream, 0, low, high, factor
            results[f"{low} {factor}"] = outcome(torch, CHANNEL, *arguments)
    return results


@parity_case(conventions="torch")
def learnable_sums(torch: Any) -> dict[str, Any]:
    """Numbers of few bits, whose sums are exact in any order; every axis."""
    rng = np.random.default_rng(1)
    results = {}
    for low, high in LIMITS:
        x = rng.integers(-4096, 4096, (3, 4, 5)).astype(np.float32) / 64
        upstream = rng.integers(-8, 8, x.shape).astype(np.float32)
        one = np.float32([0.25]), np.float32([1.5])
        results[f"{low}"] = outcome(torch, TENSOR, (x, *one), upstream, low, high, 0.5)
        for axis, channels in enumerate(x.shape):
            scale = np.float32(2.0) ** rng.integers(-4, 1, channels)
            zero_point = rng.integers(low, high, channels).astype(np.float32)
            arguments = (x, scale.astype(np.float32), zero_point), upstream, axis, low, high
            results[f"{low} {axis}"] = outcome(torch, CHANNEL, *arguments)
    return results


@parity_case({"*/grads/[12]": ORDER}, conventions="torch")
def learnable_module(torch: Any) -> dict[str, Any]:
    """The phases of the module: switches, parameters, gradients, and what convert takes."""
    quantization = torch.ao.quantization
    name = f"{torch.__name__}.ao.quantization._learnable_fake_quantize"
    learnable = import_module(name)._LearnableFakeQuantize
    rng = np.random.default_rng(2)
    x = rng.integers(-512, 512, (4, 16)).astype(np.float32) / 64
    signed = {"dtype": torch.qint8, "quant_min": -8, "quant_max": 7}
    kinds: dict[str, dict[str, Any]] = {
        "affine": {"observer": quantization.MovingAverageMinMaxObserver},
        "symmetric": {
            "observer": quantization.MinMaxObserver,
            "qscheme": torch.per_tensor_symmetric,
            **signed,
        },
        "channels": {
            "observer": quantization.PerChannelMinMaxObserver,
            "qscheme": torch.per_channel_symmetric,
            "channel_len": 4,
            **signed,
        },
    }
    results: dict[str, Any] = {}
    for kind, arguments in kinds.items():
        made = learnable(scale=0.25, zero_point=3.0, use_grad_scaling=True, **arguments)
        phases = ["enable_param_learning", "enable_static_observation", "enable_static_estimate"]
        for phase in phases:
            getattr(made, phase)()
            leaf = torch.from_numpy(x.copy()).requires_grad_()
            y = made(leaf)
            y.sum().backward()
            results[f"{kind} {phase}"] = {
                "y": y,
                "grads": [leaf.grad, made.scale.grad, made.zero_point.grad],
                "requires_grad": [made.scale.requires_grad, made.zero_point.requires_grad],
                "state": dict(made.state_dict()),
                "qparams": made.calculate_qparams(),
                "bits": made.bitwidth,
            }
            made.zero_grad()
        made.enable_param_learning()
        made.scale.data.fill_(-1.0)
        results[f"{kind} clamped"] = [made(torch.from_numpy(x)), made.calculate_qparams()]
    return results
