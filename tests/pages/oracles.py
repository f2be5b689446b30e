"""The numbers of each interactive figure as pyqref itself computes them.

Each function takes the settings of the controls by name and returns the lists of the table.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pyqref.numerics.affine import (
    dequantize_per_channel,
    dequantize_per_tensor,
    quantize_per_channel,
    quantize_per_tensor,
    reciprocal32,
)
from pyqref.numerics.convolution import conv_accumulator, windows
from pyqref.numerics.fake_quantize import fake_quantize_per_tensor, straight_through
from pyqref.numerics.qparams import choose_qparams, symmetric_qparams
from pyqref.numerics.requantize import (
    accumulator_scale,
    requantization,
    requantize,
    scaled_accumulator,
)
from pyqref.numerics.rounding import fma32, round_half_away, round_half_even
from pyqref.sphinx.pictures import PATTERNS, digits

Numbers = dict[str, list[float]]
f32 = np.float32
FILTERS = {
    "vertical edges": [-1, 0, 1, -2, 0, 2, -1, 0, 1],
    "horizontal edges": [-1, -2, -1, 0, 0, 0, 1, 2, 1],
    "mean": [0.111] * 9,
    "outline": [-0.5, -0.5, -0.5, -0.5, 4, -0.5, -0.5, -0.5, -0.5],
    "sharper": [0, -0.7, 0, -0.7, 3.8, -0.7, 0, -0.7, 0],
}


def flat(values: Any) -> list[float]:
    """Numbers of an array or a scalar as Python's."""
    return [float(each) for each in np.ravel(np.asarray(values))]


def range_(*, x: float, bits: int, low: float, high: float, outlier: float, scheme: str) -> Numbers:
    symmetric = scheme == "symmetric"
    quant_min = -(2 ** (bits - 1)) if symmetric else 0
    ends = quant_min, quant_min + 2**bits - 1
    scale, zero_point = choose_qparams(low, max(high, outlier), *ends, symmetric=symmetric)
    grid = float(scale), int(zero_point)
    data = [1.5 * t * (0.5 + t * t) for t in ((k - 20) / 20 for k in range(41))]
    numbers = f32([x, *data])
    q = quantize_per_tensor(numbers, *grid, *ends, np.int8 if symmetric else np.uint8)
    back = dequantize_per_tensor(q, *grid)
    errors = [float(b) - float(n) for b, n in zip(back, numbers, strict=True)]
    total = 0.0
    for each in errors[1:]:
        total += each * each
    return {
        "range": flat(ends),
        "scale": flat(scale),
        "zero_point": flat(zero_point),
        "ends": flat(dequantize_per_tensor(np.array(ends), *grid)),
        "q": flat(q[0]),
        "stands": flat(back[0]),
        "error": errors[:1],
        "rms": [math.sqrt(total / 41)],
    }


def ties(*, x: float, zeroPoint: int, scale: float) -> Numbers:
    inverse = reciprocal32(scale)
    total = fma32(f32(x), inverse, f32(zeroPoint))
    fake, _ = fake_quantize_per_tensor(f32([x]), scale, zeroPoint, -128, 127, "torch")
    after = np.clip(np.rint(f32(x) * inverse) + zeroPoint, -128, 127)
    assert flat(fake) == flat(f32(float(after - zeroPoint) * float(f32(scale))))
    return {
        "inverse": flat(inverse),
        "product": flat(f32(x) * inverse),
        "sum": flat(total),
        "first": flat(quantize_per_tensor(f32([x]), scale, zeroPoint, -128, 127, np.int8)),
        "after": flat(after),
        "away": flat(np.clip(round_half_away(total), -128, 127)),
    }


def relative(weight: Any, back: Any) -> list[float]:
    """Root mean square error of each row, in parts of its own size; sums in order, in double."""
    result = []
    for row, there in zip(weight.tolist(), back.tolist(), strict=True):
        error = size = 0.0
        for w, b in zip(row, there, strict=True):
            error += (b - w) * (b - w)
            size += w * w
        result.append(math.sqrt(error / size))
    return result


def channels(*, a: float, b: float, c: float, d: float, bits: int) -> Numbers:
    ends = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    weight = (np.array(PATTERNS) * np.array([[a], [b], [c], [d]])).astype(np.float32)
    scale = float(symmetric_qparams(weight.min(), weight.max(), *ends))
    scales = symmetric_qparams(weight.min(axis=1), weight.max(axis=1), *ends)
    zeros = np.zeros(4, np.int64)
    tensor = quantize_per_tensor(weight, scale, 0, *ends, np.int8)
    channel = quantize_per_channel(weight, scales, zeros, 0, *ends, np.int8)
    return {
        "scale": [scale],
        "scales": flat(scales),
        **{f"tensor_{k}": flat(row) for k, row in enumerate(tensor)},
        **{f"channel_{k}": flat(row) for k, row in enumerate(channel)},
        "tensor_errors": relative(weight, dequantize_per_tensor(tensor, scale, 0)),
        "channel_errors": relative(weight, dequantize_per_channel(channel, scales, zeros, 0)),
    }


def requantize_(
    *,
    accumulator: int,
    bias: float,
    inputScale: float,
    weightScale: float,
    outputScale: float,
    outputZeroPoint: int,
    arithmetic: str,
    relu: bool,
) -> Numbers:
    made = requantization(
        "qnnpack" if arithmetic == "qnnpack" else "fbgemm",
        inputScale,
        [weightScale] if arithmetic == "channel" else weightScale,
        outputScale,
        outputZeroPoint,
        bias=[bias],
        relu=relu,
    )
    sums = np.array([[accumulator]])
    value = scaled_accumulator(sums, made)
    unscaled = requantization("fbgemm", 1, 1, 1, 0)
    assert made.bias is not None
    if made.bias_mode == "integer":
        total = scaled_accumulator(sums + made.bias.astype(np.int64), unscaled)
    elif made.bias_mode == "fma":
        total = fma32(made.bias, made.bias_multiplier, sums)
    else:
        total = f32(sums) + made.bias
    rounded = round_half_even(value)
    q = requantize(sums, made)
    return {
        "unit": flat(accumulator_scale(inputScale, weightScale)),
        "multiplier": flat(made.multiplier),
        "sum": flat(total),
        "value": flat(value),
        "rounded": flat(rounded),
        "shifted": flat(rounded.astype(np.float64) + outputZeroPoint),
        "q": flat(q),
        "stands": flat(dequantize_per_tensor(q, outputScale, outputZeroPoint)),
    }


def straight_through_(
    *, start: float, target: float, rate: float, scale: float, zeroPoint: int, bits: int
) -> Numbers:
    found: Numbers = {"xs": [], "ys": [], "masks": [], "gradients": []}
    x = f32([start])
    for _ in range(13):
        y, mask = fake_quantize_per_tensor(x, scale, zeroPoint, 0, 2**bits - 1)
        assert mask is not None
        gradient = straight_through(y - f32(target), mask)
        for name, value in zip(found, (x, y, mask, gradient), strict=True):
            found[name] += flat(value)
        x = x - f32(rate) * gradient
    return found


def window(*, row: int, column: int, digit: int, filter: str, pixels: str) -> Numbers:
    real = f32(digits()[digit]).reshape(8, 8)
    real = real / f32(8) - f32(1) if pixels == "centred" else real / f32(16)
    scale, zero_point = choose_qparams(-1 if pixels == "centred" else 0, 1, 0, 255)
    image = quantize_per_tensor(real, float(scale), int(zero_point), 0, 255, np.uint8)
    weights = f32(FILTERS[filter])
    weight_scale = symmetric_qparams(weights.min(), weights.max(), -128, 127)
    kernel = quantize_per_tensor(weights, float(weight_scale), 0, -128, 127, np.int8)
    centred = (image.astype(np.int64) - int(zero_point))[None, None]
    shape = kernel.astype(np.int64).reshape(1, 1, 3, 3)
    sums = conv_accumulator(centred, shape, (1, 1), (1, 1), (1, 1), 1)
    sums = sums.reshape(8, 8)
    unit = accumulator_scale(float(scale), float(weight_scale))
    out, out_zero = choose_qparams(f32(sums.min()) * unit, f32(sums.max()) * unit, 0, 255)
    made = requantization("fbgemm", float(scale), float(weight_scale), float(out), int(out_zero))
    output = requantize(sums[..., None], made)[..., 0]
    padded = np.pad(image, 1, constant_values=int(zero_point))[None, None]
    seen = windows(padded, (3, 3), (1, 1), (1, 1))[0, 0, row, column].astype(np.int64)
    return {
        "input": flat([scale, zero_point]),
        "weight_scale": flat(weight_scale),
        "out": flat([out, out_zero]),
        "window": flat(seen),
        "kernel": flat(kernel),
        "products": flat((seen - int(zero_point)).ravel() * kernel.astype(np.int64)),
        "accumulator": flat(sums[row, column]),
        "q": flat(output[row, column]),
        "output": flat(output),
    }


ORACLES: dict[str, Callable[..., Numbers]] = {
    "range": range_,
    "ties": ties,
    "channels": channels,
    "requantize": requantize_,
    "straight-through": straight_through_,
    "window": window,
}
