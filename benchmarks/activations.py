"""Races of what stands between layers: elementwise, windows, joining, normalizing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import pyqref

from . import onnx_models
from .layers import INPUT_SCALE, INPUT_ZERO_POINT, quantized
from .race import Race

#: Activations of ResNet and MobileNet: channels and size.
ACTIVATIONS = [(64, 112), (64, 56), (256, 56), (512, 28), (512, 7), (96, 28), (960, 7), (2048, 7)]
INPUT = np.float32(INPUT_SCALE), np.uint8(INPUT_ZERO_POINT)


def _layer_norm(space: Any, q: Any) -> Any:
    weight = space.ones(q.shape[1:])
    return lambda: space.ops.quantized.layer_norm(q, q.shape[1:], weight, weight, 1e-5, 0.05, 60)


#: One script for both libraries: gives the function to be timed for a tensor.
SCRIPTS: dict[str, Callable[[Any, Any], Callable[[], Any]]] = {
    "add": lambda s, q: lambda: s.ops.quantized.add(q, q, 0.1, 5),
    "add relu": lambda s, q: lambda: s.ops.quantized.add_relu(q, q, 0.1, 5),
    "mul": lambda s, q: lambda: s.ops.quantized.mul(q, q, 0.3, 5),
    "relu": lambda s, q: lambda: s.relu(q),
    "hardswish": lambda s, q: lambda: s.ops.quantized.hardswish(q, 0.05, 5),
    "cat": lambda s, q: lambda: s.ops.quantized.cat([q, q], 1, INPUT_SCALE, INPUT_ZERO_POINT),
    "max pool 3x3/2": lambda s, q: lambda: s.nn.functional.max_pool2d(q, 3, 2, 1),
    "avg pool 2x2": lambda s, q: lambda: s.nn.functional.avg_pool2d(q, 2),
    "adaptive avg pool": lambda s, q: lambda: s.nn.functional.adaptive_avg_pool2d(q, 1),
    "interpolate x2 nearest": lambda s, q: (
        lambda: s.nn.functional.interpolate(q, scale_factor=2, mode="nearest")
    ),
    "interpolate x2 bilinear": lambda s, q: (
        lambda: s.nn.functional.interpolate(q, scale_factor=2, mode="bilinear", align_corners=False)
    ),
    "layer norm": _layer_norm,
    "softmax": lambda s, q: lambda: s.ops.quantized.softmax(q, 1, 1 / 256, 0),
    "channel shuffle": lambda s, q: lambda: s.channel_shuffle(q, 2),
    "slice": lambda _, q: lambda: q[:, : q.shape[1] // 2].contiguous(),
}
#: ONNX Runtime's operator: name, inputs (None is the activation), attributes.
ONNX: dict[str, tuple[str, list[Any], dict[str, Any]]] = {
    "add": ("QLinearAdd", [None, *INPUT, None, *INPUT, np.float32(0.1), np.uint8(5)], {}),
    "mul": ("QLinearMul", [None, *INPUT, None, *INPUT, np.float32(0.3), np.uint8(5)], {}),
    "cat": ("QLinearConcat", [*INPUT, None, *INPUT, None, *INPUT], {"axis": 1}),
    "adaptive avg pool": (
        "QLinearGlobalAveragePool",
        [None, *INPUT, *INPUT],
        {"channels_last": 0},
    ),
    "avg pool 2x2": (
        "QLinearAveragePool",
        [None, *INPUT, *INPUT],
        {"kernel_shape": [2, 2], "strides": [2, 2]},
    ),
}


def activations(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """Activations with channels last; ONNX Runtime's have them first."""
    torch.backends.quantized.engine = "fbgemm"
    for channels, size in ACTIVATIONS[::3] if quick else ACTIVATIONS:
        x = rng.integers(0, 128, (1, channels, size, size)).astype(np.uint8)
        mine, theirs = quantized(pyqref, x), quantized(torch, x)
        for kind, script in SCRIPTS.items():
            peers = {"torch": script(torch, theirs)}
            if onnx_models.available and kind in ONNX:
                name, inputs, attributes = ONNX[kind]
                peers["onnxruntime"] = onnx_models.operator(
                    name, x, inputs, threads, np.uint8, "com.microsoft", **attributes
                )
            shape = f"1x{channels}x{size}x{size}"
            yield Race(kind, shape, float(x.size), script(pyqref, mine), peers)
