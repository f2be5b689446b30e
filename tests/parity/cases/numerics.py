"""The equations at their most delicate: on ties, beside them, and far out of range."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.harness import parity_case

SCALES = (1.0, 0.1, 0.007, 1 / 3, 37.3)


def near_ties(seed: int, n: int, scale: float) -> np.ndarray:
    """Midpoints between two integers, and their neighbours in float32."""
    rng = np.random.default_rng(seed)
    x = ((rng.integers(-300, 300, n) + 0.5) * np.float32(scale)).astype(np.float32)
    toward = rng.choice(np.float32([-np.inf, np.inf]), n)
    return np.where(rng.random(n) < 0.5, x, np.nextafter(x, toward)).astype(np.float32)


@parity_case()
def quantize_near_ties(torch: Any) -> dict[str, Any]:
    """Fused for 8 bits, separate for 32; zero points even and odd."""
    results = {}
    for name in ("quint8", "qint8", "qint32"):
        rows = []
        for index, scale in enumerate(SCALES):
            for zero_point in (0, 5, 100):
                x = torch.from_numpy(near_ties(index, 160, scale))
                q = torch.quantize_per_tensor(x, scale, zero_point, getattr(torch, name))
                rows.append((q.int_repr().numpy(), q.dequantize().numpy()))
        integers, reals = zip(*rows, strict=True)
        results[name] = {"integers": np.concatenate(integers), "reals": np.stack(reals)[:, :8]}
    return results


@parity_case()
def quantize_per_channel_near_ties(torch: Any) -> dict[str, Any]:
    """Product and sum rounded separately, along each axis."""
    rows = np.stack([near_ties(index, 160, scale) for index, scale in enumerate(SCALES)])
    x = rows.reshape(5, 8, 20)
    scales, zero_points = torch.tensor(SCALES), torch.tensor([0, 3, -7, 100, 1])
    results: dict[str, Any] = {}
    for axis in range(3):
        moved = torch.from_numpy(np.ascontiguousarray(np.moveaxis(x, 0, axis)))
        q = torch.quantize_per_channel(moved, scales, zero_points, axis, torch.qint8)
        results[f"axis{axis}"] = {"integers": q.int_repr()}
    results["reals"] = q.dequantize().numpy()[:2]
    return results


@parity_case()
def quantize_special_numbers(torch: Any) -> dict[str, Any]:
    """Infinities and huge numbers saturate; nan has an integer of its own."""
    numbers = [np.nan, np.inf, -np.inf, 1e20, -1e20, 3e9, -3e9, 1e-45, -0.0]
    x = torch.tensor(numbers, dtype=torch.float32)
    results: dict[str, Any] = {}
    for name in ("quint8", "qint8", "qint32"):
        dtype = getattr(torch, name)
        results[name] = torch.quantize_per_tensor(x, 0.1, 3, dtype).int_repr()
        scales, zero_points = torch.tensor([0.1]), torch.tensor([3])
        channel = torch.quantize_per_channel(x.reshape(1, -1), scales, zero_points, 0, dtype)
        results[f"{name}-channel"] = channel.int_repr()
    results["fake"] = torch.fake_quantize_per_tensor_affine(x, 0.1, 3, 0, 255)
    return results


@parity_case()
def parameters_of_ranges(torch: Any) -> dict[str, Any]:
    """Scale and zero point of 600 ranges of all sizes, also one-sided and narrow."""
    rng = np.random.default_rng(3)
    ends = rng.standard_normal((100, 2)) * np.exp(rng.uniform(-12, 8, (100, 2)))
    ends[::7, 0] = 0
    ends = np.sort(ends.astype(np.float32), axis=1)
    observer = torch.quantization.PerChannelMinMaxObserver
    results = {}
    for dtype in ("quint8", "qint8"):
        for scheme in ("per_channel_affine", "per_channel_symmetric"):
            for reduce_range in (False, True):
                if reduce_range and dtype == "quint8" and scheme.endswith("symmetric"):
                    continue
                watch = observer(
                    dtype=getattr(torch, dtype),
                    qscheme=getattr(torch, scheme),
                    reduce_range=reduce_range,
                )
                watch(torch.from_numpy(ends))
                scale, zero_point = watch.calculate_qparams()
                parts = {"scale": scale, "zero_point": zero_point.numpy().astype(np.int32)}
                results[f"{dtype}-{scheme}-{reduce_range}"] = parts
    return results


def accumulators_on_ties(
    torch: Any, per_channel: bool, bias: bool, seed: int = 4
) -> tuple[Any, Any, Any]:
    """An input, a weight and a bias whose requantized sums fall on many halves."""
    rng = np.random.default_rng(seed)
    x = torch.from_numpy(rng.integers(-30, 98, (24, 12)).astype(np.float32) / 2)
    q_x = torch.quantize_per_tensor(x, 0.5, 30, torch.quint8)
    w = torch.from_numpy(rng.integers(-40, 41, (16, 12)).astype(np.float32) / 4)
    if per_channel:
        scales = torch.full((16,), 0.25, dtype=torch.float64)
        zeros = torch.zeros(16, dtype=torch.int64)
        q_w = torch.quantize_per_channel(w, scales, zeros, 0, torch.qint8)
    else:
        q_w = torch.quantize_per_tensor(w, 0.25, 0, torch.qint8)
    b = torch.from_numpy(rng.integers(-80, 81, 16).astype(np.float32) / 16)
    return q_x, q_w, b if bias else None


@parity_case()
def linear_on_ties(torch: Any) -> dict[str, Any]:
    """Compute a linear layer on ties, in each engine, with fused ReLU and two output scales."""
    results = {}
    for engine in ("fbgemm", "qnnpack"):
        torch.backends.quantized.engine = engine
        for per_channel in (False, True):
            for bias in (False, True):
                x, w, b = accumulators_on_ties(torch, per_channel, bias)
                # Packed anew for each scale: qnnpack in torch keeps the first multiplier.
                outputs = [
                    call(x, torch.ops.quantized.linear_prepack(w, b), scale, 101)
                    for call in (torch.ops.quantized.linear, torch.ops.quantized.linear_relu)
                    for scale in (2.0, 1.7)
                ]
                outputs = [y.int_repr().numpy() for y in outputs]
                results[f"{engine}-{per_channel}-{bias}"] = np.stack(outputs)
    return results


@parity_case()
def linear_dynamic(torch: Any) -> dict[str, Any]:
    """Parameters chosen in double; output fused by fbgemm, rounded twice by qnnpack."""
    results = {}
    for engine in ("fbgemm", "qnnpack"):
        torch.backends.quantized.engine = engine
        for per_channel in (False, True):
            _, w, b = accumulators_on_ties(torch, per_channel, True)
            packed = torch.ops.quantized.linear_prepack(w, b)
            rng = np.random.default_rng(5)
            for size in (1.0, 1e-3, 100.0):
                x = torch.from_numpy((rng.standard_normal((3, 12)) * size).astype(np.float32))
                y = torch.ops.quantized.linear_dynamic(x, packed, engine == "fbgemm")
                results[f"{engine}-{per_channel}-{size}"] = y
    return results
