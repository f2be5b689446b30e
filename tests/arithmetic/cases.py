"""Layers on which real systems are compared with their models: made once, and stored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

RECORDED = Path(__file__).parent / "recorded.npz"


@dataclass
class Case:
    """One layer with its input, all as stored integers, and the bias in real numbers."""

    kind: str
    x: np.ndarray
    weight: np.ndarray
    bias: np.ndarray | None
    scales: tuple[float, Any, float]
    zero_points: tuple[int, int]
    stride: int = 1
    padding: int = 0
    dilation: int = 1
    groups: int = 1

    @property
    def is_small(self) -> bool:
        """True if inputs have 7 bits, so that no pair of products saturates."""
        return int(self.x.max()) < 128

    @property
    def is_plain(self) -> bool:
        """True if a system without padding, dilation and groups has this layer."""
        return (self.padding, self.dilation, self.groups) == (0, 1, 1)


def make_cases() -> list[Case]:
    """Half of them next to ties or on them, a third with inputs of 8 bits."""
    rng = np.random.default_rng(0)
    return [_case(rng, number) for number in range(72)]


def _case(rng: np.random.Generator, number: int) -> Case:
    kind = ("linear", "conv")[number % 2]
    per_channel, has_bias = bool(number // 2 % 2), bool(number // 4 % 2)
    near, large = number % 3 == 0, number >= 48
    outputs = 24 if near else int(rng.integers(2, 12))
    low, high = (128, 256) if large else (0, 128)
    geometry = {}
    if kind == "linear":
        depth = int(rng.integers(1, 4) if near else rng.integers(2, 50))
        x = rng.integers(low, high, (1 if near else 12, depth), dtype=np.uint8)
        shape: tuple[int, ...] = (outputs, depth)
    elif near:
        x = rng.integers(low, high, (1, int(rng.integers(1, 4)), 1, 1), dtype=np.uint8)
        shape = (outputs, x.shape[1], 1, 1)
    else:
        groups = int(rng.choice([1, 1, 2, 4, 8]))
        channels = groups * int(rng.choice([1, 3, 4, 8]))
        outputs = groups * int(rng.choice([1, 3, 4]))
        size = int(rng.integers(1, 4))
        padding = int(rng.integers(0, 2)) if size > 1 else 0
        stride, dilation = int(rng.integers(1, 3)), int(rng.integers(1, 3))
        if number % 4 == 1:
            groups, padding, dilation = 1, 0, 1
            outputs = 5
        geometry = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        x = rng.integers(low, high, (1, channels, 7, 6), dtype=np.uint8)
        shape = (outputs, channels // groups, size, size)
    weight = rng.integers(-127, 128, shape).astype(np.int8)
    if large:
        weight = np.where(np.abs(weight) < 60, np.int8(120), weight)
    zero_points = int(rng.integers(0, 128)), int(rng.integers(0, 256))
    depth = int(np.prod(shape[1:]))
    s_x = float(np.float32(np.exp(rng.uniform(-4, 0))))
    s_w = np.exp(rng.uniform(-6, -4, outputs)).astype(np.float32).astype(np.float64)
    spread = 40 * 74 * np.sqrt(depth) * s_x * float(np.median(s_w))
    s_y = float(np.float32(spread / 30 * (8 if large else 1)))
    bias = rng.normal(0, 20 * s_y, outputs).astype(np.float32) if has_bias else None
    if near:
        zero_points = zero_points[0], zero_points[1] % 100
        s_w, weight = _next_to_ties(rng, x, weight, bias, s_x, s_y, zero_points[0])
    scale_w: Any = s_w if per_channel else float(s_w[0])
    return Case(kind, x, weight, bias, (s_x, scale_w, s_y), zero_points, **geometry)


def _next_to_ties(
    rng: np.random.Generator,
    x: np.ndarray,
    weight: np.ndarray,
    bias: Any,
    s_x: float,
    s_y: float,
    z_x: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Scales of the weights with which each output lies next to a tie."""
    row = x.reshape(-1).astype(np.int64) - z_x
    target = (rng.integers(1, 120, len(weight)) + 0.5) * s_y
    if bias is not None:
        target = target - bias.astype(np.float64)
    flat = weight.reshape(len(weight), -1).astype(np.int64)
    flip = np.sign(flat @ row) * np.sign(target) < 0
    flat[flip] *= -1
    sums = np.where(flat @ row == 0, 1, flat @ row)
    scales = np.clip(np.abs(target / (sums * s_x)), 1e-5, 1e3)
    return scales.astype(np.float32).astype(np.float64), flat.reshape(weight.shape).astype(np.int8)


def stored(cases: list[Case]) -> dict[str, np.ndarray]:
    """Cases as arrays that NumPy stores without pickling."""
    arrays = {}
    for number, each in enumerate(cases):
        arrays[f"{number}.x"], arrays[f"{number}.weight"] = each.x, each.weight
        arrays[f"{number}.scales"] = np.hstack([np.ravel(part) for part in each.scales])
        numbers = (*each.zero_points, each.stride, each.padding, each.dilation, each.groups)
        per_channel = int(np.ndim(each.scales[1]))
        arrays[f"{number}.numbers"] = np.array([*numbers, per_channel, each.kind == "conv"])
        if each.bias is not None:
            arrays[f"{number}.bias"] = each.bias
    return arrays


def loaded(arrays: Any) -> list[Case]:
    """The cases of :func:`stored`."""
    cases = []
    while f"{len(cases)}.x" in arrays:
        prefix = f"{len(cases)}."
        z_x, z_y, *geometry, per_channel, is_conv = map(int, arrays[prefix + "numbers"])
        scales = arrays[prefix + "scales"]
        s_w = scales[1:-1] if per_channel else float(scales[1])
        bias = arrays.get(prefix + "bias")
        cases.append(
            Case(
                "conv" if is_conv else "linear",
                arrays[prefix + "x"],
                arrays[prefix + "weight"],
                bias,
                (float(scales[0]), s_w, float(scales[-1])),
                (z_x, z_y),
                *geometry,
            )
        )
    return cases
