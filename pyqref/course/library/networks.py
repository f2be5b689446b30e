"""Knowledge of the checker about exercises on sums of branches and spared layers."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import ROUNDINGS, change, tie

__all__ = ["QUANTIZED_ADD", "SPARE_LAYERS"]


def draw_add(random: np.random.Generator) -> tuple[Case, ...]:
    """Exact scales, so that ties are ties in every precision; zero points of every kind."""
    cases = []
    for number in range(6):
        a, b = (random.integers(0, 256, 12).astype(np.uint8) for _ in range(2))
        a[:2], b[:2] = (0, 255), (0, 255)
        s_a, s_b, s = (float(each) for each in random.choice([0.25, 0.5, 1.0, 2.0], 3))
        if s_a == s_b:
            s_b = s_a / 2
        s = max(s, 2 * s_b) if number % 2 else s
        s = 4 * max(s_a, s_b) if not number else s
        z_a, z_b, z = (int(each) for each in random.integers(1, 255, 3))
        words = f"drawn: zero points {z_a}, {z_b}, {z}"
        cases.append(Case(words, (a, s_a, z_a, b, s_b, z_b, s, z | 1 if number % 2 else z)))
    return tuple(cases)


_A = "(a.astype(np.int64) - a_zero_point) * a_scale"
_B = "(b.astype(np.int64) - b_zero_point) * b_scale"
_OWN = "Each side has a scale of its own."
_CLIP = "np.clip(q, 0, 255)"
QUANTIZED_ADD = Library(
    exercise="quantized_add",
    answer=f"""\
def quantized_add(a, a_scale, a_zero_point, b, b_scale, b_zero_point, scale, zero_point):
    real = {_A}
    real = real + {_B}
    q = np.rint(real / scale) + zero_point
    return {_CLIP}.astype(np.int64)
""",
    changes=(
        *ROUNDINGS,
        change(
            "adds the integers",
            "Integers of different scales count different things: dequantize both sides first.",
            (" * a_scale", ""),
            (" * b_scale", ""),
            ("real / scale", "real"),
        ),
        change(
            "adds the integers as they are stored",
            "Integers of different grids count different things: dequantize both sides first.",
            (_A, "a.astype(np.int64)"),
            (_B, "b.astype(np.int64)"),
            ("real / scale", "real"),
            (" + zero_point", ""),
        ),
        change(
            "forgets the scales of the inputs",
            "Integers of different scales count different things: dequantize both sides first.",
            (" * a_scale", ""),
            (" * b_scale", ""),
        ),
        change("takes one scale for both sides", _OWN, (" * b_scale", " * a_scale")),
        change("takes one scale for both sides", _OWN, (" * a_scale", " * b_scale")),
        change(
            "swaps the scales of the inputs",
            _OWN,
            (" * a_scale\n", " * swapped\n"),
            (" * b_scale", " * a_scale"),
            (" * swapped", " * b_scale"),
        ),
        change(
            "forgets the zero points of the inputs",
            "The real number 0 of each side is its zero point: subtract it.",
            (" - a_zero_point", ""),
            (" - b_zero_point", ""),
        ),
        change(
            "forgets the zero point of a",
            "The real number 0 of each side is its zero point: subtract it.",
            (" - a_zero_point", ""),
        ),
        change(
            "forgets the zero point of b",
            "The real number 0 of each side is its zero point: subtract it.",
            (" - b_zero_point", ""),
        ),
        change(
            "adds the zero points of the inputs",
            "Dequantizing subtracts the zero point, quantizing adds it.",
            (" - a_zero_point", " + a_zero_point"),
            (" - b_zero_point", " + b_zero_point"),
        ),
        change(
            "takes the zero point of a for both sides",
            "Each side has a zero point of its own.",
            (" - b_zero_point", " - a_zero_point"),
        ),
        change("subtracts b", "The two sides are added.", ("real = real + (b", "real = real - (b")),
        change("forgets b", "Both sides are added.", (f"    real = real + {_B}\n", "")),
        change(
            "takes the mean of the two",
            "The two sides are added.",
            ("real / scale", "real / 2 / scale"),
        ),
        change(
            "forgets the zero point of the result",
            "The real number 0 is stored as the zero point of the result: add it.",
            (" + zero_point", ""),
        ),
        change(
            "subtracts the zero point of the result",
            "The real number 0 is stored as the zero point of the result: add it.",
            (" + zero_point", " - zero_point"),
        ),
        change(
            "multiplies by the scale of the result",
            "The scale is the size of a step: dividing by it gives the number of steps.",
            ("real / scale", "real * scale"),
        ),
        change(
            "forgets the scale of the result",
            "The scale is the size of a step: dividing by it gives the number of steps.",
            ("real / scale", "real"),
        ),
        change(
            "rounds each side by itself",
            "Two roundings may be wrong by a whole step: add the real numbers, then round once.",
            (
                f"    real = {_A}\n    real = real + {_B}\n    q = np.rint(real / scale)",
                f"    q = np.rint({_A} / scale) + np.rint({_B} / scale)",
            ),
        ),
        change(
            "rounding order: the zero point inside the rounding",
            "Here the zero point is added to the rounded sum: with an odd one, ties differ.",
            ("real / scale) + zero_point", "real / scale + zero_point)"),
        ),
        change(
            "centres in eight bits",
            "0 - 128 is 128 in uint8: widen before you subtract.",
            ("(a.astype(np.int64) - a_zero_point)", "wrap(a.astype(np.int64) - a_zero_point, 0)"),
            ("(b.astype(np.int64) - b_zero_point)", "wrap(b.astype(np.int64) - b_zero_point, 0)"),
        ),
        change(
            "casts before it clamps",
            "A cast to eight bits wraps around: 510 becomes 254. Clamp first.",
            (_CLIP, "np.clip(wrap(q, 0), 0, 255)"),
        ),
        change("does not clamp", "The result is a byte: 0..255.", (_CLIP, "q")),
        change("clamps above only", "The result is a byte: 0..255.", (_CLIP, "np.minimum(q, 255)")),
        change("clamps below only", "The result is a byte: 0..255.", (_CLIP, "np.maximum(q, 0)")),
        change(
            "clamps to -128..127",
            "The result is an unsigned byte: 0..255.",
            (_CLIP, "np.clip(q, -128, 127)"),
        ),
        change(
            "clamps to 0..127",
            "The result is an unsigned byte: 0..255.",
            (_CLIP, "np.clip(q, 0, 127)"),
        ),
        change(
            "clamps at the zero point",
            "That is a fused ReLU; the sum alone may lie below 0.",
            (_CLIP, "np.clip(q, zero_point, 255)"),
        ),
        change(
            "clamps before it adds the zero point",
            "The range is that of the result: add the zero point, then clamp.",
            (" + zero_point", ""),
            (f"return {_CLIP}", f"return ({_CLIP} + zero_point)"),
        ),
    ),
    draw=draw_add,
    traits=(
        Trait(
            "the sum lies half way between two integers (a tie)",
            lambda a, sa, za, b, sb, zb, s, z: tie(
                ((a.astype(int) - za) * sa + (b.astype(int) - zb) * sb) / s
            ),
        ),
        Trait("the two scales differ", lambda a, sa, za, b, sb, zb, s, z: sa != sb),
        Trait(
            "a zero point of an input is not 0",
            lambda a, sa, za, b, sb, zb, s, z: za != 0 or zb != 0,
        ),
        Trait("the zero point of the result is not 0", lambda a, sa, za, b, sb, zb, s, z: z != 0),
        Trait("the scale of the result is not 1", lambda a, sa, za, b, sb, zb, s, z: s != 1),
        Trait(
            "the sum lies outside of 0..255",
            lambda a, sa, za, b, sb, zb, s, z: (
                (np.rint(((a.astype(int) - za) * sa + (b.astype(int) - zb) * sb) / s) + z < 0)
                | (np.rint(((a.astype(int) - za) * sa + (b.astype(int) - zb) * sb) / s) + z > 255)
            ),
        ),
        Trait(
            "the real sum is negative",
            lambda a, sa, za, b, sb, zb, s, z: (
                (a.astype(int) - za) * sa + (b.astype(int) - zb) * sb < 0
            ),
        ),
    ),
)


def _total(ratios: object) -> float:
    return float(-10 * np.log10(np.sum(10 ** (-np.asarray(ratios) / 10))))


def draw_spare(random: np.random.Generator) -> tuple[Case, ...]:
    """Draw cases whose target lies between the results of two numbers of spared layers."""
    cases = []
    for number in range(7):
        count = int(random.integers(4, 9))
        least_ratio = 28 if number % 2 else 6
        ratios = [float(each) for each in random.uniform(least_ratio, 50, count).round(1)]
        spared = int(random.integers(0, count - 1)) if number else 0
        ranked = sorted(ratios)
        least, most = _total(ranked[spared:]), _total(ranked[spared + 1 :])
        before = _total(ranked[spared - 1 :]) if spared else least - 5
        part = float(random.choice([0.05, 0.5, 0.95]))
        wanted = before + part * (least - before)
        cases.append(Case(f"drawn: {count} layers", (ratios, wanted)))
        assert before < wanted < least < most
    return tuple(cases)


SPARE_LAYERS = Library(
    exercise="spare_layers",
    answer="""\
def spare_layers(ratios, wanted):
    order = list(np.argsort(ratios))
    for count in range(len(ratios)):
        noise = sum(10 ** (-ratios[k] / 10) for k in order[count:])
        if -10 * np.log10(noise) >= wanted:
            return order[:count]
    return order
""",
    changes=(
        change(
            "looks at each layer alone",
            "Noises add up: four layers of 41 dB leave only 35 dB together.",
            (
                "sum(10 ** (-ratios[k] / 10) for k in order[count:])",
                "10 ** (-ratios[order[count]] / 10)",
            ),
        ),
        change(
            "averages decibels",
            "A decibel is a logarithm: take 10 ** (-ratio / 10), add up, and go back.",
            (
                "sum(10 ** (-ratios[k] / 10) for k in order[count:])",
                "10 ** (-np.mean([ratios[k] for k in order[count:]]) / 10)",
            ),
        ),
        change(
            "averages the noises",
            "The noises of all the layers add up: take their sum, not their mean.",
            (
                "sum(10 ** (-ratios[k] / 10) for k in order[count:])",
                "np.mean([10 ** (-ratios[k] / 10) for k in order[count:]])",
            ),
        ),
        change(
            "adds amplitudes",
            "Of independent noises the powers add up, 10 ** (-ratio / 10), not the amplitudes.",
            ("/ 10) for k", "/ 20) for k"),
            ("-10 * np.log10", "-20 * np.log10"),
        ),
        change(
            "takes 20 for 10 in the decibels",
            "A ratio of powers in decibels is 10 log10, there and back.",
            ("-10 * np.log10", "-20 * np.log10"),
        ),
        change(
            "takes 20 for 10 in the decibels",
            "A ratio of powers in decibels is 10 log10, there and back.",
            ("/ 10) for k", "/ 20) for k"),
        ),
        change(
            "takes the natural logarithm",
            "A decibel is 10 times the logarithm to base 10: np.log10.",
            ("np.log10", "np.log"),
        ),
        change(
            "spares the best layers",
            "A small ratio is much noise: spare the smallest first.",
            ("np.argsort(ratios)", "np.argsort(ratios)[::-1]"),
        ),
        change(
            "spares the best layers",
            "A small ratio is much noise: spare the smallest first.",
            ("np.argsort(ratios)", "np.argsort([-each for each in ratios], kind='stable')"),
        ),
        change(
            "spares layers in the order of the network",
            "Spare those that make the most noise first, wherever they stand.",
            ("np.argsort(ratios)", "range(len(ratios))"),
        ),
        change(
            "spares a layer where none need be",
            "Add up all the noises first: it may be good enough as it is.",
            ("return order[:count]", "return order[:max(count, 1)]"),
        ),
        change(
            "spares one layer too many",
            "Stop as soon as the others suffice: as few as possible.",
            ("return order[:count]", "return order[:count + 1]"),
        ),
        change(
            "spares one layer too few",
            "The others must leave at least what is wanted.",
            ("return order[:count]", "return order[:max(count - 1, 0)]"),
        ),
        change(
            "gives the layers that stay quantized",
            "The layers to leave in float are asked for.",
            ("return order[:count]", "return order[count:]"),
        ),
        change(
            "gives the ratios instead of the numbers of the layers",
            "The layers are asked for by their numbers.",
            ("return order[:count]", "return [ratios[k] for k in order[:count]]"),
        ),
        change(
            "counts layers from 1",
            "The first layer has the number 0.",
            ("return order[:count]", "return [k + 1 for k in order[:count]]"),
        ),
        change(
            "spares nothing",
            "The others must leave what is wanted. Decibels that are added up always seem enough: "
            "add 10 ** (-ratio / 10).",
            ("return order[:count]", "return []"),
        ),
    ),
    draw=draw_spare,
    traits=(
        Trait("no layer need be spared", lambda r, wanted: _total(r) >= wanted),
        Trait("some layer must be spared", lambda r, wanted: _total(r) < wanted),
        Trait("every layer alone is good enough", lambda r, wanted: min(r) >= wanted),
        Trait("some layer alone is not good enough", lambda r, wanted: min(r) < wanted),
    ),
)
