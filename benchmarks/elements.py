"""Everything that works element by element, or on windows; and the smallest calls."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import pyqref

from .layers import quantized
from .race import Race

SIZES = [1 << 10, 1 << 14, 1 << 18, 1 << 20, 1 << 22, 1 << 24]
#: Activations of ResNet and MobileNet: channels and size.
ACTIVATIONS = [(64, 56), (256, 56), (512, 7), (96, 28), (960, 7)]


def both(kind: str, shape: str, work: float, run: Any, mine: Any, theirs: Any) -> Race:
    """The same script for both libraries: ``run(namespace, tensors)``."""
    peers = {"torch": lambda: run(torch, theirs)}
    return Race(kind, shape, work, lambda: run(pyqref, mine), peers)


def numbers(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """Between real numbers and integers."""
    del threads
    for size in SIZES[::2] if quick else SIZES:
        x = rng.standard_normal((size // 64, 64)).astype(np.float32)
        scale, point = np.full(64, 0.05), np.full(64, 3)
        pair = []
        for space in (pyqref, torch):
            real = space.from_numpy(x)
            channels = space.from_numpy(scale), space.from_numpy(point)
            q = space.quantize_per_tensor(real, 0.05, 3, space.quint8)
            points = space.from_numpy(point.astype(np.int32))
            single = space.from_numpy(scale.astype(np.float32))
            pair.append((real, q, channels, (single, points)))
        shape = f"{size:,}"
        scripts = {
            "quantize": lambda s, t: s.quantize_per_tensor(t[0], 0.05, 3, s.quint8),
            "dequantize": lambda _, t: t[1].dequantize(),
            "quantize per channel": lambda s, t: s.quantize_per_channel(t[0], *t[2], 1, s.qint8),
            "fake quantize": lambda s, t: s.fake_quantize_per_tensor_affine(t[0], 0.05, 3, 0, 255),
            "fake quantize per channel": lambda s, t: s.fake_quantize_per_channel_affine(
                t[0], *t[3], 1, 0, 255
            ),
        }
        for kind, script in scripts.items():
            yield both(kind, shape, float(size), script, *pair)
        for name in ("MinMaxObserver", "PerChannelMinMaxObserver", "HistogramObserver"):
            observers = [
                (getattr(space.ao.quantization, name)(), t[0])
                for space, t in zip((pyqref, torch), pair, strict=True)
            ]
            yield both(name, shape, float(size), lambda _, t: t[0](t[1]), *observers)


def activations(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """What stands between the layers of a network, on activations with channels last."""
    del threads
    scripts = {
        "add": lambda s, q: s.ops.quantized.add(q, q, 0.1, 5),
        "add relu": lambda s, q: s.ops.quantized.add_relu(q, q, 0.1, 5),
        "mul": lambda s, q: s.ops.quantized.mul(q, q, 0.3, 5),
        "relu": lambda s, q: s.relu(q),
        "hardswish": lambda s, q: s.ops.quantized.hardswish(q, 0.05, 5),
        "cat": lambda s, q: s.ops.quantized.cat([q, q], 1, q.q_scale(), q.q_zero_point()),
        "max pool 3x3/2": lambda s, q: s.nn.functional.max_pool2d(q, 3, 2, 1),
        "avg pool 2x2": lambda s, q: s.nn.functional.avg_pool2d(q, 2),
        "adaptive avg pool": lambda s, q: s.nn.functional.adaptive_avg_pool2d(q, 1),
    }
    for channels, size in ACTIVATIONS[::2] if quick else ACTIVATIONS:
        x = rng.integers(0, 128, (1, channels, size, size)).astype(np.uint8)
        tensors = quantized(pyqref, x), quantized(torch, x)
        for kind, script in scripts.items():
            yield both(kind, f"1x{channels}x{size}x{size}", float(x.size), script, *tensors)


def smallest(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """What a call costs before it does anything."""
    del quick, threads
    x = rng.standard_normal((1, 16)).astype(np.float32)
    pair = []
    torch.backends.quantized.engine = "fbgemm"
    for space in (pyqref, torch):
        real = space.from_numpy(x)
        q = space.quantize_per_tensor(real, 0.05, 60, space.quint8)
        weight = space.from_numpy(np.eye(16, dtype=np.float32))
        weight = space.quantize_per_tensor(weight, 0.1, 0, space.qint8)
        packed = space.ops.quantized.linear_prepack(weight, None)
        pair.append((real, q, packed))
    scripts = {
        "quantize": lambda s, t: s.quantize_per_tensor(t[0], 0.05, 3, s.quint8),
        "dequantize": lambda _, t: t[1].dequantize(),
        "linear 1 x 16 x 16": lambda s, t: s.ops.quantized.linear(t[1], t[2], 0.1, 3),
        "add": lambda s, t: s.ops.quantized.add(t[1], t[1], 0.1, 3),
    }
    for kind, script in scripts.items():
        yield both(f"smallest {kind}", "16 elements", 16.0, script, *pair)


def import_seconds(module: str) -> float:
    """Median time of a fresh process that imports a module."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True)
        times.append(time.perf_counter() - start)
    return float(np.median(times))
