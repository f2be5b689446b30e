"""Knowledge of the checker about exercises on packed weights and the machine's limit."""

from __future__ import annotations

import numpy as np

from ..exercise import Case
from .model import Library, Trait
from .parts import change, rows

__all__ = ["PACK_WEIGHT", "ROOFLINE"]


def draw_pack(random: np.random.Generator) -> tuple[Case, ...]:
    """Depths that are a multiple of four and that are not; no two bytes alike in a case."""
    cases = []
    for n, k in ((3, 8), (4, 5), (2, 7), (5, 4), (6, 12), (1, 3)):
        values = random.permutation(np.arange(-128, 128))
        weight = values[values != 0][: n * k].reshape(n, k).astype(np.int8)
        cases.append(Case(f"drawn: {n} outputs, {k} deep", (weight,)))
    return tuple(cases)


_PAD = "np.pad(weight, ((0, 0), (0, -depth % 4)))"
_CUT = "padded.reshape(outputs, -1, 4).transpose(1, 0, 2)"
_ORDER = "The order is (K / 4, N, 4): cut (N, K / 4, 4), then swap the first two axes."
PACK_WEIGHT = Library(
    exercise="pack_weight",
    answer=f"""\
def pack_weight(weight):
    outputs, depth = weight.shape
    padded = {_PAD}
    return {_CUT}
""",
    changes=(
        change(
            "changes the shape only",
            "reshape leaves the bytes where they are: cut (N, K/4, 4), then swap the first axes.",
            (_CUT, "padded.reshape(-1, outputs, 4)"),
        ),
        change(
            "puts the outputs side by side",
            "The four bytes of a quad are of one output, at four depths.",
            (_CUT, "padded.T.reshape(-1, outputs, 4)"),
        ),
        change(
            "takes depths that lie apart",
            "A quad holds depths that follow each other, 4 d to 4 d + 3.",
            (_CUT, "padded.reshape(outputs, 4, -1).transpose(2, 0, 1)"),
        ),
        change("leaves the outputs in front", _ORDER, (_CUT, "padded.reshape(outputs, -1, 4)")),
        change("swaps the wrong axes", _ORDER, (".transpose(1, 0, 2)", ".transpose(1, 2, 0)")),
        change("swaps the wrong axes", _ORDER, (".transpose(1, 0, 2)", ".transpose(2, 0, 1)")),
        change("swaps the wrong axes", _ORDER, (".transpose(1, 0, 2)", ".transpose(2, 1, 0)")),
        change("swaps the wrong axes", _ORDER, (".transpose(1, 0, 2)", ".transpose(0, 2, 1)")),
        change(
            "pads in front",
            "The missing depths are the last ones: the input has its zeros at the end.",
            ("(0, -depth % 4)", "(-depth % 4, 0)"),
        ),
        change(
            "repeats the last depth",
            "Missing depths are zeros, which add nothing whatever the input holds there.",
            ("-depth % 4)))", "-depth % 4)), 'edge')"),
        ),
        change(
            "drops the depths that are left over",
            "Of a depth of 6 the last two count as well: pad up to a multiple of four.",
            (_PAD, "weight[:, : depth // 4 * 4]"),
        ),
        change(
            "pads a whole quad where nothing is missing",
            "A depth that is a multiple of four needs no zeros: -depth % 4.",
            ("-depth % 4", "4 - depth % 4"),
        ),
        change(
            "pads with ones",
            "Missing depths are zeros, which add nothing whatever the input holds there.",
            ("-depth % 4)))", "-depth % 4)), constant_values=1)"),
        ),
        change(
            "pads with -128",
            "Missing depths are zeros, which add nothing whatever the input holds there.",
            ("-depth % 4)))", "-depth % 4)), constant_values=-128)"),
        ),
        *(
            change(
                f"takes {many} depths together",
                "A quad has four depths.",
                ("-depth % 4", f"-depth % {many}"),
                ("-1, 4)", f"-1, {many})"),
            )
            for many in (2, 8)
        ),
        change(
            "spreads the zeros over the quads",
            "Each quad is full; only the last has zeros at its end.",
            (
                _CUT,
                (
                    "np.array([np.pad(part, ((0, 0), (0, 4 - part.shape[1]))) for part in "
                    "np.array_split(weight, max(-(-depth // 4), 1), axis=1)])"
                ),
            ),
        ),
        change(
            "turns the order of the depths round",
            "packed[0] holds the first four depths.",
            (_CUT, f"{_CUT}[::-1]"),
        ),
        change(
            "turns the order of the outputs round",
            "packed[d, n] is of output n.",
            (_CUT, f"{_CUT}[:, ::-1]"),
        ),
        change(
            "repeats the first depths",
            "Missing depths are zeros, which add nothing whatever the input holds there.",
            ("-depth % 4)))", "-depth % 4)), 'wrap')"),
        ),
        change(
            "changes the sign",
            "The bytes keep their values.",
            (_CUT, f"-{_CUT}.astype(np.int64)"),
        ),
        change(
            "reads the weight as uint8",
            "The bytes are signed: -1 stays -1.",
            (_CUT, f"{_CUT}.astype(np.uint8)"),
        ),
        change(
            "adds an empty quad at the end",
            "ceil(K / 4) quads, no more.",
            ("-depth % 4", "-depth % 4 + 4"),
        ),
        change(
            "pads the outputs",
            "The depth is cut into quads: pad axis 1.",
            ("((0, 0), (0, -depth % 4))", "((0, -outputs % 4), (0, 0))"),
            (_CUT, "padded.reshape(-1, 4, depth).transpose(0, 2, 1)"),
        ),
        change(
            "pads up to a multiple of eight",
            "A quad has four depths.",
            ("-depth % 4", "-depth % 8"),
        ),
        change(
            "turns the quads round",
            "packed[d, n] begins with the depth 4 d.",
            (_CUT, f"{_CUT}[:, :, ::-1]"),
        ),
    ),
    draw=draw_pack,
    traits=(
        Trait("the depth is no multiple of four", lambda w: w.shape[1] % 4 != 0),
        Trait("the depth is a multiple of four", lambda w: w.shape[1] % 4 == 0),
        Trait("there is more than one output", lambda w: len(w) > 1),
        Trait("the depth is more than four", lambda w: w.shape[1] > 4),
        Trait(
            "there is more than one output and more than one quad",
            lambda w: len(w) > 1 and w.shape[1] > 4,
        ),
    ),
)


def draw_roofline(random: np.random.Generator) -> tuple[Case, ...]:
    """Layers on both sides of the edge, with sizes of which none can be missed."""
    cases = []
    for number in range(8):
        m, k, n = (int(each) for each in random.integers(3, 900, 3))
        bandwidth = float(random.uniform(1e9, 1e11))
        compute = float(random.choice([0.2, 0.7, 1.5, 5.0]) if number > 1 else (0.5, 2.0)[number])
        peak = 2.0 * m * k * n * bandwidth / (m * k + k * n + m * n) / compute
        words = f"drawn: {'compute' if compute > 1 else 'memory'} decides"
        cases.append(Case(words, (m, k, n, peak, bandwidth)))
    return tuple(cases)


_MOVED = "m * k + k * n + m * n"
_BOTH = "max(operations / peak, moved / bandwidth)"
_TWO = "m k n multiplications and as many additions: 2 m k n operations."
ROOFLINE = Library(
    exercise="roofline",
    answer=f"""\
def roofline(m, k, n, peak, bandwidth):
    operations = 2 * m * k * n
    moved = {_MOVED}
    return {_BOTH}
""",
    changes=(
        change(
            "adds the two times",
            "Memory and processor work at the same time: the slower one decides.",
            (_BOTH, "operations / peak + moved / bandwidth"),
        ),
        change(
            "takes the faster limit",
            "Both have to be done: the least time is the larger of the two.",
            ("max(operations", "min(operations"),
        ),
        change(
            "takes the mean of the two times",
            "Memory and processor work at the same time: the slower one decides.",
            (_BOTH, "(operations / peak + moved / bandwidth) / 2"),
        ),
        change("counts a product and its sum as one", _TWO, ("2 * m * k * n", "m * k * n")),
        *rows(
            "2 * m * k * n",
            ("counts one addition less for each output", _TWO, "m * n * (2 * k - 1)"),
            ("squares the operations", _TWO, "2 * (m * k * n) ** 2"),
            ("counts the multiplications of one row only", _TWO, "2 * k * n"),
            ("adds the sizes", _TWO, "2 * (m * k + k * n)"),
            ("counts operations for each output only", _TWO, "2 * m * n"),
        ),
        *rows(
            _MOVED,
            ("counts bits", "One byte a number: bandwidth counts bytes.", f"8 * ({_MOVED})"),
            ("moves float16", "An int8 layer moves one byte a number.", f"2 * ({_MOVED})"),
            ("moves the input only", "Weight and output are moved, too.", "m * k"),
            ("moves the output only", "Input and weight are moved, too.", "m * n"),
            ("moves the output twice", "The output is written once.", "m * k + k * n + 2 * m * n"),
            ("moves the weight twice", "The weight is read once.", "m * k + 2 * k * n + m * n"),
            (
                "moves the weight for each row",
                "The weight is read once.",
                "m * k + m * k * n + m * n",
            ),
            ("moves the operands of each product", "Each number is moved once.", "2 * m * k * n"),
            (
                "multiplies the sizes",
                "Bytes of input, weight and output are added up.",
                "m * k * k * n * m * n",
            ),
        ),
        change(
            "divides by the sum of both",
            "Operations are divided by the peak, bytes by the bandwidth; the slower one decides.",
            (_BOTH, "(operations + moved) / (peak + bandwidth)"),
        ),
        change(
            "divides the operations by the bandwidth as well",
            "Operations are divided by the peak, bytes by the bandwidth.",
            ("operations / peak", "operations / bandwidth"),
        ),
        change("gives nanoseconds", "Seconds are asked for.", (_BOTH, f"1e9 * {_BOTH}")),
        change("counts four operations", _TWO, ("2 * m * k * n", "4 * m * k * n")),
        change(
            "moves float32",
            "An int8 layer moves one byte a number: a quarter of what float32 moves.",
            (_MOVED, f"4 * ({_MOVED})"),
        ),
        change(
            "moves the sums in 32 bits",
            "The output is int8 as well: one byte a number.",
            (_MOVED, "m * k + k * n + 4 * m * n"),
        ),
        change("moves the weight only", "Input and output are moved, too.", (_MOVED, "k * n")),
        change(
            "forgets the weight",
            "The weight comes from memory as well: for one row it is nearly everything.",
            (_MOVED, "m * k + m * n"),
        ),
        change(
            "forgets the output", "What is computed is written, too.", (_MOVED, "m * k + k * n")
        ),
        change("forgets the input", "What is multiplied is read, too.", (_MOVED, "k * n + m * n")),
        change(
            "knows no memory",
            "Bytes take time as well: for few rows memory decides.",
            (_BOTH, "operations / peak"),
        ),
        change(
            "knows no processor",
            "Operations take time as well: for many rows the processor decides.",
            (_BOTH, "moved / bandwidth"),
        ),
        change(
            "multiplies by the bandwidth",
            "Seconds are bytes divided by bytes a second.",
            ("moved / bandwidth", "moved * bandwidth"),
        ),
        change(
            "multiplies by the peak",
            "Seconds are operations divided by operations a second.",
            ("operations / peak", "operations * peak"),
        ),
        change(
            "swaps peak and bandwidth",
            "Operations are divided by the peak, bytes by the bandwidth.",
            (_BOTH, "max(operations / bandwidth, moved / peak)"),
        ),
        change(
            "gives operations a second",
            "Seconds are asked for: divide the operations by what the machine reaches.",
            (_BOTH, "min(peak, operations / moved * bandwidth)"),
        ),
        change("gives milliseconds", "Seconds are asked for.", (_BOTH, f"1000 * {_BOTH}")),
        change("gives microseconds", "Seconds are asked for.", (_BOTH, f"1e6 * {_BOTH}")),
    ),
    draw=draw_roofline,
    traits=(
        Trait(
            "memory decides",
            lambda m, k, n, peak, band: 2 * m * k * n / peak < (m * k + k * n + m * n) / band,
        ),
        Trait(
            "the processor decides",
            lambda m, k, n, peak, band: 2 * m * k * n / peak > (m * k + k * n + m * n) / band,
        ),
    ),
)
