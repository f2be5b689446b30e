"""Random quantized layers for the tests of the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from pyqref.numerics.requantize import Requantization, requantization

#: (engine, weight per channel, bias): every way of treating the bias that there is.
MODES = [
    ("fbgemm", False, False),
    ("fbgemm", False, True),
    ("fbgemm", True, False),
    ("fbgemm", True, True),
    ("qnnpack", False, False),
    ("qnnpack", False, True),
    ("qnnpack", True, True),
]
OUTPUTS = [(np.uint8, 0, 255), (np.int8, -128, 127)]


def integers(rng: np.random.Generator, shape: Any, storage: Any) -> np.ndarray:
    """Integers over the whole range of a type, its ends among them."""
    info = np.iinfo(storage)
    values = rng.integers(info.min, info.max + 1, shape).astype(storage)
    values.reshape(-1)[:1], values.reshape(-1)[-1:] = info.min, info.max
    return values


def finish(
    rng: np.random.Generator,
    mode: tuple[str, bool, bool],
    outputs: int,
    depth: int,
    storage: Any = np.uint8,
    relu: bool = False,
) -> Requantization:
    """Requantization whose results spread over the range and saturate now and then."""
    engine, per_channel, has_bias = mode
    weight_scale = 0.75 / 2**6
    scales = rng.uniform(0.5, 1, outputs) * weight_scale if per_channel else weight_scale
    spread = 0.5 * weight_scale * 74 * 74 * np.sqrt(depth)
    bias = (rng.standard_normal(outputs) * spread).astype(np.float32) if has_bias else None
    low, high = np.iinfo(storage).min, np.iinfo(storage).max
    zero_point = int(rng.integers(low, high + 1))
    return requantization(
        engine,  # type: ignore[arg-type]
        0.5,
        scales,
        spread / 60,
        zero_point,
        bias,
        low,
        high,
        relu,
        storage,
    )
