"""Convolutions: of ResNet, MobileNetV2 and V3, of one and three dimensions, transposed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

import pyqref

from . import onnx_models
from .layers import (
    INPUT_SCALE,
    INPUT_ZERO_POINT,
    OUTPUT,
    OUTPUT_SCALE,
    OUTPUT_ZERO_POINT,
    per_channel,
    quantized,
    torch_works,
    weights,
)
from .race import Race

#: channels, size, outputs, kernel, stride, groups; the padding is half of the kernel.
RESNET18 = [
    (3, 224, 64, 7, 2, 1),
    (64, 56, 64, 3, 1, 1),
    (64, 56, 128, 3, 2, 1),
    (64, 56, 128, 1, 2, 1),
    (128, 28, 128, 3, 1, 1),
    (128, 28, 256, 3, 2, 1),
    (128, 28, 256, 1, 2, 1),
    (256, 14, 256, 3, 1, 1),
    (256, 14, 512, 3, 2, 1),
    (256, 14, 512, 1, 2, 1),
    (512, 7, 512, 3, 1, 1),
]
RESNET50 = [
    (64, 56, 64, 1, 1, 1),
    (64, 56, 256, 1, 1, 1),
    (256, 56, 64, 1, 1, 1),
    (256, 56, 128, 1, 1, 1),
    (128, 56, 128, 3, 2, 1),
    (128, 28, 512, 1, 1, 1),
    (256, 56, 512, 1, 2, 1),
    (512, 28, 128, 1, 1, 1),
    (512, 28, 256, 1, 1, 1),
    (256, 28, 256, 3, 2, 1),
    (256, 14, 1024, 1, 1, 1),
    (512, 28, 1024, 1, 2, 1),
    (1024, 14, 256, 1, 1, 1),
    (1024, 14, 512, 1, 1, 1),
    (512, 14, 512, 3, 2, 1),
    (512, 7, 2048, 1, 1, 1),
    (1024, 14, 2048, 1, 2, 1),
    (2048, 7, 512, 1, 1, 1),
]
MOBILENET = [
    (3, 224, 32, 3, 2, 1),
    (32, 112, 32, 3, 1, 32),
    (32, 112, 16, 1, 1, 1),
    (16, 112, 96, 1, 1, 1),
    (96, 112, 96, 3, 2, 96),
    (96, 56, 24, 1, 1, 1),
    (24, 56, 144, 1, 1, 1),
    (144, 56, 144, 3, 1, 144),
    (144, 56, 24, 1, 1, 1),
    (144, 56, 144, 3, 2, 144),
    (144, 28, 32, 1, 1, 1),
    (32, 28, 192, 1, 1, 1),
    (192, 28, 192, 3, 1, 192),
    (192, 28, 32, 1, 1, 1),
    (192, 28, 192, 3, 2, 192),
    (192, 14, 64, 1, 1, 1),
    (64, 14, 384, 1, 1, 1),
    (384, 14, 384, 3, 1, 384),
    (384, 14, 64, 1, 1, 1),
    (384, 14, 96, 1, 1, 1),
    (96, 14, 576, 1, 1, 1),
    (576, 14, 576, 3, 1, 576),
    (576, 14, 96, 1, 1, 1),
    (576, 14, 576, 3, 2, 576),
    (576, 7, 160, 1, 1, 1),
    (160, 7, 960, 1, 1, 1),
    (960, 7, 960, 3, 1, 960),
    (960, 7, 160, 1, 1, 1),
    (960, 7, 320, 1, 1, 1),
    (320, 7, 1280, 1, 1, 1),
]
#: What version 3 (large) has besides: other widths, windows of 5 x 5, squeeze and excitation.
MOBILENET_V3 = [
    (3, 224, 16, 3, 2, 1),
    (16, 112, 16, 3, 1, 16),
    (16, 112, 64, 1, 1, 1),
    (64, 112, 64, 3, 2, 64),
    (64, 56, 24, 1, 1, 1),
    (24, 56, 72, 1, 1, 1),
    (72, 56, 72, 3, 1, 72),
    (72, 56, 72, 5, 2, 72),
    (72, 1, 24, 1, 1, 1),
    (72, 28, 40, 1, 1, 1),
    (40, 28, 120, 1, 1, 1),
    (120, 28, 120, 5, 1, 120),
    (120, 28, 40, 1, 1, 1),
    (40, 28, 240, 1, 1, 1),
    (240, 28, 240, 3, 2, 240),
    (240, 14, 80, 1, 1, 1),
    (80, 14, 200, 1, 1, 1),
    (200, 14, 200, 3, 1, 200),
    (80, 14, 480, 1, 1, 1),
    (480, 14, 480, 3, 1, 480),
    (480, 14, 112, 1, 1, 1),
    (112, 14, 672, 1, 1, 1),
    (672, 14, 672, 5, 2, 672),
    (672, 1, 168, 1, 1, 1),
    (672, 7, 160, 1, 1, 1),
    (960, 7, 960, 5, 1, 960),
]
GROUPED = [(128, 56, 128, 3, 1, 32), (256, 14, 256, 3, 1, 32), (1024, 7, 1024, 3, 1, 32)]
LAYERS_2D = list(dict.fromkeys([*RESNET18, *RESNET50, *MOBILENET, *MOBILENET_V3, *GROUPED]))

#: Sound and text; video and volumes: channels, size, outputs, kernel, stride, groups.
LAYERS_1D = [
    (1, 16000, 64, 80, 4, 1),
    (64, 4000, 64, 3, 1, 1),
    (64, 1000, 128, 3, 1, 1),
    (128, 250, 256, 3, 1, 1),
    (256, 62, 512, 3, 1, 1),
    (80, 3000, 384, 3, 1, 1),
    (384, 3000, 384, 3, 2, 1),
    (512, 1600, 512, 3, 2, 1),
    (512, 200, 512, 2, 2, 1),
    (256, 128, 256, 1, 1, 1),
    (256, 128, 512, 1, 1, 1),
    (256, 128, 256, 31, 1, 256),
]
LAYERS_3D = [
    (3, 16, 64, 3, 1, 1),
    (3, 32, 16, 3, 2, 1),
    (64, 16, 64, 3, 1, 1),
    (64, 16, 128, 3, 2, 1),
    (64, 16, 128, 1, 2, 1),
    (128, 8, 128, 3, 1, 1),
    (128, 8, 256, 3, 2, 1),
    (256, 4, 256, 3, 1, 1),
    (256, 4, 512, 1, 1, 1),
    (512, 4, 512, 3, 1, 1),
    (16, 32, 32, 3, 1, 1),
    (32, 16, 64, 3, 2, 1),
]
#: Decoders and generators: dimensions, channels, size, outputs, kernel, stride, groups.
TRANSPOSED = [
    (2, 100, 1, 512, 4, 1, 1),
    (2, 512, 4, 256, 4, 2, 1),
    (2, 256, 8, 128, 4, 2, 1),
    (2, 128, 16, 64, 4, 2, 1),
    (2, 64, 32, 3, 4, 2, 1),
    (2, 512, 14, 256, 2, 2, 1),
    (2, 256, 28, 128, 2, 2, 1),
    (2, 128, 56, 64, 2, 2, 1),
    (2, 64, 56, 32, 3, 2, 1),
    (2, 21, 14, 21, 4, 2, 21),
    (1, 256, 128, 128, 4, 2, 1),
    (1, 128, 256, 64, 16, 8, 1),
]


def convolution(rng: np.random.Generator, quick: bool, threads: int) -> Iterator[Race]:
    """Activations with their channels last, as both libraries keep them; ONNX has them first."""
    for batch in (1,) if quick else (1, 8):
        for layer in LAYERS_2D[:: len(LAYERS_2D) // 24] if quick else LAYERS_2D:
            yield convolution_of(rng, 2, batch, *layer, threads)
    for dimensions, layers in ((1, LAYERS_1D), (3, LAYERS_3D)):
        for layer in layers[::3] if quick else layers:
            yield convolution_of(rng, dimensions, 1, *layer, threads)
    for layer in TRANSPOSED[::3] if quick else TRANSPOSED:
        yield _transposed(rng, *layer)


def cube(size: int, dimensions: int) -> str:
    """``56x56``."""
    return "x".join([str(size)] * dimensions)


def _kind(dimensions: int, channels: int, groups: int) -> str:
    if dimensions != 2:
        return f"conv{dimensions}d"
    return "depthwise" if groups == channels else "grouped" if groups > 1 else "conv2d"


def convolution_of(
    rng: np.random.Generator,
    dimensions: int,
    batch: int,
    channels: int,
    size: int,
    outputs: int,
    kernel: int,
    stride: int,
    groups: int,
    threads: int,
) -> Race:
    """One layer."""
    n, padding = dimensions, kernel // 2
    weight, scales, bias = weights(rng, (outputs, channels // groups, *[kernel] * n))
    x = rng.integers(0, 128, (batch, channels, *[size] * n)).astype(np.uint8)
    mine, theirs = quantized(pyqref, x), quantized(torch, x)
    steps = ([stride] * n, [padding] * n, [1] * n, groups)
    packed = getattr(pyqref.ops.quantized, f"conv{n}d_prepack")(
        per_channel(pyqref, weight, scales), pyqref.from_numpy(bias), *steps
    )
    weight_of_torch = per_channel(torch, weight, scales)
    run = getattr(torch.ops.quantized, f"conv{n}d")
    peers = torch_works(
        lambda: getattr(torch.ops.quantized, f"conv{n}d_prepack")(
            weight_of_torch, torch.from_numpy(bias), *steps
        ),
        lambda p: run(theirs, p, *OUTPUT),
    )
    if onnx_models.available:
        peers["onnxruntime"] = onnx_models.operator(
            "QLinearConv",
            x,
            [
                None,
                np.float32(INPUT_SCALE),
                np.uint8(INPUT_ZERO_POINT),
                weight,
                scales.astype(np.float32),
                np.zeros(outputs, np.int8),
                np.float32(OUTPUT_SCALE),
                np.uint8(OUTPUT_ZERO_POINT),
                np.rint(bias / (INPUT_SCALE * scales)).astype(np.int32),
            ],
            threads,
            np.uint8,
            group=groups,
            strides=[stride] * n,
            pads=[padding] * (2 * n),
        )
    ours = getattr(pyqref.ops.quantized, f"conv{n}d")
    out = (size + 2 * padding - kernel) // stride + 1
    return Race(
        _kind(dimensions, channels, groups),
        f"{batch}x{channels}x{cube(size, n)} -> {outputs}, {cube(kernel, n)}/{stride}"
        + f", {groups} groups" * (groups > 1),
        2.0 * batch * out**n * weight.size,
        lambda: ours(mine, packed, *OUTPUT),
        peers,
        moved=float(x.size + weight.size + batch * out**n * outputs),
    )


def _transposed(
    rng: np.random.Generator,
    dimensions: int,
    channels: int,
    size: int,
    outputs: int,
    kernel: int,
    stride: int,
    groups: int,
) -> Race:
    """Per tensor, as torch wants it, on the engines whose results are right (see the errata)."""
    engines = ("qnnpack",) if kernel == stride == 2 else ("fbgemm", "qnnpack")
    n, padding = dimensions, 0 if stride == 1 else (kernel - stride) // 2
    integers = rng.integers(-64, 64, (channels, outputs // groups, *[kernel] * n))
    real = (integers * 0.002).astype(np.float32)
    bias = rng.standard_normal(outputs).astype(np.float32)
    x = rng.integers(0, 128, (1, channels, *[size] * n)).astype(np.uint8)
    steps = ([stride] * n, [padding] * n, [0] * n, [1] * n, groups)

    def pack(space: Any) -> Any:
        weight = space.quantize_per_tensor(space.from_numpy(real), 0.002, 0, space.qint8)
        prepack = getattr(space.ops.quantized, f"conv_transpose{n}d_prepack")
        return prepack(weight, space.from_numpy(bias), *steps)

    def run(space: Any, tensor: Any) -> Any:
        operation = getattr(space.ops.quantized, f"conv_transpose{n}d")
        return lambda packed: operation(tensor, packed, *OUTPUT)

    mine = run(pyqref, quantized(pyqref, x))
    packed = pack(pyqref)
    return Race(
        f"conv_transpose{n}d",
        f"1x{channels}x{cube(size, n)} -> {outputs}, {cube(kernel, n)}/{stride}"
        + f", {groups} groups" * (groups > 1),
        2.0 * size**n * integers.size,
        lambda: mine(packed),
        torch_works(lambda: pack(torch), run(torch, quantized(torch, x)), engines),
    )
