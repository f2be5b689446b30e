"""Races of quantizing and dequantizing, fake quantization, observers; the smallest calls."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch

import pyqref

from .race import Race

SIZES = [1 << n for n in (10, 14, 18, 20, 22, 24, 26)]


def both(kind: str, shape: str, work: float, run: Any, mine: Any, theirs: Any) -> Race:
    """Race one script in both libraries: ``run(namespace, tensors)``."""
    peers = {"torch": lambda: run(torch, theirs)}
    return Race(kind, shape, work, lambda: run(pyqref, mine), peers)


def numbers(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """Between real numbers and integers, per tensor and for each of 64 channels."""
    del threads
    return numbers_of(rng, SIZES[::2] if quick else SIZES)


def numbers_of(rng: np.random.Generator, sizes: list[int]) -> Iterator[Race]:
    """All that is done with so many."""
    for size in sizes:
        x = rng.standard_normal((size // 64, 64)).astype(np.float32)
        pair = [tensors(space, x) for space in (pyqref, torch)]
        names = [name for name in SCRIPTS if size <= 1 << 24 or name in ("quantize", "dequantize")]
        for name in names:
            race = both(name, f"{size:,}", float(size), SCRIPTS[name], *pair)
            yield race._replace(moved=float(BYTES[name] * size))
        for name in OBSERVERS if size <= 1 << 24 else ():
            observers = [
                (getattr(space.ao.quantization, name)(), t["real"])
                for space, t in zip((pyqref, torch), pair, strict=True)
            ]
            race = both(name, f"{size:,}", float(size), lambda _, t: t[0](t[1]), *observers)
            yield race._replace(moved=4.0 * size)


def tensors(space: Any, x: np.ndarray) -> dict[str, Any]:
    """Return the tensors that the scripts need, in one of the libraries."""
    real = space.from_numpy(x)
    scales, points = np.full(x.shape[1], 0.05), np.full(x.shape[1], 3)
    return {
        "real": real,
        "quantized": space.quantize_per_tensor(real, 0.05, 3, space.quint8),
        "scales": space.from_numpy(scales),
        "points": space.from_numpy(points),
        "fake scales": space.from_numpy(scales.astype(np.float32)),
        "fake points": space.from_numpy(points.astype(np.int32)),
        "leaf": space.from_numpy(x.copy()).requires_grad_(),
        "gradient": space.from_numpy(np.ones_like(x)),
    }


def backward(result: Any, t: dict[str, Any]) -> Any:
    """The gradient of the leaf."""
    t["leaf"].grad = None
    result.backward(t["gradient"])
    return t["leaf"].grad


#: The same script for both libraries, of a namespace and :func:`tensors`.
SCRIPTS: dict[str, Callable[[Any, Any], Any]] = {
    "quantize": lambda s, t: s.quantize_per_tensor(t["real"], 0.05, 3, s.quint8),
    "dequantize": lambda _, t: t["quantized"].dequantize(),
    "quantize per channel": lambda s, t: s.quantize_per_channel(
        t["real"], t["scales"], t["points"], 1, s.qint8
    ),
    "fake quantize": lambda s, t: s.fake_quantize_per_tensor_affine(t["real"], 0.05, 3, 0, 255),
    "fake quantize per channel": lambda s, t: s.fake_quantize_per_channel_affine(
        t["real"], t["fake scales"], t["fake points"], 1, 0, 255
    ),
    "fake quantize, backward": lambda s, t: backward(
        s.fake_quantize_per_tensor_affine(t["leaf"], 0.05, 3, 0, 255), t
    ),
    "fake quantize per channel, backward": lambda s, t: backward(
        s.fake_quantize_per_channel_affine(
            t["leaf"], t["fake scales"], t["fake points"], 1, 0, 255
        ),
        t,
    ),
}
#: Bytes that must be read and written for a number: itself, its integer, its gradient and whether
#: that passes.
BYTES = {
    "quantize": 5,
    "dequantize": 5,
    "quantize per channel": 5,
    "fake quantize": 8,
    "fake quantize per channel": 8,
    "fake quantize, backward": 18,
    "fake quantize per channel, backward": 18,
}
OBSERVERS = (
    "MinMaxObserver",
    "MovingAverageMinMaxObserver",
    "PerChannelMinMaxObserver",
    "MovingAveragePerChannelMinMaxObserver",
    "HistogramObserver",
)


def smallest(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """Time calls that do next to nothing."""
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
    """Median time of a fresh process that imports a module, which is compiled to bytecode."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    times = []
    for _ in range(6):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", f"import {module}"], check=True, env=environment)
        times.append(time.perf_counter() - start)
    return float(np.median(times[1:]))
