"""Knowledge of the checker about the exercise on the sum of two branches."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .grid import ROUNDINGS
from .model import Library, Trait
from .parts import change, rows, tie

__all__ = ["QUANTIZED_ADD"]


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
        *(each for each in ROUNDINGS if "decimal" not in each.name),
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
        *rows(
            _CLIP,
            *(
                (name, "The result is an unsigned byte: 0..255.", instead)
                for name, instead in (
                    ("does not clamp", "q"),
                    ("clamps above only", "np.minimum(q, 255)"),
                    ("clamps below only", "np.maximum(q, 0)"),
                    ("clamps to -128..127", "np.clip(q, -128, 127)"),
                    ("clamps to 0..127", "np.clip(q, 0, 127)"),
                    ("clamps to 0..254", "np.clip(q, 0, 254)"),
                    ("clamps to 0..256", "np.clip(q, 0, 256)"),
                    ("casts to int8 instead of clamping", "wrap(q, -1)"),
                    ("casts to int8 after clamping", "wrap(np.clip(q, 0, 255), -1)"),
                )
            ),
        ),
        change(
            "leaves fractions",
            "The result is an integer: round the steps.",
            ("np.rint(real / scale)", "real / scale"),
            ("return np.clip(q, 0, 255).astype(np.int64)", "return np.clip(q, 0, 255)"),
        ),
        *rows(
            f"    real = {_A}\n    real = real + {_B}\n    q = np.rint(real / scale) + zero_point",
            (
                "clamps each side before it adds",
                "The range is that of the result: add the real numbers, then round and clamp.",
                (
                    f"    q = np.clip(np.rint({_A} / scale) + zero_point, 0, 255)\n"
                    f"    q = q + np.clip(np.rint({_B} / scale) + zero_point, 0, 255) - zero_point"
                ),
            ),
            (
                "adds the zero point of the result on each side",
                "The zero point of the result is added once.",
                f"    q = np.rint({_A} / scale) + np.rint({_B} / scale) + 2 * zero_point",
            ),
            (
                "adds the zero point of the result twice",
                "The zero point of the result is added once.",
                f"    q = np.rint(({_A} + {_B}) / scale) + 2 * zero_point",
            ),
            (
                "truncates each side by itself",
                "Add the real numbers, then round once, to the nearest.",
                f"    q = np.trunc({_A} / scale) + np.trunc({_B} / scale) + zero_point",
            ),
            (
                "subtracts the zero points after scaling",
                "The zero points count in steps: subtract before the scales multiply.",
                (
                    "    real = a.astype(np.int64) * a_scale - a_zero_point\n"
                    "    real = real + b.astype(np.int64) * b_scale - b_zero_point\n"
                    "    q = np.rint(real / scale) + zero_point"
                ),
            ),
            (
                "subtracts the zero points in units of the result",
                "Each zero point belongs to its own side: (a - a_zero_point) * a_scale.",
                (
                    "    real = a.astype(np.int64) * a_scale + b.astype(np.int64) * b_scale\n"
                    "    q = np.rint(real / scale - a_zero_point - b_zero_point) + zero_point"
                ),
            ),
            (
                "brings b to the grid of a and rounds there",
                "Two roundings may be wrong by a whole step: add real numbers, round once.",
                (
                    f"    q = np.rint({_B} / a_scale) + a.astype(np.int64) - a_zero_point\n"
                    "    q = np.rint(q * a_scale / scale) + zero_point"
                ),
            ),
        ),
        *rows(
            " * b_scale",
            ("forgets the scale of b", _OWN, ""),
            ("divides by the scale of b", "Dequantizing multiplies by the scale.", " / b_scale"),
        ),
        *rows(
            " * a_scale",
            ("forgets the scale of a", _OWN, ""),
            ("divides by the scale of a", "Dequantizing multiplies by the scale.", " / a_scale"),
        ),
        change(
            "takes the mean of the scales",
            _OWN,
            (" * a_scale", " * ((a_scale + b_scale) / 2)"),
            (" * b_scale", " * ((a_scale + b_scale) / 2)"),
        ),
        change(
            "takes the larger scale for both sides",
            _OWN,
            (" * a_scale", " * max(a_scale, b_scale)"),
            (" * b_scale", " * max(a_scale, b_scale)"),
        ),
        change(
            "divides by both scales",
            "Dequantizing multiplies by the scale.",
            (" * a_scale", " / a_scale"),
            (" * b_scale", " / b_scale"),
        ),
        change(
            "swaps the zero points of the inputs",
            "Each side has a zero point of its own.",
            (f"{_A}\n", "(a.astype(np.int64) - b_zero_point) * a_scale\n"),
            ("(b.astype(np.int64) - b_zero_point)", "(b.astype(np.int64) - a_zero_point)"),
        ),
        change(
            "takes the zero point of the result for the inputs",
            "Each side has a zero point of its own.",
            (" - a_zero_point", " - zero_point"),
            (" - b_zero_point", " - zero_point"),
        ),
        change("forgets a", "Both sides are added.", (f"    real = {_A}\n", "    real = 0\n")),
        change("multiplies the two", "The two sides are added.", ("real + (b", "real * (b")),
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
