"""The numbers of a step as C holds them: bias, multipliers and zero points in either style."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ... import arithmetic
from ...arithmetic.fixed_point import real_multiplier
from ...arithmetic.step import silent
from ...numerics.affine import reciprocal32
from ...numerics.elementwise import Grid, dequantize_fused, zero_is_coarse
from ...numerics.fixed_point import fixed_point_multiplier
from ...numerics.softmax_integers import powers_of_distances, softmax_inverse
from ..plan import Plan, Step
from ..problems import Unsupported

__all__ = ["Rules", "fits_32_bits"]

_LOW, _HIGH = -(2**31), 2**31 - 1

Fields = dict[str, Any]


class Rules:
    """Fields of the structures by which a file rounds.

    Parameters
    ----------
    plan
        Its engine counts where multipliers are real numbers.
    integer
        Whether every number is an integer.
    """

    def __init__(self, plan: Plan, integer: bool) -> None:
        self.integer = integer
        self.qnnpack = plan.engine == "qnnpack"

    def labels(self, step: Step) -> tuple[str, ...]:
        """The equations of a step, those by which its results are rounded among them."""
        if self.integer:
            found = _LABELS_OF_INTEGERS
        else:
            found = _LABELS_OF_QNNPACK if self.qnnpack else _LABELS_OF_FBGEMM
        kind = step.kind.removesuffix("_3d")
        own = found.get("weighted" if "packed" in step.data else kind, ())
        replaced = own and step.kind in ("add", "mul", "softmax")
        return own if replaced else step.labels + own

    def scaling(self, step: Step) -> Fields:
        """Return the constants that make integers of the sums of a layer with a packed weight."""
        packed, x, out = step.data["packed"], step.inputs[0].grid, step.out.grid
        assert x is not None
        assert out is not None
        low, high = packed.output_range
        if step.data["relu"]:
            low = max(low, out.zero_point)
        ends = {"zero_point": out.zero_point, "low": int(low), "high": int(high)}
        bias = None if packed.bias_tensor is None else packed.bias_tensor._array
        if self.integer:
            scales = x.scale, packed.weight_scales
            model = arithmetic.get("tflite")
            real: Any = np.atleast_1d(real_multiplier(*scales, out.scale, silent))
            integer, exponent = fixed_point_multiplier(real)
            return {
                "bias": None if bias is None else model.bias(bias, *scales).astype(np.int32),
                "multiplier": integer.astype(np.int32),
                "exponent": exponent.astype(np.int8),
                "step": int(integer.size > 1),
                **ends,
            }
        made = packed.requantization(x.scale, out.scale, out.zero_point, step.data["relu"])
        _require_finite(made.multiplier, made.bias_multiplier)
        found = {"bias": made.bias, "multiplier": made.multiplier}
        found["step"] = int(made.multiplier.size > 1)
        if not self.qnnpack:
            found["inverse"] = made.bias_multiplier if made.bias_mode == "fma" else np.float32(0)
        return found | ends

    def sum_rule(self, step: Step) -> Fields:
        """Return the constants that add two integers."""
        a, b, out, ends = _grids(step)
        if self.integer:
            s_a, s_b, s_y = (np.float64(np.float32(each.scale)) for each in (a, b, out))
            twice = 2 * max(s_a, s_b)
            return {
                "a_zero": a.zero_point,
                "b_zero": b.zero_point,
                **_fixed("a_", s_a / twice),
                **_fixed("b_", s_b / twice),
                **_fixed("", twice / (2**20 * s_y)),
                **ends,
            }
        if self.qnnpack:
            return {**_sum_of_qnnpack(a, b, out), **ends}
        exact = zero_is_coarse(a, b, out)
        every = np.arange(256, dtype=np.uint8)
        fields = {
            "a_real": dequantize_fused(every, a, exact),
            "b_real": dequantize_fused(every, b, exact),
            "inverse": reciprocal32(out.scale),
        }
        _require_finite(*fields.values())
        return {**fields, **ends}

    def product_rule(self, step: Step) -> Fields:
        """Return the constants that multiply two integers."""
        a, b, out, ends = _grids(step)
        zeros = {"a_zero": a.zero_point, "b_zero": b.zero_point}
        product = np.float32(a.scale) * np.float32(b.scale)
        if self.integer:
            return {**zeros, **_fixed("", np.float64(product / np.float32(out.scale))), **ends}
        multiplier = product * reciprocal32(out.scale)
        _require_finite(multiplier)
        return {**zeros, "multiplier": multiplier, **ends}

    def mean_rule(self, step: Step) -> Fields:
        """Return the constants of a mean; in ``own`` steps qnnpack computes it in its own way."""
        grid, own = step.inputs[0].grid, step.data["own"]
        assert grid is not None
        taps = math.prod(step.data.get("kernel", step.data["ins"]))
        if taps * 255 > _HIGH:
            raise Unsupported("the sums of its windows may not fit into 32 bits")
        found: Fields = {"zero_point": grid.zero_point}
        if self.qnnpack and not self.integer:
            found["scale"] = np.float32(grid.scale if own else 0)
        return found

    def softmax_rule(self, step: Step) -> Fields:
        """Return the constants of a softmax."""
        x, out = step.inputs[0].grid, step.out.grid
        assert x is not None
        assert out is not None
        if self.integer:
            return {
                "powers": powers_of_distances(x.scale).astype(np.int32),
                "inverse": softmax_inverse(out.scale),
                "zero_point": out.zero_point,
            }
        return {
            "scale": np.float32(x.scale),
            "x_zero": x.zero_point,
            "inverse": reciprocal32(out.scale),
            "zero_point": out.zero_point,
        }


_TWICE = ("eq-bias-half-away", "eq-fixed-point-multiplier", "eq-multiply-rounded-twice")
_LABELS_OF_INTEGERS = {
    "weighted": _TWICE,
    "add": ("eq-tflite-add",),
    "mul": ("eq-tflite-mul",),
    "average_pool": ("eq-tflite-average",),
    "adaptive_average": ("eq-tflite-average",),
    "softmax": ("eq-softmax-integers",),
}
_LABELS_OF_FBGEMM = {
    "weighted": ("eq-multiplier-fbgemm", "eq-requantize-bias", "eq-requantize"),
    "average_pool": ("eq-quantized-mean",),
    "adaptive_average": ("eq-quantized-mean",),
    "softmax": ("eq-float-softmax",),
}
_LABELS_OF_QNNPACK = _LABELS_OF_FBGEMM | {
    "weighted": ("eq-bias-integer", "eq-multiplier-qnnpack", "eq-requantize"),
    "add": ("eq-add-fixed-point",),
}


def fits_32_bits(weight: np.ndarray, zero_point: int, bias: Any) -> None:
    """Look whether sums of products and a bias fit into 32 bits.

    Parameters
    ----------
    weight
        Integers less their zero points, one row for each output.
    zero_point
        Of the input.
    bias
        Integers, one for each output, or None.

    Raises
    ------
    Unsupported
        Some may not.
    """
    farthest = max(zero_point, 255 - zero_point)
    most = np.abs(weight.astype(np.int64)).sum(axis=1) * farthest
    if bias is not None and np.issubdtype(bias.dtype, np.integer):
        most = most + np.abs(bias.astype(np.int64))
    if most.max(initial=0) > _HIGH:
        raise Unsupported("its sums of products may not fit into 32 bits")


def _grids(step: Step) -> tuple[Grid, Grid, Grid, Fields]:
    a, b, out = step.inputs[0].grid, step.inputs[1].grid, step.out.grid
    assert a is not None
    assert b is not None
    assert out is not None
    low, high = out.lowest if step.data["relu"] else (out.quant_min, out.quant_max)
    return a, b, out, {"zero_point": out.zero_point, "low": low, "high": high}


def _fixed(prefix: str, multiplier: Any) -> Fields:
    integer, exponent = fixed_point_multiplier(np.float64(multiplier))
    return {f"{prefix}multiplier": int(integer), f"{prefix}exponent": int(exponent)}


def _sum_of_qnnpack(a: Grid, b: Grid, out: Grid) -> Fields:
    """Zero points, multipliers and the shift of ``eq-add-fixed-point``."""
    ratios = [np.float32(each.scale) / np.float32(out.scale) for each in (a, b)]
    shift = 22 - int(np.frexp(max(ratios))[1])
    if shift < 0:
        raise Unsupported("the steps of its result are too small for its arguments")
    first, second = (int(np.rint(np.ldexp(np.float64(each), shift))) for each in ratios)
    return {
        "a_zero": a.zero_point,
        "b_zero": b.zero_point,
        "a_multiplier": first,
        "b_multiplier": second,
        "shift": min(shift, 62),
    }


def _require_finite(*numbers: Any) -> None:
    if not all(np.isfinite(each).all() for each in numbers):
        raise Unsupported("its scales are so far apart that a multiplier is infinite")
