"""Knowledge of the checker about the exercise on dynamic quantization."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change, rows

__all__ = ["LINEAR_DYNAMIC"]


def draw_dynamic(random: np.random.Generator) -> tuple[Case, ...]:
    """Inputs of 255 exact steps, exact ties or none, biases between the units of the sum."""
    cases = []
    shapes = ((2, 4, 3), (3, 5, 2), (1, 6, 4), (2, 4, 4), (3, 3, 2), (2, 5, 3), (2, 5, 3))
    for number, (m, k, n) in enumerate(shapes):
        scale = float(2.0 ** -random.integers(3, 6))
        point = int((130, 0, 255, 60, 200, 77, 78)[number])
        grid = random.integers(1, 255, (m, k)) + random.choice([0.2, -0.2, 0.3], (m, k))
        if number == 0:  # ties; the zero point is even, so that both orders are right
            grid[:] = [[point - 2.5, point + 2.5, 7.5, 3], [point - 1.5, point + 0.5, 8.5, 1]]
        grid.flat[0], grid.flat[-1] = 0, 255
        if number == 3:  # the range lies above zero
            point, grid = 0, np.maximum(grid, 40)
            grid.flat[-1] = 255
        if number > 4:  # zero falls between two integers
            shift = (0.3, -0.3)[number - 5]
            grid.flat[1:-1] -= shift
            grid += shift
        x = ((grid - point) * scale).astype(np.float32)
        weight = random.integers(-128, 128, (n, k)).astype(np.int8)
        weight_scales = random.choice([0.5, 0.25, 0.125, 2.0], n, replace=False)
        bias = random.uniform(-20, 20, n)
        words = f"drawn: ({m}, {k}) with zero point {point}, {n} outputs"
        arrays = (x, weight, weight_scales.astype(np.float32), bias.astype(np.float32))
        cases.append(Case(words, arrays))
    return tuple(cases)


_ENDS = "low, high = min(float(x.min()), 0.0), max(float(x.max()), 0.0)"
_TIES = "Ties go to the even neighbour (2.5 to 2): use np.rint."
_INTEGER = "0 falls on the integer round(-low / scale)."
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
        *rows(
            "np.rint(x /",
            ("rounds halves up, or away from zero", _TIES, "half_up(x /"),
            ("rounds halves down, or towards zero", _TIES, "half_down(x /"),
            ("rounds down", "Round to the nearest integer: use np.rint.", "np.floor(x /"),
            ("rounds up", "Round to the nearest integer: use np.rint.", "np.ceil(x /"),
        ),
        *rows(
            "np.clip(np.rint(x / scale + zero_point), 0, 255)",
            (
                "does not round the input",
                "Quantizing rounds to the nearest integer.",
                "np.clip(x / scale + zero_point, 0, 255)",
            ),
            (
                "clamps the input to 0..127",
                "The integers of the input are 0..255.",
                "np.clip(np.rint(x / scale + zero_point), 0, 127)",
            ),
            (
                "does not add the zero point to the input",
                "Quantizing adds the zero point, the sums subtract it.",
                "np.clip(np.rint(x / scale), 0, 255)",
            ),
            (
                "does not add the zero point to the input",
                "Quantizing adds the zero point, the sums subtract it.",
                "np.rint(x / scale)",
            ),
            (
                "holds the input in int8",
                "0..255 needs uint8: 200 in int8 is -56.",
                "wrap(np.clip(np.rint(x / scale + zero_point), 0, 255), -1)",
            ),
        ),
        *rows(
            "int(np.rint(-low / scale))",
            ("leaves the zero point real", _INTEGER, "-low / scale"),
            ("truncates the zero point", _INTEGER, "int(-low / scale)"),
            ("rounds the zero point up", _INTEGER, "int(np.ceil(-low / scale))"),
            ("the zero point is 128 always", _INTEGER, "128"),
            ("the zero point from the upper end", _INTEGER, "int(np.rint(high / scale))"),
        ),
        *rows(
            _ENDS,
            (
                "takes a symmetric grid for the input",
                "The range of x decides at both ends: min and max, widened to hold 0.",
                "low, high = -float(np.abs(x).max()), float(np.abs(x).max())",
            ),
            (
                "begins the range at 0",
                "The range has a lower end as well: min(x.min(), 0).",
                "low, high = 0.0, max(float(x.max()), 0.0)",
            ),
            (
                "takes the range of the first row",
                "The range is that of all of x.",
                "low, high = min(float(x[0].min()), 0.0), max(float(x[0].max()), 0.0)",
            ),
            (
                "takes the range of the last row",
                "The range is that of all of x.",
                "low, high = min(float(x[-1].min()), 0.0), max(float(x[-1].max()), 0.0)",
            ),
        ),
        *rows(
            "sums = (q - zero_point) @ weight.astype(np.float64).T",
            (
                "subtracts the zero point from the sums",
                "Each input is centred: the zero point counts once for every weight of the sum.",
                "sums = q @ weight.astype(np.float64).T - zero_point",
            ),
            (
                "adds in 16 bits",
                "The sums need 32 bits: widen before you multiply.",
                "sums = ((q - zero_point) @ weight.astype(np.float64).T + 2**15) % 2**16 - 2**15",
            ),
            (
                "adds in 8 bits",
                "The sums need 32 bits: widen before you multiply.",
                "sums = wrap((q - zero_point) @ weight.astype(np.float64).T, -1)",
            ),
            (
                "clamps the sums to eight bits",
                "The sums are exact: only the input is clamped.",
                "sums = np.clip((q - zero_point) @ weight.astype(np.float64).T, -128, 127)",
            ),
            (
                "scales the weight twice",
                "Each weight scale multiplies once.",
                "sums = (q - zero_point) @ (weight * weight_scales[:, None].astype(float)).T",
            ),
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
        *rows(
            "scale * weight_scales",
            *(
                (
                    "takes one scale for all outputs",
                    "Each row of the weight has a scale of its own.",
                    f"scale * {one}",
                )
                for one in ("np.max(weight_scales)", "np.mean(weight_scales)", "weight_scales[-1]")
            ),
            (
                "adds the scales",
                "One unit of the sum is worth input scale times weight scale.",
                "(scale + weight_scales)",
            ),
        ),
        change(
            "takes one bias for all outputs",
            "Each output has a bias of its own.",
            ("+ bias", "+ bias[0]"),
        ),
        change(
            "scales the bias by the weight scales",
            "The bias is real: add it as it is.",
            ("+ bias", "+ bias * weight_scales"),
        ),
        change(
            "adds a ReLU",
            "The layer is linear: negative results stay.",
            (f"return {_BACK}", f"return np.maximum({_BACK}, 0)"),
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
        Trait(
            "the row has numbers below the zero point",
            lambda x, w, s, b: np.any(x < 0, axis=1)[:, None],
        ),
        Trait("x has more than one row", lambda x, w, s, b: len(x) > 1),
        Trait("the range of x does not hold zero", lambda x, w, s, b: x.min() > 0 or x.max() < 0),
        Trait("x has negative numbers", lambda x, w, s, b: x.min() < 0),
        Trait("x has positive numbers", lambda x, w, s, b: x.max() > 0),
        Trait("the bias of the output is not 0", lambda x, w, s, b: np.asarray(b) != 0),
        Trait("the outputs have different scales", lambda x, w, s, b: len(set(s.tolist())) > 1),
        Trait("the output is not the first one", lambda x, w, s, b: np.arange(len(s)) > 0),
    ),
)
