"""Kernels side by side with torch, as ratios measured in one run.

``python benchmarks/kernels.py [--threads N] [--repeats N]`` checks that both give the same
integers, then runs them in turns and prints the ratio of the median times: above 1 pyqref
is faster. Needs torch and rich.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

from pyqref import _kernels, kernels
from pyqref.numerics.requantize import requantization


class Race(NamedTuple):
    """The same work, twice."""

    kind: str
    shape: str
    work: float
    ours: Callable[[], Any]
    torch: Callable[[], Any]


LINEAR = [
    (1, 256, 256),
    (1, 1024, 1024),
    (1, 4096, 4096),
    (16, 768, 3072),
    (64, 1024, 1024),
    (128, 256, 256),
    (512, 1024, 1024),
    (128, 4096, 4096),
]
#: batch, channels, size, outputs, kernel, stride, padding, groups
CONV = [
    (1, 3, 224, 64, 7, 2, 3, 1),
    (1, 64, 56, 64, 3, 1, 1, 1),
    (1, 128, 28, 128, 3, 1, 1, 1),
    (1, 256, 14, 256, 3, 1, 1, 1),
    (1, 512, 7, 512, 3, 1, 1, 1),
    (1, 64, 56, 256, 1, 1, 0, 1),
    (1, 256, 56, 512, 1, 2, 0, 1),
    (1, 96, 56, 96, 3, 1, 1, 96),
    (1, 384, 14, 384, 3, 1, 1, 384),
    (1, 256, 14, 256, 3, 1, 1, 32),
]
SIZES = [16, 1 << 10, 1 << 16, 1 << 20, 1 << 24]


def quantized_weight(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[Any, Any, Any]:
    """7-bit inputs and these weights keep torch from saturating its 16-bit sums."""
    weight = rng.integers(-64, 64, shape).astype(np.int8)
    scales = rng.uniform(0.001, 0.003, shape[0]).astype(np.float32).astype(np.float64)
    quantized = torch._make_per_channel_quantized_tensor(
        torch.from_numpy(weight), torch.from_numpy(scales), torch.zeros(shape[0]).long(), 0
    )
    return weight, scales, quantized


def linear_races(rng: np.random.Generator) -> Iterator[Race]:
    for rows, columns, depth in LINEAR:
        weight, scales, torch_weight = quantized_weight(rng, (columns, depth))
        bias = rng.standard_normal(columns).astype(np.float32)
        x = rng.integers(0, 128, (rows, depth)).astype(np.uint8)
        packed = _kernels.pack_linear(weight)
        requant = requantization("fbgemm", 0.05, scales, 0.5, 7, bias)
        torch_packed = torch.ops.quantized.linear_prepack(torch_weight, torch.from_numpy(bias))
        torch_x = torch._make_per_tensor_quantized_tensor(torch.from_numpy(x), 0.05, 60)
        yield Race(
            "linear",
            f"{rows} x {columns} x {depth}",
            2.0 * rows * columns * depth,
            lambda x=x, p=packed, r=requant: _kernels.linear(x, 60, p, 0, r),
            lambda x=torch_x, p=torch_packed: torch.ops.quantized.linear(x, p, 0.5, 7),
        )


def conv_races(rng: np.random.Generator) -> Iterator[Race]:
    for batch, channels, size, outputs, kernel, stride, padding, groups in CONV:
        shape = (outputs, channels // groups, kernel, kernel)
        weight, scales, torch_weight = quantized_weight(rng, shape)
        bias = rng.standard_normal(outputs).astype(np.float32)
        x = rng.integers(0, 128, (batch, size, size, channels)).astype(np.uint8)
        x = x.transpose(0, 3, 1, 2)
        packed = _kernels.pack_conv2d(weight, groups)
        requant = requantization("fbgemm", 0.05, scales, 0.5, 7, bias)
        steps = (stride, stride), (padding, padding), (1, 1)
        torch_packed = torch.ops.quantized.conv2d_prepack(
            torch_weight, torch.from_numpy(bias), *steps, groups
        )
        last = torch.from_numpy(x).contiguous(memory_format=torch.channels_last)
        torch_x = torch._make_per_tensor_quantized_tensor(last, 0.05, 60)
        out = (size + 2 * padding - kernel) // stride + 1
        yield Race(
            "conv2d",
            f"{channels}x{size}x{size} -> {outputs}, {kernel}x{kernel}/{stride}, {groups} groups",
            2.0 * batch * out * out * weight.size,
            lambda x=x, p=packed, r=requant, s=steps: _kernels.conv2d(x, 60, p, 0, r, *s),
            lambda x=torch_x, p=torch_packed: torch.ops.quantized.conv2d(x, p, 0.5, 7),
        )


def element_races(rng: np.random.Generator) -> Iterator[Race]:
    for size in SIZES:
        x = rng.standard_normal(size).astype(np.float32)
        t = torch.from_numpy(x)
        q = _kernels.quantize_per_tensor(x, 0.05, 3, 0, 255, np.uint8)
        tq = torch.quantize_per_tensor(t, 0.05, 3, torch.quint8)
        rows = x.reshape(-1, 16)
        scales, zero_points = np.full(16, 0.05), np.full(16, 3)
        ts, tz, tr = torch.from_numpy(scales), torch.from_numpy(zero_points), t.reshape(-1, 16)
        channel = (scales, zero_points, 1, -128, 127)
        shape, work = f"{size:,}", float(size)
        yield Race(
            "quantize",
            shape,
            work,
            lambda x=x: _kernels.quantize_per_tensor(x, 0.05, 3, 0, 255, np.uint8),
            lambda t=t: torch.quantize_per_tensor(t, 0.05, 3, torch.quint8),
        )
        yield Race(
            "dequantize",
            shape,
            work,
            lambda q=q: _kernels.dequantize_per_tensor(q, 0.05, 3),
            lambda q=tq: q.dequantize(),
        )
        yield Race(
            "quantize per channel",
            shape,
            work,
            lambda x=rows, c=channel: _kernels.quantize_per_channel(x, *c, np.int8),
            lambda t=tr, s=ts, z=tz: torch.quantize_per_channel(t, s, z, 1, torch.qint8),
        )
        yield Race(
            "fake quantize",
            shape,
            work,
            lambda x=x: _kernels.fake_quantize_per_tensor(x, 0.05, 3, 0, 255, "torch")[0],
            lambda t=t: torch.fake_quantize_per_tensor_affine(t, 0.05, 3, 0, 255),
        )
        yield Race(
            "min and max",
            shape,
            work,
            lambda x=x: np.array(_kernels.min_max(x)),
            lambda t=t: torch.stack(torch.aminmax(t)),
        )


def median_times(race: Race, repeats: int) -> tuple[float, float]:
    """Seconds of each side, taken in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(repeats + 2):
        for side, run in zip(times, (race.ours, race.torch), strict=True):
            start = time.perf_counter()
            run()
            if turn >= 2:
                side.append(time.perf_counter() - start)
    return float(np.median(times[0])), float(np.median(times[1]))


def differing(race: Race) -> int:
    """How many results differ: torch's 16-bit sums and last-bit choices make it say a few."""
    expected, actual = race.torch(), race.ours()
    expected = expected.int_repr() if expected.is_quantized else expected
    return int((expected.numpy() != actual).sum())


def main() -> None:
    """Run all races and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=25)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    torch.set_num_threads(options.threads)
    _kernels.set_num_threads(options.threads)
    torch.backends.quantized.engine = "fbgemm"
    rng = np.random.default_rng(0)
    races = [*linear_races(rng), *conv_races(rng), *element_races(rng)]
    table = Table(
        title=f"{kernels.in_use()} against torch {torch.__version__} (fbgemm), "
        f"{options.threads} thread(s), {platform.processor() or platform.machine()}"
    )
    for name in ("operation", "shape", "ours µs", "torch µs", "Gop/s", "differ", "ratio"):
        table.add_column(name, justify="left" if name in ("operation", "shape") else "right")
    for race in track(races, "racing"):
        differ = differing(race)
        ours, theirs = median_times(race, options.repeats)
        colour = "green" if theirs >= ours else "red"
        table.add_row(
            race.kind,
            race.shape,
            f"{ours * 1e6:.1f}",
            f"{theirs * 1e6:.1f}",
            f"{race.work / ours / 1e9:.1f}",
            str(differ),
            f"[{colour}]{theirs / ours:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    main()
