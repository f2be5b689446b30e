"""Knowledge of the checker about exercises on fake and on dynamic quantization."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change, places, tie

__all__ = ["FAKE_QUANTIZE", "LINEAR_DYNAMIC"]


def draw_fake(random: np.random.Generator) -> tuple[Case, ...]:
    """Ties with odd zero points, both ends, and numbers that only rounding brings inside."""
    cases = []
    for number, (low, high) in enumerate(((0, 255), (-128, 127), (0, 15), (-8, 7), (0, 127))):
        exact = number % 2 == 0
        scale = float(random.choice([0.25, 0.5, 2.0] if exact else [0.1, 0.037, 1.3]))
        point = int(random.integers(low, high)) | 1
        grid = np.concatenate([places(random, low, high, 8, exact), [low - 0.25, high + 0.25, low]])
        x = ((grid - point) * scale).astype(np.float32)
        words = f"drawn: {'ties' if exact else 'no ties'}, {low}..{high}, zero point {point}"
        cases.append(Case(words, (x, scale, point, low, high)))
    return tuple(cases)


_STEPS = "steps = np.rint(x / scale + zero_point)"
_CLIP = "np.clip(steps, quant_min, quant_max)"
_MASK = "(steps >= quant_min) & (steps <= quant_max)"
_EVEN = "Ties go to the even neighbour: use np.rint."
_NEAREST = "Round to the nearest integer: use np.rint."
_ONES = "The derivative is 1 inside: the scale divides on the way there and multiplies back."
FAKE_QUANTIZE = Library(
    exercise="fake_quantize",
    answer=f"""\
def fake_quantize(x, scale, zero_point, quant_min, quant_max):
    {_STEPS}
    y = ({_CLIP} - zero_point) * scale
    derivative = ({_MASK}).astype(np.float64)
    return y, derivative
""",
    changes=(
        change("rounds halves up", _EVEN, ("np.rint(x", "half_up(x")),
        change("rounds halves away from zero", _EVEN, ("np.rint(x", "half_away(x")),
        change("truncates", _NEAREST, ("np.rint(x", "np.trunc(x")),
        change("rounds down", _NEAREST, ("np.rint(x", "np.floor(x")),
        change("rounds up", _NEAREST, ("np.rint(x", "np.ceil(x")),
        change(
            "does not round",
            "Quantizing rounds to the grid: without it nothing is lost, and nothing is learned.",
            ("np.rint(x / scale + zero_point)", "x / scale + zero_point"),
        ),
        change(
            "adds the zero point after rounding",
            "The zero point belongs inside the rounding; outside, ties differ where it is odd.",
            ("x / scale + zero_point)", "x / scale) + zero_point"),
        ),
        change(
            "forgets the zero point",
            "Quantizing adds the zero point, dequantizing subtracts it; without it other numbers "
            "are clamped.",
            (" + zero_point", ""),
            (" - zero_point", ""),
        ),
        change(
            "forgets to add the zero point",
            "Quantizing adds the zero point, dequantizing subtracts it.",
            (" + zero_point", ""),
        ),
        change(
            "multiplies by the scale",
            "The scale is the size of a step: dividing by it gives the number of steps.",
            ("x / scale", "x * scale"),
        ),
        change("does not clamp", "y lies within what the integers can hold.", (_CLIP, "steps")),
        change(
            "clamps to 0..255 always",
            "The range is an argument.",
            (_CLIP, "np.clip(steps, 0, 255)"),
        ),
        change(
            "does not take the zero point back",
            "Dequantizing subtracts the zero point before it scales.",
            (f"({_CLIP} - zero_point)", _CLIP),
        ),
        change(
            "adds the zero point a second time",
            "Dequantizing subtracts the zero point before it scales.",
            (f"({_CLIP} - zero_point)", f"({_CLIP} + zero_point)"),
        ),
        change(
            "subtracts the zero point after scaling",
            "Dequantizing subtracts the zero point before it scales.",
            (f"({_CLIP} - zero_point) * scale", f"{_CLIP} * scale - zero_point"),
        ),
        change(
            "gives the integers back",
            "y is dequantized again: (q - zero_point) * scale.",
            (f"({_CLIP} - zero_point) * scale", _CLIP),
        ),
        change(
            "divides by the scale on the way back",
            "Dequantizing multiplies by the scale.",
            (f"({_CLIP} - zero_point) * scale", f"({_CLIP} - zero_point) / scale"),
        ),
        change(
            "forgets the scale on the way back",
            "Dequantizing multiplies by the scale.",
            (f"({_CLIP} - zero_point) * scale", f"({_CLIP} - zero_point)"),
        ),
        change(
            "passes the gradient everywhere",
            "What was clamped does not change with x: the derivative is 0 there.",
            (_MASK, "steps == steps"),
        ),
        change(
            "stops the gradient everywhere",
            "A staircase has slope 0, and nothing would be learned: inside the range take 1.",
            (_MASK, "steps != steps"),
        ),
        change(
            "turns the mask round",
            "The gradient passes inside of the range, and stops outside.",
            (_MASK, f"~({_MASK})"),
        ),
        change(
            "takes the mask before rounding",
            "127.4 rounds to 127 and is not clamped: compare the rounded integer.",
            (_MASK, _MASK.replace("steps", "x / scale + zero_point")),
        ),
        change(
            "leaves out the ends of the range",
            "quant_min and quant_max themselves are inside.",
            (_MASK, "(steps > quant_min) & (steps < quant_max)"),
        ),
        change(
            "leaves out quant_max",
            "quant_max itself is inside.",
            (_MASK, "(steps >= quant_min) & (steps < quant_max)"),
        ),
        change(
            "leaves out quant_min",
            "quant_min itself is inside.",
            (_MASK, "(steps > quant_min) & (steps <= quant_max)"),
        ),
        change(
            "compares x itself with the range",
            "quant_min..quant_max are integers of the grid: compare round(x / scale + zero_point).",
            (_MASK, "(x >= quant_min) & (x <= quant_max)"),
        ),
        change(
            "compares y with the range",
            "quant_min..quant_max are integers of the grid: compare round(x / scale + zero_point).",
            (_MASK, "(y >= quant_min) & (y <= quant_max)"),
        ),
        change(
            "forgets the zero point in the mask",
            "The integer with its zero point is what is clamped.",
            (_MASK, _MASK.replace("steps", "np.rint(x / scale)")),
        ),
        change("checks the lower end only", "Both ends clamp.", (_MASK, "steps >= quant_min")),
        change("checks the upper end only", "Both ends clamp.", (_MASK, "steps <= quant_max")),
        change(
            "divides the gradient by the scale",
            "Dequantizing multiplies by the scale again: the two cancel.",
            (".astype(np.float64)", ".astype(np.float64) / scale"),
        ),
        change(
            "multiplies the gradient by the scale",
            _ONES,
            (".astype(np.float64)", ".astype(np.float64) * scale"),
        ),
        change(
            "returns the two the wrong way round",
            "y comes first, then the derivative.",
            ("return y, derivative", "return derivative, y"),
        ),
    ),
    draw=draw_fake,
    traits=(
        Trait(
            "the number lies half way between two integers (a tie)",
            lambda x, s, z, low, high: tie(x / s + z),
        ),
        Trait(
            "the number lies outside the range",
            lambda x, s, z, low, high: (np.rint(x / s + z) < low) | (np.rint(x / s + z) > high),
        ),
        Trait(
            "the number lies inside the range",
            lambda x, s, z, low, high: (np.rint(x / s + z) >= low) & (np.rint(x / s + z) <= high),
        ),
        Trait(
            "the number lies at an end of the range",
            lambda x, s, z, low, high: (np.rint(x / s + z) == low) | (np.rint(x / s + z) == high),
        ),
        Trait(
            "the number lies below the range", lambda x, s, z, low, high: np.rint(x / s + z) < low
        ),
        Trait(
            "the number lies above the range", lambda x, s, z, low, high: np.rint(x / s + z) > high
        ),
        Trait("the zero point is not 0", lambda x, s, z, low, high: z != 0),
        Trait("the range is not 0..255", lambda x, s, z, low, high: (low, high) != (0, 255)),
        Trait("x is negative", lambda x, s, z, low, high: x < 0),
        Trait("the scale is not 1", lambda x, s, z, low, high: s != 1),
    ),
)


def draw_dynamic(random: np.random.Generator) -> tuple[Case, ...]:
    """Inputs of 255 exact steps, no place near a tie, biases between the units of the sum."""
    cases = []
    for number in range(5):
        m, k, n = ((2, 4, 3), (3, 5, 2), (1, 6, 4), (2, 4, 4), (3, 3, 2))[number]
        scale = float(2.0 ** -random.integers(3, 6))
        point = int((131, 0, 255, 60, 200)[number])
        grid = random.integers(1, 255, (m, k)) + random.choice([0.2, -0.2, 0.3], (m, k))
        grid.flat[0], grid.flat[-1] = 0, 255
        if number == 3:  # the range lies above zero
            point, grid = 0, np.maximum(grid, 40)
            grid.flat[-1] = 255
        x = ((grid - point) * scale).astype(np.float32)
        weight = random.integers(-128, 128, (n, k)).astype(np.int8)
        weight_scales = random.choice([0.5, 0.25, 0.125, 2.0], n, replace=False)
        bias = random.uniform(-20, 20, n)
        words = f"drawn: ({m}, {k}) with zero point {point}, {n} outputs"
        arrays = (x, weight, weight_scales.astype(np.float32), bias.astype(np.float32))
        cases.append(Case(words, arrays))
    return tuple(cases)


_ENDS = "low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)"
_INPUT = "q = np.clip(np.rint(x / scale + zero_point), 0, 255)"
_BACK = "sums * (scale * weight_scales) + bias"
LINEAR_DYNAMIC = Library(
    exercise="linear_dynamic",
    answer=f"""\
def linear_dynamic(x, weight, weight_scales, bias):
    {_ENDS}
    scale = (high - low) / 255
    zero_point = int(np.rint(-low / scale))
    {_INPUT}
    sums = (q - zero_point) @ weight.astype(np.float64).T
    return {_BACK}
""",
    changes=(
        change(
            "does not quantize the input",
            "That is a weight-only layer: the sums must be of integers on both sides.",
            (_INPUT, "q = x.astype(np.float64) / scale + zero_point"),
        ),
        change(
            "the range does not hold zero",
            "0 must be an integer exactly: take min(x.min(), 0) and max(x.max(), 0).",
            (_ENDS, "low, high = float(x.min()), float(x.max())"),
        ),
        change(
            "the range does not hold zero",
            "0 must be an integer exactly: take min(x.min(), 0) and max(x.max(), 0).",
            (_ENDS, "low, high = float(x.min()), float(x.max())"),
            ("int(np.rint(-low / scale))", "int(np.clip(np.rint(-low / scale), 0, 255))"),
        ),
        change(
            "takes one bit off",
            "Seven bits are what fbgemm does with reduce_range; here use all of 0..255.",
            ("(high - low) / 255", "(high - low) / 127"),
        ),
        change(
            "takes one bit off",
            "Seven bits are what fbgemm does with reduce_range; here use all of 0..255.",
            ("(high - low) / 255", "(high - low) / 127"),
            ("0, 255)", "0, 127)"),
        ),
        change(
            "divides by the number of integers",
            "256 integers have 255 steps between them: divide by 255.",
            ("(high - low) / 255", "(high - low) / 256"),
        ),
        *(
            change(
                "takes a symmetric grid for the input",
                "The range of x decides at both ends: the scale is (high - low) / 255, with a zero "
                "point.",
                ("(high - low) / 255", f"float(np.abs(x).max()) / {steps}"),
                ("int(np.rint(-low / scale))", "0"),
                ("0, 255)", f"{low}, 127)"),
            )
            for steps, low in (("127", -128), ("127", -127), ("127.5", -128), ("128", -128))
        ),
        change(
            "forgets the zero point of the input",
            "The sums are of centred integers: subtract the zero point first.",
            ("(q - zero_point)", "q"),
        ),
        change(
            "adds the zero point of the input",
            "The sums are of centred integers: subtract the zero point first.",
            ("(q - zero_point)", "(q + zero_point)"),
        ),
        change(
            "the zero point is 0 always",
            "0 falls on round(-low / scale): unsigned integers need it for negative inputs.",
            ("int(np.rint(-low / scale))", "0"),
        ),
        change(
            "the sign of low",
            "low is negative: the zero point is round(-low / scale).",
            ("-low / scale", "low / scale"),
        ),
        change(
            "truncates",
            "Round to the nearest integer: use np.rint.",
            ("np.rint(x / scale + zero_point)", "np.trunc(x / scale + zero_point)"),
        ),
        change(
            "centres in eight bits",
            "7 - 32 is 231 in uint8: widen before you subtract.",
            ("(q - zero_point)", "wrap(q - zero_point, 0)"),
        ),
        change(
            "takes one scale for all outputs",
            "Each row of the weight has a scale of its own.",
            ("scale * weight_scales", "scale * weight_scales[0]"),
        ),
        change(
            "takes one scale for all outputs",
            "Each row of the weight has a scale of its own.",
            ("scale * weight_scales", "scale * np.max(weight_scales)"),
        ),
        change(
            "forgets the scale of the input",
            "One unit of the sum is worth input scale times weight scale.",
            ("scale * weight_scales", "weight_scales"),
        ),
        change(
            "forgets the scales of the weight",
            "One unit of the sum is worth input scale times weight scale.",
            ("(scale * weight_scales)", "scale"),
        ),
        change(
            "divides by the scales",
            "One unit of the sum is worth input scale times weight scale: multiply.",
            ("sums * (scale", "sums / (scale"),
        ),
        change(
            "scales the bias",
            "The bias is real: add it to the scaled sums.",
            (_BACK, "(sums + bias) * (scale * weight_scales)"),
        ),
        change(
            "rounds the bias to an integer",
            "That is what qnnpack does in static layers. Here the bias stays real.",
            (_BACK, "(sums + np.rint(bias / (scale * weight_scales))) * (scale * weight_scales)"),
        ),
        change(
            "rounds the bias to an integer",
            "That is what qnnpack does in static layers. Here the bias stays real.",
            ("+ bias", "+ np.rint(bias)"),
        ),
        change(
            "truncates the bias to an integer",
            "That is what qnnpack does in static layers. Here the bias stays real.",
            ("+ bias", "+ np.trunc(bias)"),
        ),
        change("forgets the bias", "Add it at the end, as a real number.", (" + bias", "")),
        change(
            "subtracts the bias", "Add it at the end, as a real number.", (" + bias", " - bias")
        ),
        change(
            "quantizes the output",
            "That is a static layer. A dynamic one gives real numbers: nothing is rounded again.",
            (
                f"return {_BACK}",
                (
                    f"y = {_BACK}\n    y = np.clip(np.rint(y / scale) + zero_point, 0, 255)\n"
                    "    return (y - zero_point) * scale"
                ),
            ),
        ),
        change(
            "rounds the output",
            "That is a static layer. A dynamic one gives real numbers: nothing is rounded again.",
            (f"return {_BACK}", f"return np.rint({_BACK})"),
        ),
    ),
    draw=draw_dynamic,
    traits=(
        Trait("x has more than one row", lambda x, w, s, b: len(x) > 1),
        Trait("the range of x does not hold zero", lambda x, w, s, b: x.min() > 0 or x.max() < 0),
        Trait("x has negative numbers", lambda x, w, s, b: x.min() < 0),
        Trait("x has positive numbers", lambda x, w, s, b: x.max() > 0),
        Trait("the bias of the output is not 0", lambda x, w, s, b: np.asarray(b) != 0),
        Trait("the outputs have different scales", lambda x, w, s, b: len(set(s.tolist())) > 1),
        Trait("the output is not the first one", lambda x, w, s, b: np.arange(len(s)) > 0),
    ),
)
