"""Linear layers and convolutions: the layers of ResNet, MobileNetV2 and V3, and matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import pyqref

from . import onnx_models
from .race import Race

#: torch's engines whose packed weights run side by side. qnnpack is made for ARM.
ENGINES = ("fbgemm", "onednn")
INPUT_SCALE, INPUT_ZERO_POINT = 0.05, 60
OUTPUT = OUTPUT_SCALE, OUTPUT_ZERO_POINT = 0.5, 7

ROWS = (1, 8, 16, 64, 128, 512, 1024)
WIDTHS = (256, 768, 1024, 3072, 4096)
QUICK_LINEAR = [
    (1, 256, 256),
    (1, 1024, 1024),
    (1, 4096, 4096),
    (16, 768, 3072),
    (64, 1024, 1024),
    (128, 256, 256),
    (512, 1024, 1024),
]


def weights(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """7-bit inputs and these weights keep torch from saturating its 16-bit sums."""
    weight = rng.integers(-64, 64, shape).astype(np.int8)
    scales = rng.uniform(0.001, 0.003, shape[0]).astype(np.float32).astype(np.float64)
    return weight, scales, rng.standard_normal(shape[0]).astype(np.float32)


def per_channel(space: Any, weight: np.ndarray, scales: np.ndarray) -> Any:
    """The weight as a tensor of ``space``, which is pyqref or torch."""
    real = weight * scales.reshape(-1, *(1,) * (weight.ndim - 1))
    points = space.from_numpy(np.zeros(len(scales), np.int64))
    values = space.from_numpy(real.astype(np.float32)), space.from_numpy(scales)
    return space.quantize_per_channel(*values, points, 0, space.qint8)


def quantized(space: Any, x: np.ndarray) -> Any:
    """The bytes as a tensor of ``space``; its order in memory is kept."""
    real = (x.astype(np.float32) - INPUT_ZERO_POINT) * np.float32(INPUT_SCALE)
    tensor = space.from_numpy(real)
    if x.ndim == 4:
        tensor = tensor.contiguous(memory_format=space.channels_last)
    return space.quantize_per_tensor(tensor, INPUT_SCALE, INPUT_ZERO_POINT, space.quint8)


def torch_works(pack: Any, run: Any, engines: tuple[str, ...] = ENGINES) -> dict[str, Any]:
    """One function for each engine: a packed weight belongs to that which packed it."""
    works = {}
    for engine in engines:
        torch.backends.quantized.engine = engine
        packed = pack()
        works[f"torch {engine}"] = lambda packed=packed: run(packed)
    return works


def linear(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """All shapes, or some."""
    every = [(m, n, k) for m in ROWS for n in WIDTHS for k in WIDTHS]
    return linear_of(rng, QUICK_LINEAR if quick else every, threads)


def linear_of(
    rng: np.random.Generator, shapes: list[tuple[int, int, int]], threads: int
) -> Iterator[Race]:
    """Static and dynamic."""
    for rows, columns, depth in shapes:
        weight, scales, bias = weights(rng, (columns, depth))
        x = rng.integers(0, 128, (rows, depth)).astype(np.uint8)
        mine, theirs = quantized(pyqref, x), quantized(torch, x)
        packed = pyqref.ops.quantized.linear_prepack(
            per_channel(pyqref, weight, scales), pyqref.from_numpy(bias)
        )
        weight_of_torch = per_channel(torch, weight, scales)

        def pack(w: Any = weight_of_torch, b: Any = bias) -> Any:
            return torch.ops.quantized.linear_prepack(w, torch.from_numpy(b))

        shape, operations = f"{rows} x {columns} x {depth}", 2.0 * rows * columns * depth
        peers = torch_works(pack, lambda p, q=theirs: torch.ops.quantized.linear(q, p, *OUTPUT))
        if onnx_models.available:
            peers["onnxruntime"] = onnx_models.operator(
                "QGemm",
                x,
                [
                    None,
                    np.float32(INPUT_SCALE),
                    np.uint8(INPUT_ZERO_POINT),
                    np.ascontiguousarray(weight.T),
                    scales.astype(np.float32),
                    np.zeros(columns, np.int8),
                    np.rint(bias / (INPUT_SCALE * scales)).astype(np.int32),
                    np.float32(OUTPUT_SCALE),
                    np.uint8(OUTPUT_ZERO_POINT),
                ],
                threads,
                np.uint8,
                "com.microsoft",
            )
        yield Race(
            "linear",
            shape,
            operations,
            lambda q=mine, p=packed: pyqref.ops.quantized.linear(q, p, *OUTPUT),
            peers,
            moved=float(x.size + weight.size + rows * columns),
        )
        real, real_of_torch = mine.dequantize(), theirs.dequantize()
        yield Race(
            "linear dynamic",
            shape,
            operations,
            lambda r=real, p=packed: pyqref.ops.quantized.linear_dynamic(r, p, True),
            torch_works(
                pack, lambda p, r=real_of_torch: torch.ops.quantized.linear_dynamic(r, p, True)
            ),
        )
